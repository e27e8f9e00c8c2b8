"""``mpinet bench``: measure how fast mpinet is on this machine, in turn with its baselines."""

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
    """Ratio of an earlier run, with its least and largest values over the rounds."""

    ratio: float
    spread: list[float]


class Spread(Fields):
    """Least and largest values over the rounds."""

    figure: list[float]
    baseline: list[float] | None
    ratio: list[float] | None


class BenchRow(Fields):
    """A workload, with the figure that was measured."""

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
    """Read numbers of ranks."""
    numbers = text.split(",")
    if not all(is_whole(number) and int(number) > 0 for number in numbers):
        raise ValueError(f"{quoted(text)} is no list of ranks, such as 1,2")
    return list(dict.fromkeys(map(int, numbers)))


def rounds_of(text: str) -> int:
    """Read a number of rounds."""
    if not is_whole(text) or int(text) == 0:
        raise ValueError(f"{quoted(text)} is no number of rounds: 1 or more")
    return int(text)


@dataclass(frozen=True)
class BenchOptions(Options):
    """Measure how fast mpinet is here, in turn with its baselines (collective).

    Examples
    --------
    ``mpinet bench --list``

    ``mpinet bench --clock cpu``
    """

    command = "bench"
    names: Annotated[Sequence[str], Typed(metavar="NAME")] = ()
    """Benchmarks (w1-n20), families of them (w1) or patterns (``*-n20``); default: all but the
    largest machines (scale), searches of minutes (optimum) and BookSim's workloads (booksim)."""
    _: KW_ONLY
    ranks: Annotated[Several[int] | None, Typed(metavar="R,R,..", read=ranks_of, several="1,2")] = (
        None
    )
    """Numbers of ranks to measure on, each started by the MPI launcher."""
    size: Literal["small", "full"] | None = None
    """Size of the workloads: those of the goals (full, the default), or seconds in all (small)."""
    repeat: Annotated[int | None, Typed(metavar="N", read=rounds_of)] = None
    """Rounds of every contender; default: 5; a few long ones make fewer."""
    clock: Literal["wall", "cpu"] | None = None
    """Clock that times the work of one process; cpu where others use the machine; default: wall."""
    booksim: Annotated[str | None, Typed(metavar="PATH")] = None
    """Binary of BookSim 2, built from its source: the rows that it is a baseline of (load, booksim)
    measure it, too."""
    loggopsim: Annotated[str | None, Typed(metavar="PATH")] = None
    """Binary of LogGOPSim, built from its source, with its txt2bin beside it: the rows that it is a
    baseline of (replay) measure it, too, and compare the times at which hosts are done."""
    against: Annotated[str | None, Typed(metavar="FILE")] = None
    """Result of an earlier ``mpinet bench --json``: report the rows whose ratio is worse than the
    earlier one by more than their spread; then the status is 1."""
    list: bool = False
    """List the benchmarks; measure nothing."""
    seed: Seed = 0


bench = function_with(BenchOptions, BenchResult, Common)
