"""Degrees, links and incidences of a network, its graph, and its remainder after a removal.

Several links between the same two nodes count once here. In a bus network all members of a bus are
neighbours, and the incidences are the (processor, bus) pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from mpinet.base.arrays import Flags, Ints
from mpinet.base.effort import require_walk
from mpinet.base.memory import require_memory
from mpinet.compiled import rule
from mpinet.errors import UsageError
from mpinet.machine.faults import Faults
from mpinet.machine.transport import Local, world
from mpinet.measure.libraries import library
from mpinet.networks.catalogue import open_topology
from mpinet.networks.shortest import neighbor_table
from mpinet.networks.topology import NetworkLike, Topology

WINDOW = 1 << 16
"""Largest number of nodes processed by a rank at a time."""

BYTES_A_PORT, BYTES_A_LINK = 26, 250
"""Bytes per port of the array of all links, during construction; bytes per link of a graph."""

WINDOW_PORTS = 1 << 23
"""Largest number of ports processed by a rank at a time, except for a single node."""


def degrees(topology: NetworkLike) -> dict[int, int]:
    """Count the nodes of each degree, the number of different neighbours (collective).

    Parameters
    ----------
    topology : Topology or str
        The network. In a bus network, the fellow members on all busses are neighbours.

    Returns
    -------
    dict of int to int
        Number of nodes by degree, ascending.

    Examples
    --------
    >>> degrees("mesh:3x3")
    {2: 4, 3: 4, 4: 1}
    """
    return degree_histogram(open_topology(topology), world())


def links(topology: NetworkLike) -> int:
    """Return the number of pairs of neighbours (collective)."""
    return sum(degree * nodes for degree, nodes in degrees(topology).items()) // 2


def degree_histogram(topology: Topology, transport: Local) -> dict[int, int]:
    """Count as in `degrees`, with a share of the nodes per rank (collective)."""
    require_walk(topology.most_wired, f"A walk over {topology.name}", transport.size)
    counts = np.zeros(topology.ports + 1, np.int64)
    for begin, end in shares_of(topology, transport):
        nodes, _ = links_of(topology, begin, end)
        degrees = np.bincount(nodes - begin, minlength=end - begin)
        counts += np.bincount(degrees, minlength=topology.ports + 1)
    return _histogram(counts, transport)


def capacities(topology: Topology, transport: Local) -> dict[int, int]:
    """Count the links by their capacity in messages per step and direction (collective).

    Parallel links count as one link of larger capacity. Each rank handles a share of the nodes. The
    network must have links.
    """
    counts = np.zeros(topology.ports + 1, np.int64)
    for begin, end in shares_of(topology, transport):
        nodes, _, others = wired_ports(topology, begin, end)
        up = others > nodes
        pairs = (nodes * topology.size + others)[up]
        counts += np.bincount(np.unique(pairs, return_counts=True)[1], minlength=len(counts))
    return _histogram(counts, transport)


def shares_of(topology: Topology, transport: Local) -> Iterator[tuple[int, int]]:
    """Yield the first node and the end of each part of this rank's share of the nodes."""
    window = window_of(topology)
    for begin in range(window * transport.rank, topology.size, window * transport.size):
        yield begin, min(begin + window, topology.size)


def _histogram(counts: Ints, transport: Local) -> dict[int, int]:
    """Return the total counts over all ranks (collective), by counted number."""
    total = transport.sum(counts)
    return {int(number): int(total[number]) for number in np.flatnonzero(total)}


def window_of(topology: Topology) -> int:
    """Return the number of nodes that one rank processes at a time."""
    # A window of fixed size would take gigabytes in networks with many ports. The number of ports
    # at a time is limited instead.
    return max(1, min(WINDOW, WINDOW_PORTS * topology.size // max(1, topology.most_wired)))


def wired_ports(topology: Topology, begin: int, end: int) -> tuple[Ints, Ints, Ints]:
    """Return the wired ports of the nodes begin..end-1: nodes, ports and neighbours."""
    counts = topology.port_counts(np.arange(begin, end))
    nodes = np.repeat(np.arange(begin, end), counts)
    ports = np.arange(len(nodes)) - np.repeat(np.cumsum(counts) - counts, counts)
    others = topology.neighbor(nodes, ports)
    wired = others >= 0
    return nodes[wired], ports[wired], others[wired]


def links_of(topology: Topology, begin: int, end: int) -> tuple[Ints, Ints]:
    """Return the neighbours of the nodes begin..end-1 without repetition, as sorted pairs."""
    # If many ports are unwired, listing wired ports is cheaper than sorting a full table of nodes
    # and ports.
    if topology.most_wired < topology.size * topology.ports:
        nodes, _, others = wired_ports(topology, begin, end)
        places = (nodes - begin) * topology.size + others
        steps = np.diff(places, prepend=-1)
        if (steps < 0).any():
            order = np.argsort(places)
            nodes, others = nodes[order], others[order]
            steps = np.diff(places[order], prepend=-1)
        return nodes[steps != 0], others[steps != 0]
    nodes = np.arange(begin, end)
    others = topology.neighbor(nodes[:, np.newaxis], np.arange(topology.ports)[np.newaxis, :])
    others = np.sort(others, axis=1)
    first = others >= 0
    first[:, 1:] &= others[:, 1:] != others[:, :-1]
    return np.repeat(nodes, first.sum(axis=1)), others[first]


def edges(topology: NetworkLike) -> Ints:
    """Return all pairs of neighbours, shape (L, 2): rows u < v, sorted.

    Examples
    --------
    >>> edges("ring:4").tolist()
    [[0, 1], [0, 3], [1, 2], [2, 3]]

    Raises
    ------
    TooLarge
        The pairs do not fit into memory.
    """
    network = open_topology(topology)
    require_walk(network.most_wired, f"A walk over {network.name}", 1)
    require_memory(BYTES_A_PORT * network.most_wired, f"All links of {network.name}")
    nodes, others = links_of(network, 0, network.size)
    up = others > nodes
    return np.stack([nodes[up], others[up]], axis=1)


def incidences(topology: NetworkLike) -> Ints:
    """Return the members of a bus network's busses: sorted rows (processor, bus), shape (m, 2).

    Raises
    ------
    UsageError
        The network has links.
    """
    network = open_topology(topology)
    if network.links:
        raise UsageError(f"{network.name} has links: only bus networks have incidences.")
    return network.incidences(np.arange(network.size))


def to_graph(topology: NetworkLike) -> Any:
    """Return the network as an `igraph.Graph` with nodes as vertices."""
    network = open_topology(topology)
    require_memory(BYTES_A_LINK * network.most_wired // 2, f"A graph of {network.name}")
    return library("igraph").Graph(n=network.size, edges=edges(network).tolist())


def incidence_graph(topology: NetworkLike) -> Any:
    """Return the incidences of a bus network as an `igraph.Graph`.

    The vertices are the N processors, then the busses. The vertex attribute ``type`` is 0 for a
    processor and 1 for a bus.

    Raises
    ------
    UsageError
        The network has links.
    """
    network = open_topology(topology)
    pairs = incidences(network) + np.array([0, network.size])
    busses = network.busses or 0
    graph = library("igraph").Graph(n=network.size + busses, edges=pairs.tolist())
    graph.vs["type"] = [0] * network.size + [1] * busses
    return graph


class Subnetwork(Topology):
    """Some nodes of a network with some of its links or busses, on the original ports.

    Parameters
    ----------
    topology : Topology
        The network.
    nodes : ndarray of int64, shape (k,)
        The nodes that stay, ascending; they are renumbered 0..k-1 in this order.
    kept : ndarray of bool, shape (N, ports)
        The ports that stay wired if both ends stay.
    """

    family = "part"
    nodes: Ints
    """Original numbers of the nodes, ascending. Shape (k,)."""

    def __init__(self, topology: Topology, nodes: Ints, kept: Flags):
        number = np.full(topology.size + 1, -1, np.int64)  # the last entry is for unwired ports
        number[nodes] = np.arange(len(nodes))
        table = neighbor_table(topology)
        table = number[np.where(kept, table, -1)][nodes]
        rows, ports = np.nonzero(table >= 0)
        back, channels = np.full_like(table, -1), np.full_like(table, -1)
        back[rows, ports] = topology.reverse_port(nodes[rows], ports)
        channels[rows, ports] = topology.channel(nodes[rows], ports)
        kinds = np.zeros_like(table)
        kinds[rows, ports] = topology.link_class(nodes[rows], ports)
        if topology.links:
            ends = np.stack([rows * topology.ports + ports, table[rows, ports] * topology.ports])
            ends[1] += back[rows, ports]
            channels[rows, ports] = ends.min(axis=0)
        super().__init__(
            topology.name,
            size=len(nodes),
            ports=topology.ports,
            params=np.concatenate([table, back, channels, kinds]).ravel().tolist(),
            hosts=int((nodes < topology.hosts).sum()),
            busses=topology.busses,
        )
        self.nodes, self._whole = nodes, topology

    @property
    def link_classes(self) -> tuple[str, ...]:
        """Link classes of the whole network."""
        return self._whole.link_classes

    @property
    def link_costs(self) -> Mapping[str, tuple[str, ...]]:
        """Costs of each link class, as in the whole network."""
        return self._whole.link_costs

    @rule
    def neighbor(node, port, params):
        """Return the neighbour from the table."""
        return params[2 + node * params[1] + port]

    @rule
    def reverse_port(node, port, params):
        """Return the reverse port from the table."""
        return params[2 + (params[0] + node) * params[1] + port]

    @rule
    def channel(node, port, params):
        """Return the channel from the table."""
        return params[2 + (2 * params[0] + node) * params[1] + port]

    @rule
    def link_class(node, port, params):
        """Return the link class from the table."""
        return params[2 + (3 * params[0] + node) * params[1] + port]


def without(
    topology: NetworkLike,
    nodes: Iterable[int] = (),
    links: Iterable[tuple[int, int]] = (),
    busses: Iterable[int] = (),
) -> Subnetwork:
    """Remove nodes, links or busses; the rest may be disconnected.

    Parameters
    ----------
    topology : Topology or str
        The network.
    nodes : iterable of int
        Nodes to remove. The remaining nodes are renumbered in order; `Subnetwork.nodes` has their
        old numbers.
    links : iterable of (int, int)
        Pairs of neighbours to disconnect, in a network of links.
    busses : iterable of int
        Busses to remove, in a bus network.

    Raises
    ------
    NodeError
        A node is not in the network.
    UsageError
        A link or bus is not in the network, or no node is left.
    """
    network = open_topology(topology)
    faults = Faults(network, nodes, links)
    if len(faults.cut) and not network.links:
        raise UsageError(f"{network.name} has busses, no links to remove.")
    left = np.delete(np.arange(network.size), faults.dead)
    if not len(left):
        raise UsageError(f"No node of {network.name} would be left.")
    table = neighbor_table(network)
    ends = np.arange(network.size)[:, np.newaxis] * network.size + table
    kept = ~np.isin(ends, faults.cut @ np.array([network.size, 1])) & (table >= 0)
    gone = np.array(sorted(set(busses)), np.int64)
    if len(gone):
        _require_busses(network, gone)
        channels = network.channel(np.arange(network.size)[:, np.newaxis], np.arange(network.ports))
        kept &= ~np.isin(channels, gone)
    return Subnetwork(network, left, kept)


def _require_busses(topology: Topology, busses: Ints) -> None:
    if topology.links:
        raise UsageError(f"{topology.name} has links, no busses to remove.")
    if busses[0] < 0 or busses[-1] >= (topology.busses or 0):
        wrong = busses[0] if busses[0] < 0 else busses[-1]
        raise UsageError(
            f"Bus {wrong} is not in {topology.name}: busses are 0..{(topology.busses or 0) - 1}."
        )


def part(topology: NetworkLike, nodes: Iterable[int]) -> Subnetwork:
    """Return the subnetwork induced by some nodes."""
    network = open_topology(topology)
    return without(network, set(range(network.size)) - set(nodes))


def components(topology: NetworkLike) -> list[tuple[int, ...]]:
    """Return the connected components of a network as sorted node lists, node 0's first."""
    pieces = to_graph(topology).connected_components()
    return sorted(tuple(sorted(piece)) for piece in pieces)
