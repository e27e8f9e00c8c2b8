"""``mpinet pareto``: find Pareto-optimal schedules in steps and rounds, compared with textbooks."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from mpinet.base.units import Unit
from mpinet.commands.fields import Count, Fields, Lasting, Positive, When
from mpinet.commands.functions import function_with
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import Common, File, In, TimeLimited, Typed, Unsaved
from mpinet.commands.options import HostOptions, Place
from mpinet.commands.result import ListResult
from mpinet.commands.timeoptions import Time
from mpinet.programs.kinds import Collective

SIZES = "1kB..1GB"
"""Default sizes for ``--alpha`` and ``--beta``."""


class ParetoRow(Fields):
    """A schedule: its cost, and the lower bound for schedules of its kind."""

    algorithm: Annotated[str, "search, or a textbook algorithm"]
    chunks: Positive
    steps: Count
    rounds: Count
    rounds_per_chunk: float
    dealt: Annotated[list[Positive], When("of the search"), "rounds of each step"]
    least: Annotated[float, "lower bound on rounds per chunk for this number of steps"]
    least_by: Annotated[str, "prices, cut, hops or ends"]
    proved: Annotated[
        bool,
        "true if no schedule within the limits has at most these steps and fewer rounds per chunk",
    ]
    steps_ratio: Annotated[float, "steps divided by the fewest steps"]
    rounds_ratio: Annotated[float, "rounds per chunk divided by the fewest"]
    why: str
    times: Annotated[dict[str, Lasting], When("with ``--alpha``"), "by bytes"]
    best: Annotated[
        list[Positive], When("with ``--alpha``"), "bytes at which the schedule is fastest"
    ]


class ParetoResult(ListResult[ParetoRow]):
    """Result of ``pareto``."""


@dataclass(frozen=True)
class ParetoOptions(HostOptions):
    """Find the Pareto-optimal schedules in steps and rounds, on all ports (collective).

    In a step of r rounds every link carries r chunks. A chunk received in a step is sent on in a
    later step (SCCL's k-synchronous algorithms). The result also has the algorithms of the
    textbooks.


    Returns
    -------
    Result
        A row per schedule. The digest leaves out rows that a solver's time limit left open.

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
    collective: Annotated[Collective, In.COLLECTIVE]
    """Collective to schedule."""
    topology: Network
    _: KW_ONLY
    root: Annotated[Place, In.COLLECTIVE] = 0
    """Root of the collective, if there is one: number or address."""
    chunks: Annotated[int, In.SEARCH] = 8
    """Largest number of chunks of the root, of each processor, or for each pair; an allreduce on N
    processors combines N times as many."""
    steps: Annotated[int | None, In.SEARCH] = None
    """Largest number of steps; default: the diameter plus six, and twice this number for an
    allreduce."""
    slack: Annotated[int | None, In.SEARCH] = None
    """Largest excess of rounds over steps (SCCL's k); default: no limit."""
    limit: Annotated[float, Typed(metavar="SECONDS"), In.SEARCH] = 10.0
    """Seconds of search for each schedule, and for the bound of each number of steps."""
    alpha: Annotated[Time | None, Typed(metavar="TIME"), In.COSTS] = None
    """Time of a step. With ``--beta`` each schedule is also played in time, where parallel links
    act as one faster link."""
    beta: Annotated[Time | None, Typed(metavar="TIME"), In.COSTS] = None
    """Time per byte on a link, or a rate such as 25GB/s."""
    unit: Annotated[Unit, In.COSTS] = "ps"
    """Unit of time."""
    bytes: Annotated[
        str | int, Typed(metavar="BYTES[,BYTES..|..BYTES]", several="1kB,1MB"), In.COSTS
    ] = SIZES
    """Bytes of a processor's longest vector, as in ``tune``, for the times."""
    plot: Annotated[File | None, In.OUTPUT] = None
    """Picture of time over bytes: .pdf, .svg or .png."""
    save: Annotated[str | Path | None, Typed(metavar="FOLDER"), In.OUTPUT] = None
    """Folder for each schedule of the search (``C-S-R.csv``, one step per round). If prices give
    the lower bound on rounds, its certificate is saved as well (``C-S-R.cert``)."""


pareto = function_with(ParetoOptions, ParetoResult, TimeLimited, Unsaved, Common)
