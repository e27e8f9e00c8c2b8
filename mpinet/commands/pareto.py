"""``mpinet pareto``: schedules that nothing dominates, in steps and rounds, beside textbooks'."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from mpinet.base.units import Unit
from mpinet.commands.fields import Count, Fields, Lasting, Positive, When
from mpinet.commands.functions import function_with
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import Common, File, Typed, Unsaved
from mpinet.commands.options import HostOptions, Place
from mpinet.commands.result import ListResult
from mpinet.commands.timeoptions import Time
from mpinet.programs.kinds import Collective

SIZES = "1kB..1GB"
"""Sizes that are played unless others are asked for."""


class ParetoRow(Fields):
    """A schedule: what it takes, and what none of its kind goes below."""

    algorithm: Annotated[str, "search, or a textbook's"]
    chunks: Positive
    steps: Count
    rounds: Count
    rounds_per_chunk: float
    dealt: Annotated[list[Positive], When("of the search"), "rounds of each step"]
    least: Annotated[float, "rounds per chunk that nothing of so few steps goes below"]
    least_by: Annotated[str, "prices, cut, hops or ends"]
    proved: Annotated[bool, "whether none asked for has as few steps and fewer rounds per chunk"]
    steps_ratio: Annotated[float, "steps over the fewest"]
    rounds_ratio: Annotated[float, "rounds per chunk over the fewest of any number of steps"]
    why: str
    times: Annotated[dict[str, Lasting], When("with ``--alpha``"), "by bytes"]
    best: Annotated[list[Positive], When("with ``--alpha``"), "bytes at which none is faster"]


class ParetoResult(ListResult[ParetoRow]):
    """Result of ``pareto``."""


@dataclass(frozen=True)
class ParetoOptions(HostOptions):
    """Find the schedules that nothing dominates in steps and rounds, on all ports (collective).

    In a step of r rounds every link carries r chunks; what comes in a step goes on in a later one
    (SCCL's k-synchronous algorithms). The textbooks' algorithms stand beside them.


    Returns
    -------
    Result
        A row per schedule. The digest leaves out rows that a solver's limit has left open.

    Examples
    --------
    ``mpinet pareto allgather ring:8 --chunks 2``

    ``mpinet pareto allreduce hypercube:3 --alpha 700ns --beta 25GB/s``

    >>> import mpinet
    >>> found = mpinet.pareto("gossip", "ring:8", chunks=2)
    >>> [(row.chunks, row.steps, row.rounds, row.proved) for row in found][0]
    (2, 4, 7, True)
    """

    command = "pareto"
    collective: Collective
    """Collective."""
    topology: Network
    _: KW_ONLY
    root: Place = 0
    """Processor where it begins or ends, if it has one."""
    chunks: int = 8
    """Most chunks of the root, of each processor, or for each pair; of an allreduce N times as many
    are combined."""
    steps: int | None = None
    """Most steps; default: six more than the farthest pair is apart, and twice that of an
    allreduce."""
    slack: int | None = None
    """Most rounds more than steps (SCCL's k); default: any number."""
    limit: Annotated[float, Typed(metavar="SECONDS")] = 10.0
    """Seconds of the search for each schedule, and of the bound for each number of steps."""
    alpha: Annotated[Time | None, Typed(metavar="TIME")] = None
    """Time of a step; with ``--beta`` each schedule is played in time, parallel links as one thick
    link."""
    beta: Annotated[Time | None, Typed(metavar="TIME")] = None
    """Time of a byte on a link, or a rate, such as 25GB/s."""
    unit: Unit = "ps"
    """Unit of time."""
    bytes: Annotated[str | int, Typed(metavar="BYTES[,BYTES..|..BYTES]", several="1kB,1MB")] = SIZES
    """Sizes of a processor's longest vector, as of ``tune``, for the times."""
    plot: File | None = None
    """Picture to draw, .pdf, .svg or .png: time over bytes."""
    save: Annotated[str | Path | None, Typed(metavar="FOLDER")] = None
    """Folder for each schedule that was found (``C-S-R.csv``, a step for each round) and, where
    prices bound it, the certificate that its chunks and steps take no fewer rounds
    (``C-S-R.cert``)."""


pareto = function_with(ParetoOptions, ParetoResult, Unsaved, Common)
