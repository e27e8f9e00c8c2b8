"""``mpinet exec``: run an unchanged mpi4py script on every processor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from mpinet.commands.fields import Count, Fields, Hash, Positive, Unreceived, When
from mpinet.commands.functions import function_with
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import REST, Common, File, In, Typed, Unsaved, Views, Ways
from mpinet.commands.options import MachineOptions, Placed, Ports, RoutingName, joined
from mpinet.commands.result import Result


class Cost(Fields):
    """Calls of one MPI function, with their messages, hops, bytes and steps."""

    call: str
    calls: Count
    messages: Count
    hops: Count
    bytes: Count
    steps: Count


class LineCost(Cost):
    """Calls of one MPI function on one line of a script, with their costs."""

    file: str
    line: Count


class ConflictRow(Fields):
    """Conflicting accesses to a window's memory in one epoch."""

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
    """Receives on a line of a script for which another message could have matched."""

    times: Positive
    most: Positive


class Tried(Fields):
    """Runs of a script in all orders of its messages."""

    tried: Count
    all: bool
    outcome: str
    order: str
    difference: str


class Repeated(Fields):
    """Runs of a script with other hash seeds and orders of messages."""

    runs: Positive
    outcome: Annotated[str, "same, calls, messages, deadlock or failure"]
    seed: Annotated[int, "of the last run"]
    difference: str


class LineLoad(ScriptCall):
    """Messages on a link that one line of a script sends."""

    messages: Count


class BusyDirection(Fields):
    """Load of a link in one direction, and the three script lines with the largest share."""

    node: Count
    port: Count
    to: Annotated[Count, When("on links")]
    messages: Count
    loaded_by: list[LineLoad]


class LongestQueue(Fields):
    """Longest queue of messages at a node, and the first step with a queue of this length."""

    node: Count
    messages: Count
    step: Count


class LineWait(ScriptCall):
    """Steps spent in the calls on a line: sum, longest, and processor of the longest."""

    steps: Count
    longest: Count
    processor: Count


class ProcessorWait(Fields):
    """Steps that a processor spent in MPI calls."""

    processor: Count
    steps: Count


METERED = When("with loads,")


USAGE = """--on TOPO [options] (SCRIPT.py | -m MODULE | -c CODE) [ARGS ..]
(what follows SCRIPT.py, MODULE or CODE belongs to the script)"""


class Failure(Fields):
    """Failed processor."""

    processor: Count
    step: Count
    known: Annotated[int, "step after which other processors know of the failure; -1: never"]


class FindingRow(Fields):
    """Violation of a rule of MPI, on some lines of a script."""

    rule: Annotated[str, "a check, or deadlock"]
    kind: str
    severity: Annotated[str, "error or warning"]
    section: Annotated[str, "of MPI 4.1"]
    message: str
    fix: str
    places: list[ScriptCall]
    processor: Count
    times: Positive


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
    conflicts: Annotated[list[ConflictRow], When("with conflicts,")]
    busiest_links: Annotated[list[BusyDirection], METERED, "the ten busiest"]
    longest_queues: Annotated[list[LongestQueue], METERED, "the ten longest"]
    waits: Annotated[list[LineWait], METERED, "by line"]
    waiting: Annotated[list[ProcessorWait], METERED, "the ten with the longest waits"]
    open_receives: Annotated[list[OpenReceive], When("with arrivals,")]
    orders: Annotated[Tried, When("with all arrivals,")]
    findings: Annotated[list[FindingRow], When("with check,")]
    repeated: Annotated[Repeated, When("with repeat,")]
    failed: Annotated[list[Failure], When("with faults,")]
    clock: Annotated[str, When("with a measured clock,"), "cpu: the run is not reproducible"]


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
    script: Annotated[Path | str, Typed(many=REST, metavar="SCRIPT.py ARGS .."), In.SCRIPT]
    """Script that uses mpi4py, and its arguments."""
    on: Annotated[Network, Typed(words=("--on",))]
    _: KW_ONLY
    arg: Annotated[Sequence[str], Typed(within="script")] = ()
    """Arguments of the script, in ``sys.argv`` after its name."""
    routing: RoutingName = None
    """Routing of messages; default: the network's first routing."""
    packet: Annotated[int | None, Typed(metavar="BYTES"), In.MESSAGES] = None
    """Bytes per packet of a message; default: each message is one packet."""
    sends: Annotated[
        int | str, Typed(read=str, metavar="buffered|synchronous|BYTES"), In.MESSAGES
    ] = "buffered"
    """Completion of sends: at once (buffered), when a receive matches (synchronous), or when a
    receive matches for messages above a size, such as 64kB."""
    collectives: Annotated[
        Literal["tree", "exchange", "binomial", "direct"] | None, In.MESSAGES
    ] = None
    """Communication pattern of collectives: tree (the network's broadcast tree), exchange (with
    ranks that differ in one bit), binomial (tree over ranks), or direct (root to all). Default:
    exchange if these ranks are neighbours and all processors get the result; else tree, or binomial
    on networks with switches."""
    ports: Ports = "one"
    messages: Annotated[File | None, In.OUTPUT] = None
    """GOAL file for the script's messages, which ``mpinet replay`` plays in time: all sends and
    receives of each processor, with the call and the line of each."""
    compute: Annotated[float | None, Typed(metavar="FACTOR"), In.OUTPUT] = None
    """Factor for the CPU time measured between MPI calls, written to the GOAL file in ns; default:
    0, which gives the same file in every run."""
    arrivals: Annotated[str | None, Typed(metavar="random|all|ORDER"), In.MESSAGES] = None
    """Order of messages at receives from any rank: ``random`` draws one of the possible messages by
    the seed; ``all`` runs the script in every order until the outcome differs; an order printed by
    ``all`` is run again."""
    most_orders: Annotated[int | None, Typed(metavar="N"), In.MESSAGES] = None
    """Largest number of runs of ``--arrivals all``; default: 1,000."""
    clock: Annotated[Literal["steps", "cpu"], In.MESSAGES] = "steps"
    """Time of ``MPI.Wtime``: steps of the machine (steps), or steps and the measured CPU time of
    each processor (cpu), which differs from run to run."""
    place: Placed = "identity"
    loads: Annotated[bool, In.OUTPUT] = False
    """Report link loads, message queues, and the waiting time in each call."""
    spare: Annotated[int, Typed(metavar="N"), In.SCRIPT] = 0
    """Number of processors, at the end, that stay free for spawned processes."""
    own: Annotated[
        str | Sequence[str] | None,
        Typed(read=str, metavar="PACKAGE,..", normal=joined, several="PACKAGE,PACKAGE"),
        In.SCRIPT,
    ] = None
    """Installed packages that each processor loads separately, joined by commas; default: only
    packages that import mpi4py."""
    check: Annotated[bool, In.CHECKS] = False
    """Check all MPI calls against the rules of the standard: ``--check`` alone makes all checks,
    ``--check=LIST`` those of a list. The status is 3 if an error is found."""
    checks: Annotated[str | None, Typed(equals="--check", metavar="LIST"), In.CHECKS] = None
    """Checks, joined by commas: types, requests, handles, buffers, unreceived, collectives, sends,
    arguments, rma."""
    no_check: Annotated[str | None, Typed(metavar="LIST"), In.CHECKS] = None
    """Checks to leave out of ``--check``, joined by commas."""
    check_strict: Annotated[bool, In.CHECKS] = False
    """Treat warnings of the checks as errors."""
    repeat: Annotated[int | None, Typed(metavar="N"), In.CHECKS] = None
    """Number of runs of ``--check``, each with another seed of string hashes and order of messages,
    until the calls, the messages or the end differ."""
    sarif: Annotated[File | None, In.CHECKS] = None
    """SARIF file for the findings of the checks, which code hosts and editors show at the lines."""
    faults: Annotated[str | None, Typed(metavar="node:U@STEP,.."), In.NETWORK] = None
    """Processors that fail: processor U ends before step STEP, while its links keep working."""

    @property
    def shown(self) -> dict[str, Any]:
        """Module and code that the command line may give instead of a script."""
        return {"module": self.line.module, "code": self.line.code} if self.is_typed else {}


exec = function_with(ExecOptions, ExecResult, Views, Unsaved, Common, Ways, usage=USAGE)
