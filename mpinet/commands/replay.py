"""``mpinet replay``: play a program of messages in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from mpinet.commands.fields import Count, Fields, Lasting, When
from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import Common, File, In, SavedOften, Typed, Views, late
from mpinet.commands.options import RecordingOptions
from mpinet.commands.result import Result
from mpinet.commands.timeoptions import StuckOperation, TimeOptions

if TYPE_CHECKING:
    from mpinet.machine.timed.program import Program
    from mpinet.machine.timed.scripted import Scripted
else:
    Program = late("mpinet.machine.timed.program", "Program")
    Scripted = late("mpinet.machine.timed.scripted", "Scripted")


class ReplaySetting(Fields):
    """Time of a program in one of several settings."""

    options: dict[str, str]
    time: Lasting
    waits: Lasting
    busiest: Lasting
    stuck: Count
    best: bool


WHY = When("with ``--why``")


class PathPiece(Fields):
    """Piece of the critical path; a send represents its message, and line 0 means unknown."""

    begin: Lasting
    end: Lasting
    kind: Literal["cpu", "nic", "latency", "bandwidth", "waiting"]
    processor: Count
    operation: Count
    line: Count
    node: Annotated[Count, When("on a link")]
    port: Annotated[Count, When("on a link")]
    behind: Annotated[str, When("waiting"), "messages that keep the link busy"]


class PathLine(Fields):
    """Time on the critical path spent by one line, or by messages between two processors."""

    what: str
    time: Lasting
    cpu: Lasting
    nic: Lasting
    latency: Lasting
    bandwidth: Lasting
    waiting: Lasting


class Gain(Fields):
    """Effect of a parameter on the time: predicted from its count in the path, and played again."""

    parameter: str
    count: Annotated[Lasting, "occurrences in the path; for calc: the time of calcs"]
    change: Annotated[Literal["9/10", "10/11"], "factor"]
    expected: float
    played: Annotated[float | None, "null if the numbers would be too large"]


TRIES, MOST_TRIES = 200, 1 << 20
"""Default and largest number of swaps in a search of places."""


VARIED = (
    *("on", "flat", "routing", "mode", "machine", "overhead", "overhead_byte", "gap", "gap_byte"),
    *("eager", "rendezvous", "latency", "time_byte", "duplex", "place", "seed"),
)
"""Options that ``--vary`` accepts: all options that affect times, except the unit."""


Goal = Annotated[str | Path | Program | Scripted, Typed(metavar="PROGRAM")]


class Load(Fields):
    """Messages on a link: their line in a script, or their two processors, and their bytes."""

    what: str
    bytes: Count


class BusyLink(Fields):
    """Load of a link or a bus."""

    node: Annotated[Count, When("on links")]
    port: Annotated[Count, When("on links")]
    bus: Annotated[Count, When("on busses")]
    busy: Lasting
    bytes: Count
    loaded_by: Annotated[
        list[Load],
        When("on links, if each message has one route, for programs of up to 2^24 operations"),
        "the three largest",
    ]


SEARCHED = When("with ``--place search``")


class ReplayResult(Result):
    """Result of ``replay``."""

    time: Lasting
    ends: list[Lasting]
    messages: Count
    hops: Count
    waits: Lasting
    busy: Lasting
    busiest: Lasting
    most_bytes: Count
    unmatched: Count
    stuck: Count
    first_stuck: Annotated[list[Count], "processor and operation, empty if none"]
    stuck_operations: list[StuckOperation]
    busiest_links: list[BusyLink]
    path_shares: Annotated[dict[str, Lasting], WHY, "by cpu, nic, latency, bandwidth and waiting"]
    path_lines: Annotated[list[PathLine], WHY]
    critical_path: Annotated[list[PathPiece], WHY]
    gains: Annotated[list[Gain], WHY]
    computed: Annotated[list[Lasting], WHY, "CPU time of each processor's calcs"]
    sent: Annotated[list[Lasting], WHY]
    received: Annotated[list[Lasting], WHY]
    waited: Annotated[list[Lasting], WHY, "the remaining time up to the processor's end"]
    places: Annotated[list[Count], SEARCHED, "network processor of each program processor"]
    time_before: Annotated[Lasting, SEARCHED, "with the mapping identity"]
    lower_bound: Annotated[Lasting, SEARCHED, "for every mapping, if all operations end"]
    lower_by: Annotated[str, SEARCHED, "ends, cut or growth"]
    settings: Annotated[
        list[ReplaySetting],
        When("with ``--vary``"),
        "all other fields describe the fastest setting, the first",
    ]


@dataclass(frozen=True)
class ReplayOptions(RecordingOptions, TimeOptions):
    """Play a program of messages in time (collective).

    Examples
    --------
    ``mpinet replay program.goal --on torus:4x4 --latency 50 --time-byte 25GB/s``

    ``mpinet replay allreduce:ring,1MB --time-byte 25GB/s --vary on=torus:4x4 --vary on=ring:16``

    >>> import mpinet
    >>> from mpinet.machine.timed.program import Builder
    >>> program = Builder(2)
    >>> sent, got = program.send(0, 1, 100), program.recv(1, 0, 100)
    >>> mpinet.replay(program.done(), on="ring:4", latency=50, time_byte=2, overhead=10).time
    270
    """

    command = "replay"
    program: Goal
    """Sends, receives and computations of each processor: a GOAL file, a program built in Python, a
    textbook algorithm of a collective,
    COLLECTIVE:ALGORITHM,BYTES[,processors=P][,segment=BYTES][,root=R], or a halo exchange of all
    processors, exchange:halo,BYTES,sides=AxB[,rounds=R][,calc=TIME]. Default of P: all processors
    of the network."""
    _: KW_ONLY
    why: Annotated[bool, In.MEASUREMENT] = False
    """Report the critical path: time by line, the effect of 10 % less of each parameter (played
    again), and how long each processor computed, sent, received and waited."""
    tries: Annotated[int | None, Typed(metavar="N"), In.NETWORK] = None
    """Swaps of two processors that ``--place search`` tries; default: 200."""
    vary: Annotated[
        str | Sequence[str] | None, Typed(metavar="OPTION=VALUE", varies=VARIED), In.MEASUREMENT
    ] = None
    """Value of an option, such as ``on=torus:8x8`` or ``place=random``; may be given several times.
    The program is played in all combinations, with one row per combination."""
    plot: Annotated[File | None, In.OUTPUT] = None
    """Picture of the combinations (.pdf, .svg, .png): time over the first varied option, with a
    curve for each combination of the others."""

    @property
    def is_searched(self) -> bool:
        """True if the places of the processors are to be searched."""
        return self.place == "search"

    @property
    def swaps(self) -> int:
        """Number of swaps that a search of places tries."""
        return TRIES if self.tries is None else self.tries

    @property
    def file(self) -> Path | None:
        """File of the program; None for a named program, or for a program built in Python."""
        from mpinet.programs.messages.named import is_name

        if isinstance(self.program, Program | Scripted) or is_name(str(self.program)):
            return None
        return Path(self.program)


replay = function_with(ReplayOptions, ReplayResult, Views, SavedOften, Common)
