"""Opening what options name: networks, routings, mappings, port models."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from mpinet.commands.optionrecords import Typed
from mpinet.commands.options import HostOptions, MachineOptions
from mpinet.errors import UsageError
from mpinet.networks import check
from mpinet.networks import open as open_topology
from mpinet.networks.catalogue import FAMILIES
from mpinet.networks.topology import NetworkxGraph, Topology

if TYPE_CHECKING:
    from mpinet.machine import PortModel
    from mpinet.machine.placement import Mapping as Hosting
    from mpinet.machine.transport import Local
    from mpinet.networks.routing import Routing


def families_completed(prefix: str, **asked: object) -> list[str]:
    """The families that a name may go on to, for a shell that asks."""
    return [f"{name}:" for name in FAMILIES if name.startswith(prefix)]


Network = Annotated[
    str | Topology | NetworkxGraph,
    Typed(
        "Network, such as ``torus:8x8x8`` (see: mpinet topologies).",
        metavar="TOPO",
        complete=families_completed,
    ),
]
"""A network by its string, as `mpinet.open` gives it, or as a graph of networkx."""

FOLDERS = re.compile(r"[^:,=]*/(?=[^/:,=]*\.[A-Za-z])")
"""The folders of a file, in a name."""


def without_folders(name: str) -> str:
    """A name as a result has it, whose digest is the same wherever the files in it lie."""
    return FOLDERS.sub("", name)


def named(value: Any) -> str:
    """Return a value's name for a person: that of a network or a function."""
    if isinstance(value, Topology):
        return value.name
    if callable(value):
        return f"{value.__module__}:{value.__name__}"
    return str(value)


def with_networks(value: Any) -> Any:
    """Return an option's value with the networks that its graphs of networkx describe."""
    if isinstance(value, NetworkxGraph):
        return open_topology(value)
    if isinstance(value, list | tuple) and any(isinstance(one, NetworkxGraph) for one in value):
        return [*map(with_networks, value)]
    return value


def with_more(values: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a function that takes several networks, with all of them in one."""
    more: tuple[Any, ...] = values.pop("more")
    first = next(iter(values))
    if not more:
        return values
    given = values[first]
    several = [*given] if isinstance(given, list | tuple) else [given]
    return values | {first: [*several, *more]}


class OnNetwork(Protocol):
    """Options that name a network."""

    @property
    def topology(self) -> str | Topology | NetworkxGraph:
        """The network, as it was given."""


def topology_of(options: OnNetwork | argparse.Namespace) -> Topology:
    """Open the network that options name, as `topology_named` does."""
    return topology_named(options.topology)


def topology_named(given: str | Topology | NetworkxGraph) -> Topology:
    """The network that was named; one of a user's own has its wiring checked.

    Raises
    ------
    TopologyError
        There is no such network.
    WiringError
        A user's rules contradict each other; names processor and port.
    """
    topology = open_topology(given)
    if not type(topology).__module__.startswith("mpinet."):
        # Wrong schedules are refused as they run, and wrong routings where they are first used.
        check(topology, schedules=False, routings=False)
    return topology


def routing_of(topology: Topology, name: str | None, seed: int = 0) -> Routing:
    """A routing by name whose ways are known before anything moves.

    Raises
    ------
    UsageError
        There is none of that name, or its nodes choose among channels by what has room.
    """
    routing = topology.routing(name, seed)
    if routing.adaptive:
        raise UsageError(
            f"Routing {routing.name} of {topology.name} leaves its ways to what has room in the "
            "routers of mpinet load; elsewhere give one of "
            f"{', '.join([*topology.routings, *topology.random_routings])}."
        )
    return routing


def mapping_of(
    options: HostOptions | argparse.Namespace, topology: Topology, transport: Local
) -> Hosting:
    """Make the mapping that the options ask for (collective)."""
    from mpinet.machine.choice import open_mapping

    return open_mapping(options.mapping, topology, transport, options.seed)


def port_model(options: MachineOptions | argparse.Namespace) -> PortModel:
    """Return the port model that the options ask for."""
    from mpinet.machine import PortModel

    return replace(PortModel.named(options.ports), half_duplex=options.duplex == "half")


def require_all_port(options: argparse.Namespace, what: str) -> None:
    """Raise `UsageError` where --ports one would have no effect."""
    if options.ports == "one":
        raise UsageError(f"{what} uses all ports: --ports one does not apply.")
