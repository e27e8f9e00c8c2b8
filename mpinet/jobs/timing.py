"""Options of runs in time: the network or none, what processors and links take, who is where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mpinet.base.units import Unit, byte_time, duration
from mpinet.commands.timeoptions import (
    Time,
    TimeOptions,
    Times,
)
from mpinet.errors import UsageError
from mpinet.jobs.machines import machine_named
from mpinet.jobs.opening import routing_of, topology_named
from mpinet.networks import open as open_topology
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.machine.timed.costs import Costs
    from mpinet.networks.routing import Routing


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


class Timed(NamedTuple):
    """Network that messages go through, and what they take."""

    topology: Topology | None
    """Network; None if all pairs of processors are equally far apart."""
    routing: Routing | None
    """Routing of the messages; None without a network."""
    costs: Costs
    """Parameters of processors and links."""
    unit: str
    """Unit of their times."""

    def hosting(self, processors: int) -> Topology:
        """Return the network whose processors are hosted; without one, a complete graph's."""
        return self.topology or open_topology(f"complete:{max(2, processors)}")

    @property
    def where(self) -> str:
        """Words for it."""
        return self.topology.name if self.topology else f"processors {self.costs.flat} apart"


def timed_of(options: TimeOptions) -> Timed:
    """Open the network, and read what processors and links take, in whole units.

    Raises
    ------
    UsageError
        Options contradict each other.
    """
    preset = {}
    if options.machine is not None:
        own_latency = options.on is None or options.latency is not None
        preset = _preset(options.machine, own_latency)
    on, flat = options.on, options.flat
    if on is None and flat is None:
        on, flat = preset.get("on"), preset.get("flat")
    if (on is None) == (flat is None):
        raise UsageError("Give either --on TOPO, a network, or --flat TIME, a latency without one.")
    unit = options.unit or preset.get("unit", "ns")
    if on is not None:
        topology = topology_named(on)
        costs = _costs(options, preset, preset | dict(topology.link_costs), unit, 0)
        routing = routing_of(topology, options.routing, options.seed)
        return Timed(topology, routing, costs, unit)
    of_links = {"routing": options.routing, "duplex": options.duplex, "place": options.place}
    for name, value in of_links.items():
        if value not in (None, "full", "identity"):
            raise UsageError(f"--{name} does not apply: with --flat there are no links.")
    return Timed(None, None, _costs(options, preset, preset, unit, flat or 0), unit)


def _preset(name: str, needs_no_latency: bool) -> dict[str, Any]:
    """Return the costs and the unit of the machine of this name.

    Raises
    ------
    UsageError
        There is no such machine, or the machine has no costs of links.
    """
    machine = machine_named(name)
    if not needs_no_latency and "latency" not in machine.costs:
        raise UsageError(
            f"--machine {name} has a latency between any two processors, and none for "
            "links: with --on give --latency, too."
        )
    return {**machine.costs, "unit": machine.unit}


def _costs(
    options: TimeOptions,
    preset: Mapping[str, Any],
    of_links: Mapping[str, Any],
    unit: Unit,
    flat: Time,
) -> Costs:
    """Read the costs: each as given, as the machine or the network has it, or the default."""
    from mpinet.machine.timed.costs import Costs

    def given(value: Time | None, name: str) -> Time:
        said: Time = preset.get(name, 0) if value is None else value
        return said

    latency = _by_class(options.latency, of_links.get("latency", 1))
    time_byte = _by_class(options.time_byte, of_links.get("time_byte", 0))
    return Costs(
        duration(given(options.overhead, "overhead"), unit),
        byte_time(given(options.overhead_byte, "overhead_byte"), unit),
        duration(given(options.gap, "gap"), unit),
        byte_time(given(options.gap_byte, "gap_byte"), unit),
        preset.get("eager") if options.eager is None else options.eager,
        tuple(duration(text, unit) for text in latency),
        tuple(byte_time(text, unit) for text in time_byte),
        duration(flat, unit),
        options.mode,
        options.duplex == "half",
    )


def _by_class(given: Times | None, default: Any) -> Sequence[str]:
    """Return a cost of links by class: as given, or the default."""
    said = default if given is None else given
    return said if isinstance(said, tuple) else str(said).split(",")
