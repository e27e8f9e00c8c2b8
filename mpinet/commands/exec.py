"""``mpinet exec``: an mpi4py script, unchanged, on every processor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from mpinet.commands.fields import Count, Fields, Hash, Positive, Unreceived, When
from mpinet.commands.functions import function_with
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import REST, Common, File, Typed, Unsaved, Views, Ways
from mpinet.commands.options import MachineOptions, Placed, Ports, RoutingName, joined
from mpinet.commands.result import Result


class Cost(Fields):
    """Cost of a kind of MPI call."""

    call: str
    calls: Count
    messages: Count
    hops: Count
    bytes: Count
    steps: Count


class LineCost(Cost):
    """Cost of the calls on a line of a script."""

    file: str
    line: Count


class ConflictRow(Fields):
    """Accesses to a window's memory that conflict in one epoch."""

    accesses: str
    processor: Count
    bytes: list[Count]
    times: Positive
    first_file: str
    first_line: Count
    other_file: str
    other_line: Count


class ScriptCall(Fields):
    """Kind of MPI call on a line of a script."""

    call: str
    file: str
    line: Count


class OpenReceive(ScriptCall):
    """Receives on a line that could have got another message."""

    times: Positive
    most: Positive


class Tried(Fields):
    """Runs of a script in all orders of its messages."""

    tried: Count
    all: bool
    outcome: str
    order: str
    difference: str


class LineLoad(ScriptCall):
    """Messages on a link that a line sends."""

    messages: Count


class BusyDirection(Fields):
    """Load of a link in one direction, and the three lines that load it most."""

    node: Count
    port: Count
    to: Annotated[Count, When("on links")]
    messages: Count
    loaded_by: list[LineLoad]


class LongestQueue(Fields):
    """Most messages that waited at a node in one step, and the first such step."""

    node: Count
    messages: Count
    step: Count


class LineWait(ScriptCall):
    """Steps that processors were in the calls on a line, all together and at most, and who."""

    steps: Count
    longest: Count
    processor: Count


class ProcessorWait(Fields):
    """Steps that a processor was in calls."""

    processor: Count
    steps: Count


METERED = When("with loads,")


USAGE = """--on TOPO [options] (SCRIPT.py | -m MODULE | -c CODE) [ARGS ..]
(what follows SCRIPT.py, MODULE or CODE belongs to the script)"""


class Failure(Fields):
    """Processor that has failed."""

    processor: Count
    step: Count
    known: Annotated[int, "the step after which others know; -1 if nobody does"]


class ExecResult(Result):
    """Result of ``exec``."""

    script: str
    processors: Count
    steps: Count
    messages: Count
    hops: Count
    bytes: Count
    unreceived: Count
    unreceived_at: list[Unreceived]
    output_sha256: Hash
    kinds: list[Cost]
    calls: list[LineCost]
    conflicts: Annotated[list[ConflictRow], When("where there are any,")]
    busiest_links: Annotated[list[BusyDirection], METERED, "the ten busiest"]
    longest_queues: Annotated[list[LongestQueue], METERED, "the ten longest"]
    waits: Annotated[list[LineWait], METERED, "by line"]
    waiting: Annotated[list[ProcessorWait], METERED, "the ten that wait longest"]
    open_receives: Annotated[list[OpenReceive], When("with arrivals,")]
    orders: Annotated[Tried, When("with all arrivals,")]
    failed: Annotated[list[Failure], When("with faults,")]


@dataclass(frozen=True)
class ExecOptions(MachineOptions):
    """Run an mpi4py script, unchanged, on every processor (collective).

    Examples
    --------
    ``mpinet exec --on torus:4x4 script.py``

    ``mpinet exec --on ring:16 -c 'from mpi4py import MPI; print(MPI.COMM_WORLD.rank)'``

    >>> import mpinet
    >>> from pathlib import Path
    >>> pi = Path(mpinet.__file__).with_name("examples") / "mpi" / "pi.py"
    >>> mpinet.exec(pi, "ring:8", arguments=["1000"]).processors
    pi is about 3.141593
    8
    """

    command = "exec"
    columns: ClassVar = {"on": "topology", "arg": "arguments"}
    script: Annotated[Path | str, Typed(many=REST, metavar="SCRIPT.py ARGS ..")]
    """mpi4py script, and its arguments."""
    on: Annotated[Network, Typed(words=("--on",))]
    _: KW_ONLY
    arg: Annotated[Sequence[str], Typed(within="script")] = ()
    """Arguments that the script finds in ``sys.argv`` after its name."""
    routing: RoutingName = None
    """Routing of messages to their targets; default: the network's first (see route)."""
    packet: Annotated[int | None, Typed(metavar="BYTES")] = None
    """Bytes of the packets that messages travel in; default: each is one message of the machine."""
    sends: Literal["buffered", "synchronous"] = "buffered"
    """Completion of sends: at once (buffered), or when their receives match (synchronous)."""
    collectives: Literal["tree", "exchange", "binomial", "direct"] | None = None
    """Partners in collectives; default: the machine's own broadcast tree, partners whose ranks
    differ in one bit where those are neighbours and the messages no millions, else a binomial
    tree."""
    ports: Ports = "one"
    messages: File | None = None
    """GOAL file for the script as a program of messages, which `replay` plays in time: what every
    processor sends and receives, and which call on which line does it."""
    compute: Annotated[float | None, Typed(metavar="FACTOR")] = None
    """Part of the CPU time measured between calls that is written there, in ns: 1 for all of it;
    default: 0, no computing, and the same file in every run."""
    arrivals: Annotated[str | None, Typed(metavar="random|all|ORDER")] = None
    """Other orders of messages: ``random`` lets receives from any rank get any of those that could
    come first, drawn by the seed; ``all`` runs the script in every such order until its outcome
    differs; an order that it has printed is run again."""
    most_orders: Annotated[int | None, Typed(metavar="N")] = None
    """Most runs of ``--arrivals all``; default: 1,000."""
    place: Placed = "identity"
    loads: bool = False
    """Meter the loads of links, the queues of messages, and the waits in each call."""
    spare: Annotated[int, Typed(metavar="N")] = 0
    """Processors, the last ones, that are left free for those whom the script spawns."""
    own: Annotated[
        str | Sequence[str] | None,
        Typed(read=str, metavar="PACKAGE,..", normal=joined, several="PACKAGE,PACKAGE"),
    ] = None
    """Installed packages that every processor loads for itself, as processes do, joined by commas;
    default: those alone that reach mpi4py when they are imported."""
    faults: Annotated[str | None, Typed(metavar="node:U@STEP,..")] = None
    """Processors that fail, each with the step before which its script is over; its links go on."""

    @property
    def shown(self) -> dict[str, Any]:
        """Module and code, for which a command line may ask instead of a script."""
        return {"module": self.line.module, "code": self.line.code} if self.is_typed else {}


exec = function_with(ExecOptions, ExecResult, Views, Unsaved, Common, Ways, usage=USAGE)
