"""Options of runs in time: the network or none, what processors and links take, who is where."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from mpinet.base.units import Unit, byte_time, duration
from mpinet.commands.fields import Count, Fields
from mpinet.commands.machines import fill_in
from mpinet.commands.opening import Network, routing_of, topology_of
from mpinet.commands.options import OnHosts, Placed, RoutingName
from mpinet.commands.signature import Typed
from mpinet.errors import UsageError
from mpinet.machine.timed.layout import Mode
from mpinet.networks import open as open_topology
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.machine.timed.costs import Costs
    from mpinet.networks.routing import Routing

Time = int | str

Times = str | int


class StuckOperation(Fields):
    """An operation that never ends, and what it waits for; line 0 is unknown."""

    processor: Count
    operation: Count
    line: Count
    kind: Literal["calc", "send", "recv"]
    waits_for: str
    waits_line: Count


def listed_stuck(operations: Sequence[Row]) -> str:
    """Return a line for each operation that never ends, with both ends."""
    lines = [
        f"  processor {one['processor']}, operation {one['operation']}{_line(one['line'])}: "
        f"{one['kind']} waits for {one['waits_for']}{_line(one['waits_line'])}"
        for one in operations
    ]
    return "\n".join(lines)


def _line(number: int) -> str:
    return f" (line {number})" if number else ""


class InTime(OnHosts, total=False):
    """Time."""

    on: Annotated[
        Network | None,
        Typed("Network whose processors are those of the program.", None, metavar="TOPO"),
    ]
    flat: Annotated[
        Time | None,
        Typed("Latency between any two processors, in place of a network.", None, metavar="TIME"),
    ]
    routing: Annotated[RoutingName, Typed("Routing of messages.", None)]
    mode: Annotated[
        Mode,
        Typed(
            "How messages go over several links: cut-through, store and forward, or cut-through on "
            "links that are always free.",
            "cut",
        ),
    ]
    machine: Annotated[
        str | None,
        Typed(
            "Machine whose costs hold where no other option says them (see "
            "``docs/reference/time.md``; a wrong name lists all).",
            None,
            metavar="NAME",
        ),
    ]
    overhead: Annotated[
        Time | None,
        Typed(
            "CPU time of a message, at its sender and at its receiver; default: 0.",
            None,
            metavar="TIME",
        ),
    ]
    overhead_byte: Annotated[
        Time | None,
        Typed(
            "CPU time of each of a message's bytes but the first, or a rate such as 25GB/s; "
            "default: 0.",
            None,
            metavar="TIME",
        ),
    ]
    gap: Annotated[Time | None, Typed("NIC time of a message; default: 0.", None, metavar="TIME")]
    gap_byte: Annotated[
        Time | None,
        Typed(
            "NIC time of each of a message's bytes but the first, or a rate; default: 0.",
            None,
            metavar="TIME",
        ),
    ]
    eager: Annotated[
        int | None,
        Typed(
            "Largest message whose sender does not wait for the receiver; default: none waits.",
            None,
            metavar="BYTES",
        ),
    ]
    latency: Annotated[
        Times | None,
        Typed(
            "Latency of links, by class (see ``docs/reference/time.md``): the last serves all "
            "further classes; default: what a graph's edges say, or 1.",
            None,
            metavar="TIME[,TIME..]",
        ),
    ]
    time_byte: Annotated[
        Times | None,
        Typed(
            "Time per byte on links, or a rate, by class; default: what a graph's edges say, or 0.",
            None,
            metavar="TIME[,TIME..]",
        ),
    ]
    unit: Annotated[
        Unit | None,
        Typed(
            "Unit of time of plain numbers, of the program and of the result; default: ns, or the "
            "machine's.",
            None,
        ),
    ]
    duplex: Annotated[
        Literal["full", "half"],
        Typed(
            "Whether each direction of a link is by itself (full), or both share it (half).",
            "full",
        ),
    ]
    place: Placed


class Timed(NamedTuple):
    """Network that messages go through, and what they take.

    Attributes
    ----------
    topology : Topology or None
        None: there is none, and every two processors are as far apart.
    routing : Routing or None
        How messages find their ways.
    costs : Costs
        What processors and links take.
    unit : str
        Unit of their times.
    """

    topology: Topology | None
    routing: Routing | None
    costs: Costs
    unit: str

    def hosting(self, processors: int) -> Topology:
        """Return the network whose processors are hosted; without one, a complete graph's."""
        return self.topology or open_topology(f"complete:{max(2, processors)}")

    @property
    def where(self) -> str:
        """Words for it."""
        return self.topology.name if self.topology else f"processors {self.costs.flat} apart"


def timed_of(options: argparse.Namespace) -> Timed:
    """Open the network, and read what processors and links take, in whole units.

    Raises
    ------
    UsageError
        Options contradict each other.
    """
    options = argparse.Namespace(**vars(options))
    of_machine = fill_in(options)
    if (options.on is None) == (options.flat is None):
        raise UsageError("Give either --on TOPO, a network, or --flat TIME, a latency without one.")
    if options.flat is None:
        topology = topology_of(argparse.Namespace(topology=options.on))
        costs = _costs(options, of_machine | dict(topology.link_costs))
        routing = routing_of(topology, options.routing, options.seed)
        return Timed(topology, routing, costs, options.unit)
    for name in ("routing", "duplex", "place"):
        if getattr(options, name) not in (None, "full", "identity"):
            raise UsageError(f"--{name} does not apply: with --flat there are no links.")
    return Timed(None, None, _costs(options, of_machine), options.unit)


def _costs(options: argparse.Namespace, of_links: Mapping[str, Any]) -> Costs:
    from mpinet.machine.timed.costs import Costs

    unit = options.unit
    return Costs(
        duration(options.overhead, unit),
        byte_time(options.overhead_byte, unit),
        duration(options.gap, unit),
        byte_time(options.gap_byte, unit),
        options.eager,
        tuple(duration(text, unit) for text in _by_class("latency", options, of_links, 1)),
        tuple(byte_time(text, unit) for text in _by_class("time_byte", options, of_links, 0)),
        duration(options.flat or 0, unit),
        options.mode,
        options.duplex == "half",
    )


def _by_class(
    name: str, options: argparse.Namespace, of_links: Mapping[str, Any], default: int
) -> Sequence[str]:
    """Return a cost of links by class: as given, as network or machine has it, or the default."""
    given = getattr(options, name)
    said = of_links.get(name, default) if given is None else given
    return said if isinstance(said, tuple) else str(said).split(",")
