"""Options of timed runs: network, costs of processors and links, places of processors."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from mpinet.base.units import Unit, byte_time, duration, readable
from mpinet.commands.timeoptions import (
    Time,
    TimeOptions,
    Times,
)
from mpinet.errors import UsageError
from mpinet.jobs.machines import machine_named
from mpinet.jobs.opening import routing_of, topology_named
from mpinet.machine.timed.costs import Costs
from mpinet.networks import open as open_topology
from mpinet.networks.graph import GivenGraph
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row


def listed_stuck(operations: Sequence[Row]) -> str:
    """Return a line for each operation that never ends, with both processors."""
    lines = [
        f"  processor {one['processor']}, operation {one['operation']}{_line(one['line'])}: "
        f"{one['kind']} waits for {one['waits_for']}{_line(one['waits_line'])}"
        for one in operations
    ]
    return "\n".join(lines)


def _line(number: int) -> str:
    return f" (line {number})" if number else ""


class Timed(NamedTuple):
    """Network and costs of a timed run."""

    topology: Topology | None
    """Network; None if all pairs of processors have the same latency."""
    routing: Routing | None
    """Routing of the messages; None without a network."""
    costs: Costs
    """Costs of processors and links."""
    unit: str
    """Time unit of the costs."""
    bytes_cost: bool = True
    """True if an option, a machine or a graph's edges set a cost per byte, which may be 0."""

    def hosting(self, processors: int) -> Topology:
        """Return the network of the processors; without a network, a complete graph."""
        # A machine needs processors on ranks. The complete graph's links are not used, because
        # messages have the flat latency.
        return self.topology or open_topology(f"complete:{max(2, processors)}")

    @property
    def where(self) -> str:
        """Network and mode in words."""
        from mpinet.machine.timed.ticks import units_of

        if self.topology:
            return self.topology.name
        return f"processors {self.shown(units_of(self.costs.flat, self.costs.ticks))} apart"

    def shown(self, time: float | Fraction) -> str:
        """Format a time, given in units."""
        return readable(time, self.unit)

    def require_byte_cost(self, command: str, first: str) -> None:
        """Raise an error if bytes would cost nothing because no option sets a cost.

        Parameters
        ----------
        command, first : str
            The command, and its first word, for the example in the error message.

        Raises
        ------
        UsageError
            No cost per byte is set.
        """
        if self.bytes_cost:
            return
        options, machine = "--time-byte, --gap-byte", "slingshot"
        if self.topology is None:
            options, machine = "--gap-byte", "loggopsim"
            here = ["--flat", "1us", *(["--processors", "64"] if command == "tune" else [])]
        else:  # a graph built in Python has no name
            here = ["--on", "TOPO" if isinstance(self.topology, GivenGraph) else self.topology.name]
        words = shlex.join(["mpinet", command, first, *here, "--machine", machine])
        raise UsageError(
            f"The cost of a byte is missing: give {options} (0 is allowed) or --machine, as in "
            f"{words}"
        )


def timed_of(options: TimeOptions) -> Timed:
    """Open the network, and read the costs of processors and links.

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
        raise UsageError("Give a network, --on TOPO, or a latency without one, --flat TIME.")
    unit = options.unit or preset.get("unit", "ns")
    of_bytes = {"overhead_byte": options.overhead_byte, "gap_byte": options.gap_byte}
    if on is not None:
        topology = topology_named(on)
        # Costs on a graph's edges belong to this network, and override those of a named machine.
        known = preset | dict(topology.link_costs)
        costs = _costs(options, preset, known, unit, 0)
        routing = routing_of(topology, options.routing, options.seed)
        said = _is_said({**of_bytes, "time_byte": options.time_byte}, known)
        return Timed(topology, routing, costs, unit, said)
    of_links = {"routing": options.routing, "duplex": options.duplex, "place": options.place}
    for name, value in of_links.items():
        if value not in (None, "full", "identity"):
            raise UsageError(f"--{name} does not apply with --flat, which has no links.")
    costs = _costs(options, preset, preset, unit, flat or 0)
    return Timed(None, None, costs, unit, _is_said(of_bytes, preset))


def _is_said(given: Mapping[str, Times | None], known: Mapping[str, Any]) -> bool:
    """Return True if one of some costs is given, or known from another source."""
    return any(value is not None or name in known for name, value in given.items())


def _preset(name: str, needs_no_latency: bool) -> dict[str, Any]:
    """Return the costs and the unit of a named machine.

    Raises
    ------
    UsageError
        There is no such machine, or the machine has no costs of links.
    """
    machine = machine_named(name)
    # Machines of the LogP family have a latency between any two processors, but no latency of
    # single links.
    if not needs_no_latency and "latency" not in machine.costs:
        raise UsageError(
            f"--machine {name} has no latency of links: with --on also give --latency."
        )
    return {**machine.costs, "unit": machine.unit}


def _costs(
    options: TimeOptions,
    preset: Mapping[str, Any],
    of_links: Mapping[str, Any],
    unit: Unit,
    flat: Time,
) -> Costs:
    """Read the costs: each from its option, else from the machine or network, else the default."""

    def given(value: Time | None, name: str) -> Time:
        said: Time = preset.get(name, 0) if value is None else value
        return said

    latency = _by_class(options.latency, of_links.get("latency", 1))
    time_byte = _by_class(options.time_byte, of_links.get("time_byte", 0))
    return Costs.exact(
        overhead=duration(given(options.overhead, "overhead"), unit),
        overhead_byte=byte_time(given(options.overhead_byte, "overhead_byte"), unit),
        gap=duration(given(options.gap, "gap"), unit),
        gap_byte=byte_time(given(options.gap_byte, "gap_byte"), unit),
        eager=preset.get("eager") if options.eager is None else options.eager,
        latencies=[duration(text, unit) for text in latency],
        byte_times=[byte_time(text, unit) for text in time_byte],
        flat=duration(flat, unit),
        mode=options.mode,
        half_duplex=options.duplex == "half",
        rendezvous=options.rendezvous,
    )


def _by_class(given: Times | None, default: Any) -> Sequence[str]:
    """Return a cost of links by class: the given one, or the default."""
    said = default if given is None else given
    return said if isinstance(said, tuple) else str(said).split(",")
