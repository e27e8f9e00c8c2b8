"""Distances, measured by flooding on the machine from many nodes at once.

Every node keeps a bit for each source whose flood has arrived, and forwards new bits in the next
step. The step in which a bit arrives is the distance of its source in hops. All nodes count,
including switches. In a bus network a hop leads from a member of a bus to another member.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mpinet.base.arrays import Ints
from mpinet.base.memory import require_memory
from mpinet.errors import Disconnected, UsageError
from mpinet.machine import Machine
from mpinet.machine.beep import wired
from mpinet.machine.faults import Faults
from mpinet.machine.placement import Mapping
from mpinet.machine.transport import Local, world
from mpinet.measure.nearing import Nearing, write_distances
from mpinet.networks.catalogue import open_topology
from mpinet.networks.topology import NetworkLike, Topology
from mpinet.networks.translations import Translations
from mpinet.programs import waves
from mpinet.programs.flood import require_floods
from mpinet.programs.waves import SOURCES, Wave, adjacency

FARTHEST = 2**15 - 1
"""Largest distance in a distance matrix."""

MOST_ALIKE = 2**25
"""Largest number of ports of all nodes for a test of equivalent nodes, which takes some 800 MB."""


def distance_matrix(
    topology: NetworkLike,
    sources: Iterable[int] | None = None,
    dead: Iterable[int] = (),
    cut: Iterable[tuple[int, int]] = (),
) -> NDArray[np.int16]:
    """Return the distances from some nodes to all nodes (collective).

    Parameters
    ----------
    topology : Topology or str
        The network.
    sources : iterable of int, optional
        The nodes that flood. Default: all.
    dead : iterable of int
        Dead nodes, which send and receive nothing.
    cut : iterable of (int, int)
        Cut links, which carry nothing; in a bus network pairs of bus members that cannot reach each
        other.

    Returns
    -------
    ndarray of int16, shape (S, N)
        Distances in hops; -1 for an unreachable node, and for pairs with a dead node (also on the
        diagonal).

    Raises
    ------
    NodeError
        A node is not in the network.
    UsageError
        A link is not in the network, or a distance exceeds 32767.

    Examples
    --------
    >>> distance_matrix("ring:4").tolist()
    [[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]]
    """
    network = open_topology(topology)
    floods = (
        floods_from_all(network, dead, cut) if sources is None else FaultyFloods(network, dead, cut)
    )
    begun = floods.all_nodes if sources is None else floods.numbers(sources)
    require_memory(4 * network.size * len(begun), f"A matrix of distances in {network.name}")
    rows = np.full((floods.machine.placement.count, len(begun)), -1, np.int16)
    for wave in floods.waves(begun):
        if wave.distance > FARTHEST:
            raise UsageError(
                f"{floods.machine.topology.name} has distances of more than {FARTHEST} hops: a "
                "matrix cannot store larger distances."
            )
        write_distances(wave.fresh, wave.distance, wave.begin, rows.view(np.uint16))
    # Each rank fills the rows of its nodes and leaves -1 elsewhere. A maximum over the ranks
    # completes the matrix.
    columns = np.full((floods.machine.topology.size, len(begun)), -1, np.int16)
    columns[floods.machine.nodes] = rows
    return np.ascontiguousarray(floods.machine.transport.max(columns).T)


def diameter(
    topology: NetworkLike, dead: Iterable[int] = (), cut: Iterable[tuple[int, int]] = ()
) -> int:
    """Return the largest distance between two living nodes (collective).

    Parameters
    ----------
    topology, dead, cut
        As in `distance_matrix`.

    Raises
    ------
    Disconnected
        The living nodes are not connected.
    UsageError
        All nodes are dead; or as in `distance_matrix`.

    Examples
    --------
    >>> diameter("torus:4x4"), diameter("ring:8"), diameter("ring:8", dead=[0])
    (4, 4, 6)
    """
    network = open_topology(topology)
    # All nodes of a small network fit into one round of floods. Bounds could save nothing here.
    if network.size <= SOURCES:
        return _extent(network, dead, cut).diameter
    floods = floods_from_all(network, dead, cut)
    if (alike := floods.alike) is not None:
        return alike.diameter
    with (nearing := floods.nearing).state:
        return nearing.settle_diameter()


def distance_sum(topology: NetworkLike) -> int:
    """Return the sum of the distances over all ordered pairs, in hops (collective).

    Raises
    ------
    Disconnected
        The network is not connected.
    """
    return _extent(topology, (), ()).distance_sum


def average_distance(topology: NetworkLike) -> float:
    """Return the mean distance over ordered pairs of different nodes, in hops (collective).

    Raises
    ------
    Disconnected
        The network is not connected.

    Examples
    --------
    >>> average_distance("ring:5")
    1.5
    """
    found = _extent(topology, (), ())
    return found.distance_sum / found.pairs if found.pairs else 0.0


def is_connected(
    topology: NetworkLike, dead: Iterable[int] = (), cut: Iterable[tuple[int, int]] = ()
) -> bool:
    """Return whether all living nodes reach each other (collective).

    Parameters
    ----------
    topology, dead, cut
        As in `distance_matrix`.

    Raises
    ------
    UsageError
        All nodes are dead; or as in `distance_matrix`.
    """
    floods = FaultyFloods(open_topology(topology), dead, cut)
    return sum(wave.total for wave in floods.waves(floods.alive[:1])) == len(floods.alive)


def eccentricity(topology: NetworkLike, node: int) -> int:
    """Return the distance from a node to the farthest node, in hops (collective).

    Raises
    ------
    NodeError
        The node is not in the network.
    Disconnected
        The network is not connected.

    Examples
    --------
    >>> eccentricity("mesh:3x3", 0), eccentricity("mesh:3x3", 4)
    (4, 2)
    """
    return int(eccentricities(topology, [node])[0])


def eccentricities(topology: NetworkLike, nodes: Iterable[int] | None = None) -> Ints:
    """Return the distance from each of some nodes to its farthest node, in hops (collective).

    Parameters
    ----------
    topology : Topology or str
        The network.
    nodes : iterable of int, optional
        The nodes. Default: all.

    Returns
    -------
    ndarray of int64, shape (S,)
        Eccentricities, in the order of `nodes`.

    Raises
    ------
    NodeError
        A node is not in the network.
    Disconnected
        The network is not connected.
    """
    network = open_topology(topology)
    if nodes is None:
        return _all_eccentricities(network)
    matrix = distance_matrix(network, nodes)
    if matrix.min(initial=0) < 0:
        raise disconnected(network)
    return matrix.max(axis=1).astype(np.int64)


def _all_eccentricities(network: Topology) -> Ints:
    """Return the eccentricities of all nodes (collective)."""
    floods = floods_from_all(network)
    if network.size > SOURCES:
        if (alike := floods.alike) is not None:
            return np.full(network.size, alike.diameter)
        with (nearing := floods.nearing).state:
            return nearing.settle_all()
    machine = floods.machine
    farthest = np.zeros(network.size, np.int64)
    reached = 0
    for wave in floods.waves(floods.all_nodes):
        late = machine.nodes[wave.new > 0]
        farthest[late] = np.maximum(farthest[late], wave.distance)
        reached += wave.total
    if reached != network.size**2:
        raise disconnected(network)
    return machine.transport.max(farthest)


def distance_profile(topology: NetworkLike, node: int) -> tuple[int, ...]:
    """Return the number of nodes at distance 0, 1, 2, .. from a node (collective).

    Unreachable nodes are not counted.

    Examples
    --------
    >>> distance_profile("petersen", 0)
    (1, 3, 6)
    """
    row = distance_matrix(topology, [node])[0]
    return tuple(np.bincount(row[row >= 0]).tolist())


def distance_profiles(topology: NetworkLike) -> Ints:
    """Return for every node the number of nodes at distance 0, 1, 2, .. (collective).

    Returns
    -------
    ndarray of int64, shape (N, D + 1)
        D is the largest distance; unreachable nodes are not counted.
    """
    floods = floods_from_all(open_topology(topology))
    machine = floods.machine
    profiles: list[Ints] = []
    for wave in floods.waves(floods.all_nodes):
        if wave.distance == len(profiles):
            profiles.append(np.zeros(machine.topology.size, np.int64))
        profiles[wave.distance][machine.nodes] += wave.new
    return machine.transport.sum(np.stack(profiles, axis=1))


def disconnected(topology: Topology) -> Disconnected:
    """Return the error of a measure that needs a connected network."""
    return Disconnected(f"{topology.name} is not connected: some nodes have no distance.")


@dataclass(frozen=True)
class DistanceSums:
    """Largest distance, sum of distances and number of ordered pairs of different nodes."""

    diameter: int
    distance_sum: int
    pairs: int


def _extent(
    topology: NetworkLike, dead: Iterable[int], cut: Iterable[tuple[int, int]]
) -> DistanceSums:
    """Flood from all living nodes, or from one if all nodes are equivalent (collective)."""
    floods = floods_from_all(open_topology(topology), dead, cut)
    if floods.machine.topology.size > SOURCES and (alike := floods.alike) is not None:
        return extent_of(alike)
    largest = total = reached = 0
    for wave in floods.waves(floods.alive):
        largest = max(largest, wave.distance)
        total += wave.distance * wave.total
        reached += wave.total
    if reached != len(floods.alive) ** 2:
        raise disconnected(floods.machine.topology)
    return DistanceSums(largest, total, reached - len(floods.alive))


def extent_of(alike: Translations) -> DistanceSums:
    """Return the measures of a network of equivalent nodes, from the distances of node 0."""
    nodes = len(alike.distance)
    return DistanceSums(alike.diameter, nodes * int(alike.distance.sum()), nodes * (nodes - 1))


class FaultyFloods:
    """Floods of one network with dead nodes and links.

    Parameters
    ----------
    network : Topology
        The network; in a bus network all members of a bus are neighbours.
    dead, cut
        As in `distance_matrix`.
    transport, mapping
        As in `Machine`.
    """

    def __init__(
        self,
        network: Topology,
        dead: Iterable[int] = (),
        cut: Iterable[tuple[int, int]] = (),
        transport: Local | None = None,
        mapping: Mapping | None = None,
    ):
        linked = network if network.links else adjacency(network)
        self.machine = Machine(linked, "all", transport, mapping)
        self._faults = Faults(self.machine.topology, dead, cut)
        self._floods = waves.Floods(self.machine, self._ports(), self._faults.dead)

    def _ports(self) -> tuple[Ints, Ints] | None:
        """Return this rank's (nodes, ports) without dead nodes, cut links; None if no faults."""
        if not self._faults:
            return None
        network, dead = self.machine.topology, self._faults.dead
        nodes, ports = wired(network, self.machine.nodes)
        others = network.neighbor(nodes, ports)
        goes = ~np.isin(nodes, dead) & ~np.isin(others, dead)
        cut = self._faults.cut @ np.array([network.size, 1])
        goes &= ~np.isin(nodes * network.size + others, cut)
        return nodes[goes], ports[goes]

    @property
    def all_nodes(self) -> Ints:
        """All nodes, including dead nodes, shape (N,)."""
        return np.arange(self.machine.topology.size)

    @cached_property
    def alive(self) -> Ints:
        """The living nodes, ascending.

        Raises
        ------
        UsageError
            All nodes are dead.
        """
        alive = np.delete(self.all_nodes, self._faults.dead)
        if not len(alive):
            raise UsageError(f"All nodes of {self.machine.topology.name} are dead.")
        return alive

    @property
    def alike(self) -> Translations | None:
        """Translations that map node 0 to any node; None with faults, or if none exist."""
        network = self.machine.topology
        # Faults break the symmetry. The search for translations keeps all ports in memory, which is
        # impossible for large networks.
        if self._faults or network.size * network.ports > MOST_ALIKE:
            return None
        what = f"Neighbours and translations of {network.name}"
        require_memory(40 * network.size * network.ports, what)
        return Translations.of(network, MOST_ALIKE)

    @property
    def nearing(self) -> Nearing:
        """New `Nearing` object: lower and upper bounds on each living node's eccentricity.

        The lower bounds start at 0, the upper ones unknown. The object's floods tighten them.
        """
        return Nearing(self._floods, self.alive)

    def numbers(self, nodes: Iterable[int]) -> Ints:
        """Return node numbers as an array.

        Raises
        ------
        NodeError
            A node is not in the network.
        """
        numbers = np.fromiter(nodes, np.int64)
        for node in numbers[(numbers < 0) | (numbers >= self.machine.topology.size)].tolist():
            self.machine.topology.require_node(node)
        return numbers

    def waves(self, sources: Ints) -> Iterator[Wave]:
        """Flood from some nodes, as `programs.waves.Floods.waves` (collective)."""
        return self._floods.waves(sources)


def floods_from_all(
    network: Topology, dead: Iterable[int] = (), cut: Iterable[tuple[int, int]] = ()
) -> FaultyFloods:
    """Return floods of a network that may start at all nodes.

    Raises
    ------
    TooLarge
        The floods would take too long or too much memory.
    """
    require_floods(network if network.links else adjacency(network), world().size)
    return FaultyFloods(network, dead, cut)
