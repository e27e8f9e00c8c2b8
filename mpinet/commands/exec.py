"""``mpinet exec``: an mpi4py script, unchanged, on every processor."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

from mpinet.base.files import require_writable, whole_file
from mpinet.commands.checkpoints import refuse_checkpoint
from mpinet.commands.fields import Count, Fields, Hash, Positive, When
from mpinet.commands.job import Job, Watch
from mpinet.commands.machinejob import MachineJob
from mpinet.commands.opening import Network, routing_of, topology_of
from mpinet.commands.options import Common, File, OnMachine, Ports, RoutingName, Unsaved, Views
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.commands.run import Unreceived
from mpinet.commands.signature import REST, Typed, Unpack, command
from mpinet.errors import UsageError
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row, by_name
from mpinet.report.tables import fields, table

if TYPE_CHECKING:
    from mpinet.machine.transport import Local
    from mpinet.mpi.outcome import Conflicting
    from mpinet.mpi.source import Source
    from mpinet.mpi.world.accounts import Account


SHOWN = 24


"""Most lines of the script whose costs are shown to a person."""


PROCESSOR = 1 << 13


"""Least bytes of a processor with its script."""


MOST_FACTOR = 10**6


COSTS = ("calls", "messages", "hops", "bytes", "steps")


"""Costs of a kind of call, or of the calls on a line."""


class Ways(TypedDict):
    """Options that name what is run instead of a script."""

    module: Annotated[
        Sequence[str] | None,
        Typed(
            "Module to run instead of a script.",
            default=None,
            words=("-m",),
            many=REST,
            metavar="MODULE",
        ),
    ]
    code: Annotated[
        Sequence[str] | None,
        Typed(
            "Code to run instead of a script.",
            default=None,
            words=("-c",),
            many=REST,
            metavar="CODE",
        ),
    ]


USAGE = """--on TOPO [options] (SCRIPT.py | -m MODULE | -c CODE) [ARGS ..]
(what follows SCRIPT.py, MODULE or CODE belongs to the script)"""


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


class OpenReceive(Fields):
    """Receives on a line that could have got another message."""

    call: str
    file: str
    line: Count
    times: Positive
    most: Positive


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
    open_receives: Annotated[list[OpenReceive], When("with arrivals,")]


@command(Views, Unsaved, Common, Ways, usage=USAGE)
def exec(
    script: Annotated[Path | str, Typed(many=REST, metavar="SCRIPT.py ARGS ..")],
    on: Annotated[Network | None, Typed(words=("--on",), dest="topology", required=True)] = None,
    *,
    arg: Annotated[Sequence[str], Typed(dest="arguments", within="script")] = (),
    routing: RoutingName = None,
    packet: Annotated[int | None, Typed(metavar="BYTES")] = None,
    sends: Literal["buffered", "synchronous"] = "buffered",
    collectives: Literal["tree", "exchange", "binomial", "direct"] | None = None,
    ports: Ports = "one",
    messages: File | None = None,
    compute: Annotated[float | None, Typed(metavar="FACTOR")] = None,
    arrivals: Literal["random"] | None = None,
    **options: Unpack[OnMachine],
) -> ExecResult:
    """Run an mpi4py script, unchanged, on every processor (collective).

    Parameters
    ----------
    script : path
        mpi4py script, and its arguments.
    arg : sequence of str
        Arguments that the script finds in ``sys.argv`` after its name.
    routing : str, optional
        Routing of messages to their targets; default: the network's first (see route).
    packet : int, optional
        Bytes of the packets that messages travel in; default: each is one message of the machine.
    sends : {'buffered', 'synchronous'}
        Whether sends return at once or wait for their receives.
    collectives : {'tree', 'exchange', 'binomial', 'direct'}, optional
        Partners in collectives; default: the machine's own broadcast tree, partners whose ranks
        differ in one bit where those are neighbours, else a binomial tree.
    messages : str, optional
        GOAL file for the script as a program of messages, which `replay` plays in time: what every
        processor sends and receives, and which call on which line does it.
    compute : float, optional
        Part of the CPU time measured between calls that is written there, in ns: 1 for all of it;
        default: 0, no computing, and the same file in every run.
    arrivals : {'random'}, optional
        Let receives from any rank get any of the messages that could come first, drawn by the seed.

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
    return perform(exec, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Find the network and the script."""
    topology = topology_of(options)
    refuse_checkpoint(options, "a script")
    if options.routing is not None:
        routing_of(topology, options.routing)
    if options.messages is not None:
        require_writable(Path(options.messages))
    elif options.compute is not None:
        raise UsageError("--compute does not apply: it is for the file of --messages.")
    if not 0 <= (options.compute or 0) <= MOST_FACTOR:
        raise UsageError(f"--compute is a factor 0..10^6, not {options.compute}.")
    if options.arrivals is not None and options.messages is not None:
        raise UsageError("--arrivals does not go with --messages: it changes what comes when.")
    if options.packet is not None and options.packet < 1:
        raise UsageError(f"--packet: a packet has 1 byte or more, not {options.packet}.")
    source, arguments = _script(options)
    return Exec(options, topology, source, arguments)


class Exec(MachineJob):
    """A script on every processor."""

    def __init__(
        self,
        options: argparse.Namespace,
        topology: Topology,
        source: Source,
        arguments: list[str],
    ):
        super().__init__(options, topology)
        self._source = source
        self._arguments = arguments

    def run(self, transport: Local, watch: Watch) -> Row:
        """Run it."""
        from mpinet.mpi.script import run_script
        from mpinet.mpi.world.trees import Pattern
        from mpinet.programs.messages.writing import write_goal

        options = self.options
        machine = self.make_machine(transport, watch)
        found = run_script(
            machine,
            self._source,
            self._arguments,
            options.routing,
            options.packet,
            options.sends == "synchronous",
            (sys.stderr if getattr(options, "json", False) else sys.stdout) or io.StringIO(),
            None if options.collectives is None else Pattern(options.collectives),
            None if options.messages is None else float(options.compute or 0),
            None if options.arrivals is None else options.seed,
        )
        if found.traced is not None:
            with whole_file(Path(options.messages)) as file:
                write_goal(found.traced.program, file, found.traced.calls)
        row = {
            "script": self._source.title,
            "processors": found.processors,
            "steps": found.steps,
            "messages": sum(account.messages for account in found.accounts),
            "hops": found.hops,
            "bytes": sum(account.sent for account in found.accounts),
            "unreceived": found.unreceived,
            "unreceived_at": [
                {"processor": node, "messages": count} for node, count in found.unreceived_at
            ],
            "output_sha256": found.output,
            "kinds": [{"call": account.kind, **_costs(account)} for account in found.kinds],
            "calls": [
                {
                    "call": account.kind,
                    "file": account.file,
                    "line": account.line,
                    **_costs(account),
                }
                for account in found.accounts
            ],
        }
        if found.conflicts:  # other runs have the documents that they had before there were windows
            row["conflicts"] = [_conflict(conflict) for conflict in found.conflicts]
        if self.options.arrivals is not None:
            row["open_receives"] = [
                {
                    "call": account.kind,
                    "file": account.file,
                    "line": account.line,
                    "times": times,
                    "most": most,
                }
                for account, times, most in found.drawn
            ]
        return row

    def needs(self, ranks: int) -> int:
        """Least bytes of the processors' scripts."""
        return PROCESSOR * self.share(ranks).hosted

    def rows(self, result: Row) -> list[Row]:
        """Return one row, with separate columns for each kind of call and each line."""
        kinds = by_name(result["kinds"], "call")
        calls = by_name(result["calls"], "file", "line", "call")
        lists = ("conflicts", "open_receives")
        lengths = {name: len(result[name]) for name in lists if name in result}
        return [result | {"kinds": kinds, "calls": calls} | lengths]

    def show(self, result: Row) -> str:
        """Format the counts, and the costs of each kind of call and each line."""
        names = ("processors", "steps", "messages", "hops", "bytes", "unreceived")
        counts = {name: result[name] for name in names}
        if result["unreceived_at"]:
            first = result["unreceived_at"][0]
            counts["first of these"] = f"{first['messages']} at processor {first['processor']}"
        parts = [f"{result['script']} on {self.topology}\n{fields(counts)}"]
        if result["kinds"]:
            parts += [_kinds(result["kinds"]), _lines(result["calls"])]
        if "conflicts" in result:
            parts.append(_conflicts(result["conflicts"]))
        if result.get("open_receives"):
            parts.append(_open(result["open_receives"]))
        return "\n\n".join(parts)


def _script(options: argparse.Namespace) -> tuple[Source, list[str]]:
    """Return the script and its arguments.

    Raises
    ------
    UsageError
        Nothing is named.
    """
    from mpinet.mpi import source

    named = (
        ("script", lambda name: source.file(Path(name))),
        ("module", source.module),
        ("code", source.line),
    )
    for option, read in named:
        words = getattr(options, option, None)
        if isinstance(words, str | Path):  # from Python, which gives the arguments separately
            return read(str(words)), [*options.arguments]
        if words:
            return read(words[0]), words[1:]
    raise UsageError("exec: there is nothing to run: give SCRIPT.py, -m MODULE or -c CODE.")


def _costs(account: Account) -> dict[str, int]:
    """Return the costs in an account."""
    costs = account.calls, account.messages, account.hops, account.sent, account.steps
    return dict(zip(COSTS, costs, strict=True))


def _kinds(kinds: list[Row]) -> str:
    """Format the costs of each kind of call, the costliest first."""
    return table([(kind["call"], *_cells(kind)) for kind in kinds], ("call", *COSTS))


def _lines(calls: list[Row]) -> str:
    """Format the costs of calls on the costliest lines, in the order of the script."""
    costliest = sorted(calls, key=lambda call: (-call["steps"], -call["hops"], -call["calls"]))
    shown = costliest[:SHOWN]
    rows = [
        (f"{call['file']}:{call['line']}", call["call"], *_cells(call))
        for call in calls
        if call in shown
    ]
    rest = len(calls) - len(rows)
    more = f"\n.. and {rest} more that cost no more than these" if rest else ""
    return f"{table(rows, ('line', 'call', *COSTS))}{more}"


def _conflict(conflict: Conflicting) -> Row:
    """Return a conflict as the document has it."""
    return {
        "accesses": conflict.said,
        "processor": conflict.target,
        "bytes": [conflict.begin, conflict.end],
        "times": conflict.times,
        **_at("first", conflict.first),
        **_at("other", conflict.other),
    }


def _at(which: str, account: Account) -> Row:
    """Return the line of one of two accesses."""
    return {f"{which}_file": account.file, f"{which}_line": account.line}


def _conflicts(conflicts: list[Row]) -> str:
    """Format accesses that conflict, a line each."""
    lines = [
        f"  {row['first_file']}:{row['first_line']} and {row['other_file']}:{row['other_line']}: "
        f"{row['accesses']} of bytes {row['bytes'][0]} to {row['bytes'][1] - 1} "
        f"of processor {row['processor']}" + (f", {row['times']} times" * (row["times"] > 1))
        for row in conflicts[:SHOWN]
    ]
    rest = len(conflicts) - len(lines)
    more = [f"  .. and {rest} more"] if rest else []
    heading = "conflicting accesses in one epoch, whose order MPI leaves open:"
    return "\n".join([heading, *lines, *more])


def _open(receives: list[Row]) -> str:
    """Format receives that could have got another message, a line each."""
    lines = [
        f"  {row['file']}:{row['line']} {row['call']}: one of {row['most']} at most, "
        + ("once" if row["times"] == 1 else f"{row['times']} times")
        for row in receives[:SHOWN]
    ]
    more = [f"  .. and {len(receives) - SHOWN} more"] if len(receives) > SHOWN else []
    return "\n".join(["receives that could have got another message:", *lines, *more])


def _cells(row: Row) -> list[str]:
    """Return the cells of a row of costs."""
    return [str(row[name]) for name in COSTS]
