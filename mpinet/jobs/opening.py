"""Open the networks, routings, mappings and port models that options name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mpinet.commands.network import AnyNetwork
from mpinet.commands.optionrecords import Several
from mpinet.commands.options import Duplex, Ports
from mpinet.errors import UsageError
from mpinet.machine import PortModel
from mpinet.networks import check
from mpinet.networks import open as open_topology
from mpinet.networks.routing import Routing
from mpinet.networks.topology import NetworkxGraph, Topology, no_routing


def with_networks(value: Any) -> Any:
    """Return an option's value with networkx graphs converted to networks."""
    if isinstance(value, NetworkxGraph):
        return open_topology(value)
    if isinstance(value, list | tuple) and any(isinstance(one, NetworkxGraph) for one in value):
        return [*map(with_networks, value)]
    return value


def networks_in(given: AnyNetwork | Several[AnyNetwork]) -> list[AnyNetwork]:
    """Return one network or several as a list."""
    if isinstance(given, str | Topology | NetworkxGraph):
        return [given]
    return [*given]


def topology_named(given: AnyNetwork) -> Topology:
    """Return the named network; the wiring of a user's own network is checked.

    Raises
    ------
    TopologyError
        There is no such network.
    WiringError
        A user's rules contradict each other; the text names processor and port.
    """
    topology = open_topology(given)
    if not type(topology).__module__.startswith("mpinet."):
        # Wrong schedules raise an error in their run, and wrong routings at their first use.
        check(topology, schedules=False, routings=False)
    return topology


def routing_of(topology: Topology, name: str | None, seed: int = 0) -> Routing:
    """Return a routing by name, with routes known before any message moves.

    Raises
    ------
    UsageError
        The routing does not exist, or is adaptive and chooses channels by free space.
    """
    if name is not None and not topology.has_routing(name):
        raise no_routing(topology, name, topology.fixed_routings)
    routing = topology.routing(name, seed)
    if routing.adaptive:
        raise UsageError(
            f"--routing {routing.name} of {topology.name} works only in mpinet load; here give "
            f"one of {', '.join(topology.fixed_routings)}."
        )
    return routing


def port_model(ports: Ports | None, duplex: Duplex) -> PortModel:
    """Return the port model of these names."""
    return replace(PortModel.named(ports or "one"), half_duplex=duplex == "half")


def require_all_port(ports: Ports | None, what: str) -> None:
    """Raise `UsageError` if ``--ports one`` would have no effect."""
    if ports == "one":
        raise UsageError(f"--ports one does not apply: {what} uses all ports.")
