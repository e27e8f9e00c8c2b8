"""``mpinet replay``: play a program of messages in time."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from mpinet.base.units import byte_time, duration
from mpinet.commands.fields import Count, Fields, When
from mpinet.commands.job import Job, Watch
from mpinet.commands.opening import Network, mapping_of, routing_of, topology_of
from mpinet.commands.options import Common, OnHosts, RoutingName, Unsaved
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.commands.signature import Typed, Unpack, command
from mpinet.errors import UsageError
from mpinet.machine.timed.program import Program
from mpinet.networks import open as open_topology
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row
from mpinet.report.tables import fields

if TYPE_CHECKING:
    from mpinet.machine.timed.costs import Costs
    from mpinet.machine.transport import Local
    from mpinet.networks.routing import Routing

Time = Annotated[int | str, Typed(metavar="TIME")]
Times = Annotated[str | int, Typed(metavar="TIME[,TIME..]")]

Goal = Annotated[
    str | Path | Program,
    Typed("Program of messages: a GOAL file, or a name of a collective.", metavar="PROGRAM"),
]


class StuckOperation(Fields):
    """An operation that never ends, and what it waits for; line 0 is unknown."""

    processor: Count
    operation: Count
    line: Count
    kind: Literal["calc", "send", "recv"]
    waits_for: str
    waits_line: Count


class BusyLink(Fields):
    """Load of a link, or of a bus."""

    node: Annotated[Count, When("on links")]
    port: Annotated[Count, When("on links")]
    bus: Annotated[Count, When("on busses")]
    busy: Count
    bytes: Count


class ReplayResult(Result):
    """Result of ``replay``."""

    time: Count
    ends: list[Count]
    messages: Count
    hops: Count
    waits: Count
    busy: Count
    busiest: Count
    most_bytes: Count
    unmatched: Count
    stuck: Count
    first_stuck: Annotated[list[Count], "processor and operation, empty if none is"]
    stuck_operations: list[StuckOperation]
    busiest_links: list[BusyLink]


@command(Unsaved, Common)
def replay(
    program: Goal,
    *,
    on: Annotated[Network | None, Typed(metavar="TOPO")] = None,
    flat: Annotated[int | str | None, Typed(metavar="TIME")] = None,
    routing: RoutingName = None,
    mode: Literal["cut", "store", "ideal"] = "cut",
    overhead: Time = 0,
    overhead_byte: Time = 0,
    gap: Time = 0,
    gap_byte: Time = 0,
    eager: Annotated[int | None, Typed(metavar="BYTES")] = None,
    latency: Times = 1,
    time_byte: Times = 0,
    unit: Literal["s", "ms", "us", "ns", "ps", "fs"] = "ns",
    duplex: Literal["full", "half"] = "full",
    **options: Unpack[OnHosts],
) -> ReplayResult:
    """Play a program of messages in time (collective).

    Parameters
    ----------
    program : str or Program
        What every processor sends, receives and computes: a GOAL file, one built in Python, or a
        collective of the textbooks by its name,
        COLLECTIVE:ALGORITHM,BYTES[,processors=P][,segment=BYTES][,root=R]; default: all processors
        of the network.
    on : str, optional
        Network whose first processors are those of the program.
    flat : int or str, optional
        Latency between any two processors, in place of a network.
    mode : {'cut', 'store', 'ideal'}
        How messages go over several links: cut-through, store and forward, or cut-through on links
        that are always free.
    overhead : int or str
        CPU time of a message, at its sender and at its receiver.
    overhead_byte : int or str
        CPU time of each of a message's bytes but the first, or a rate such as 25GB/s.
    gap : int or str
        NIC time of a message.
    gap_byte : int or str
        NIC time of each of a message's bytes but the first, or a rate.
    eager : int, optional
        Largest message whose sender does not wait for the receiver; default: no sender waits.
    latency : int or str
        Latency of links, by class (see ``docs/reference/time.md``): the last serves all further
        classes.
    time_byte : int or str
        Time per byte on links, or a rate, by class.
    unit : {'ns', 's', 'ms', 'us', 'ps', 'fs'}
        Unit of time of plain numbers, of the program and of the result.
    duplex : {'full', 'half'}
        Whether each direction of a link is by itself (full), or both share it (half).

    Examples
    --------
    ``mpinet replay program.goal --on torus:4x4 --latency 50 --time-byte 25GB/s``

    ``mpinet replay allreduce:ring,1MB --on torus:8x8 --latency 500 --time-byte 10GB/s --unit ps``

    >>> import mpinet
    >>> from mpinet.machine.timed.program import Builder
    >>> program = Builder(2)
    >>> sent, got = program.send(0, 1, 100), program.recv(1, 0, 100)
    >>> mpinet.replay(program.done(), on="ring:4", latency=50, time_byte=2, overhead=10).time
    270
    """
    return perform(replay, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Read the program; refuse costs and networks that do not fit it."""
    if (options.on is None) == (options.flat is None):
        raise UsageError("Give either --on TOPO, a network, or --flat TIME, a latency without one.")
    if options.flat is None:
        topology = topology_of(argparse.Namespace(topology=options.on))
        program = _program(options.program, topology.hosts)
        routing = routing_of(topology, options.routing, options.seed)
        _require_fitting(program, topology)
    else:
        program = _program(options.program)
        topology, routing = open_topology(f"complete:{max(2, program.processors)}"), None
        for name in ("routing", "duplex"):
            if getattr(options, name) not in (None, "full"):
                raise UsageError(f"--{name} does not apply: with --flat there are no links.")
    costs = _costs(options)
    costs.window(routing is None, costs.eager is not None and program.largest > costs.eager)
    return Replay(options, topology, routing, program, costs)


def _program(program: str | Path | Program, processors: int | None = None) -> Program:
    """Read the program, or make it of its name."""
    from mpinet.programs.messages.goal import read_goal
    from mpinet.programs.messages.named import is_name, program_named

    if isinstance(program, Program):
        return program
    if is_name(str(program)):
        return program_named(str(program), processors)
    return read_goal(Path(program))


def _require_fitting(program: Program, topology: Topology) -> None:
    if program.processors > topology.hosts:
        raise UsageError(
            f"{program.name} is for {program.processors} processors, and {topology.name} has "
            f"{topology.hosts}."
        )


def _costs(options: argparse.Namespace) -> Costs:
    """Read what processors and links take, in whole units."""
    from mpinet.machine.timed.costs import Costs

    unit = options.unit
    return Costs(
        duration(options.overhead, unit),
        byte_time(options.overhead_byte, unit),
        duration(options.gap, unit),
        byte_time(options.gap_byte, unit),
        options.eager,
        tuple(duration(text, unit) for text in str(options.latency).split(",")),
        tuple(byte_time(text, unit) for text in str(options.time_byte).split(",")),
        duration(options.flat or 0, unit),
        options.mode,
        options.duplex == "half",
    )


class Replay(Job):
    """A program of messages on a network, or without one."""

    unit = "windows"

    def __init__(
        self,
        options: argparse.Namespace,
        network: Topology,
        routing: Routing | None,
        program: Program,
        costs: Costs,
    ):
        super().__init__()
        self.topology = None if routing is None else network.name
        self._options, self._network, self._routing = options, network, routing
        self._program, self._costs = program, costs

    @property
    def title(self) -> str:
        """Name of the run in sentences."""
        return f"{self._program.name} in time"

    def run(self, transport: Local, watch: Watch) -> Row:
        """Play."""
        from mpinet.machine import Machine
        from mpinet.machine.timed.results import result_of
        from mpinet.machine.timed.run import TimedRun

        mapping = mapping_of(self._options, self._network, transport)
        machine = Machine(self._network, "all", transport, mapping, watch=watch)
        run = TimedRun(machine, self._program, self._costs, self._routing).run()
        self.note_crossing(machine)
        return result_of(run)

    def shortfall(self, result: Row) -> str:
        """Return the sentence on operations that never end, with both ends of the first ones."""
        if not result["stuck"]:
            return ""
        lines = [
            f"  processor {one['processor']}, operation {one['operation']}{_line(one['line'])}: "
            f"{one['kind']} waits for {one['waits_for']}{_line(one['waits_line'])}"
            for one in result["stuck_operations"]
        ]
        return f"{result['stuck']} operations never end:\n" + "\n".join(lines)

    def show(self, result: Row) -> str:
        """Format the counts, the last processor, and the busiest links."""
        where = self.topology or f"processors {self._costs.flat} {self._options.unit} apart"
        hidden = ("ends", "busiest_links", "first_stuck", "stuck_operations")
        shown = {name: value for name, value in result.items() if name not in hidden}
        text = f"{self._program.name} on {where}, in {self._options.unit}\n{fields(shown)}"
        if result["busiest_links"]:
            from mpinet.report.tables import table

            rows = [list(row.values()) for row in result["busiest_links"]]
            text += f"\n\n{table(rows, list(result['busiest_links'][0]))}"
        return text


def _line(number: int) -> str:
    return f" (line {number})" if number else ""
