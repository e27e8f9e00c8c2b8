"""``mpinet bench``: measure mpinet's speed on this host, alternating with baseline programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Literal, TypeVar

from mpinet.base.numerals import is_whole, quoted
from mpinet.commands.fields import Count, Fields, Positive, When
from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import Common, Options, Seed, Several, Typed
from mpinet.commands.result import ListResult

T = TypeVar("T")


Measured = Annotated[T, When("without ``--list``")]


Compared = Annotated[T, When("with ``--against``")]


class Earlier(Fields):
    """Ratio of an earlier benchmark, with the smallest and largest values over its rounds."""

    ratio: float
    spread: list[float]


class Spread(Fields):
    """Smallest and largest values over the rounds."""

    figure: list[float]
    baseline: list[float] | None
    ratio: list[float] | None


class BenchRow(Fields):
    """A workload and its measured figure."""

    name: str
    workload: str
    unit: str
    ranks: Positive
    against: str
    goal: str | None
    figure: Measured[float | None]
    baseline: Measured[float | None]
    ratio: Measured[float | None]
    attained: Measured[float | None]
    reached: Measured[bool | None]
    spread: Measured[Spread | None]
    rounds: Measured[Count]
    command: Measured[str]
    absent: Measured[str | None]
    error: Measured[str | None]
    earlier: Compared[Earlier | None]
    fell: Compared[bool | None]


class BenchResult(ListResult[BenchRow]):
    """Result of ``bench``."""


def ranks_of(text: str) -> list[int]:
    """Read a list of rank counts, such as ``1,2``."""
    numbers = text.split(",")
    if not all(is_whole(number) and int(number) > 0 for number in numbers):
        raise ValueError(f"{quoted(text)} is not a list of rank counts, such as 1,2")
    return list(dict.fromkeys(map(int, numbers)))


def rounds_of(text: str) -> int:
    """Read the number of rounds."""
    if not is_whole(text) or int(text) == 0:
        raise ValueError(f"{quoted(text)} is not a number of rounds: 1 or more")
    return int(text)


@dataclass(frozen=True)
class BenchOptions(Options):
    """Measure mpinet's speed on this host, alternating with baseline programs (collective).

    Examples
    --------
    ``mpinet bench --list``

    ``mpinet bench --clock cpu``
    """

    command = "bench"
    names: Annotated[Sequence[str], Typed(metavar="NAME")] = ()
    """Benchmarks (w1-n20), families (w1) or patterns (``*-n20``); default: all except the largest
    machines (scale), searches of minutes (optimum) and BookSim's workloads (booksim)."""
    _: KW_ONLY
    ranks: Annotated[Several[int] | None, Typed(metavar="R,R,..", read=ranks_of, several="1,2")] = (
        None
    )
    """Rank counts to measure, such as ``1,2``; the MPI launcher starts each job."""
    size: Literal["small", "full"] | None = None
    """Size of the workloads: full (the sizes of the goals, the default), or small (seconds in
    total)."""
    repeat: Annotated[int | None, Typed(metavar="N", read=rounds_of)] = None
    """Rounds in which all programs are measured in turn; default: 5, fewer if rounds are long."""
    clock: Literal["wall", "cpu"] | None = None
    """Clock that times one process: wall (the default), or cpu if other jobs share the host."""
    booksim: Annotated[str | None, Typed(metavar="PATH")] = None
    """Binary of BookSim 2, built from its source; measured in the rows that have BookSim as
    baseline (load, booksim)."""
    loggopsim: Annotated[str | None, Typed(metavar="PATH")] = None
    """Binary of LogGOPSim, built from its source, with txt2bin in the same folder. The replay rows
    also measure LogGOPSim, and compare the end times of all hosts."""
    against: Annotated[str | None, Typed(metavar="FILE")] = None
    """Result of an earlier ``mpinet bench --json``: report the rows whose ratio is worse than the
    earlier ratio by more than the spread. The exit status is then 1."""
    list: bool = False
    """List the benchmarks without measuring."""
    seed: Seed = 0


bench = function_with(BenchOptions, BenchResult, Common)
