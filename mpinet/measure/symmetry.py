"""Symmetry of a network: automorphisms, isomorphisms, orbits and distance profiles.

A network of links is taken as its simple graph. Of a bus network the incidences count: a symmetry
takes processors to processors and busses to busses, so that members stay members. Groups and
canonical forms come from BLISS (through igraph); every mapping is checked link by link.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mpinet.base.arrays import Ints
from mpinet.base.fielddocs import described
from mpinet.errors import UsageError
from mpinet.measure.distance import distance_profiles
from mpinet.measure.libraries import library
from mpinet.measure.wiring import edges, incidence_graph, incidences, to_graph
from mpinet.networks.catalogue import open_topology
from mpinet.networks.topology import NetworkLike, Topology


def is_automorphism(
    topology: NetworkLike, image: ArrayLike, busses: ArrayLike | None = None
) -> bool:
    """Return whether a mapping of the nodes is an automorphism.

    Parameters
    ----------
    topology : Topology or str
        The network.
    image : array-like of int, shape (N,)
        Where each node is taken.
    busses : array-like of int, shape (B,), optional
        Of a bus network: where each bus is taken. Default: wherever the members show.

    Returns
    -------
    bool
        False, too, if the mapping is no permutation.

    Raises
    ------
    UsageError
        Not as many images as nodes (or busses), or busses of a network of links.
    """
    return is_isomorphism(topology, topology, image, busses)


def is_isomorphism(
    topology: NetworkLike,
    other: NetworkLike,
    image: ArrayLike,
    busses: ArrayLike | None = None,
) -> bool:
    """Return whether a mapping of a network's nodes to another's is an isomorphism.

    Parameters
    ----------
    topology, other : Topology or str
        Two networks of links, or two bus networks.
    image : array-like of int, shape (N,)
        Where each node of the first is taken.
    busses : array-like of int, shape (B,), optional
        Of bus networks: where each bus is taken. Default: wherever the members show.

    Raises
    ------
    UsageError
        As in `is_automorphism`, or one network has links and the other busses.
    """
    first, second = open_topology(topology), open_topology(other)
    _require_one_kind(first, second)
    nodes = _images(first, image, first.size, "nodes")
    if first.links and busses is not None:
        raise UsageError(f"{first.name} has links, no busses that could be taken anywhere.")
    if not _is_bijection(nodes, second.size):
        return False
    if first.links:
        ends = np.sort(nodes[edges(first)], axis=1)
        return np.array_equal(_sorted_rows(ends), edges(second))
    pairs, theirs = incidences(first), incidences(second)
    pairs[:, 0] = nodes[pairs[:, 0]]
    if busses is None:
        return first.busses == second.busses and _member_lists(pairs) == _member_lists(theirs)
    taken = _images(first, busses, first.busses or 0, "busses")
    if not _is_bijection(taken, second.busses or 0):
        return False
    pairs[:, 1] = taken[pairs[:, 1]]
    return np.array_equal(_sorted_rows(pairs), theirs)


def isomorphic(topology: NetworkLike, other: NetworkLike) -> bool:
    """Return whether two networks are the same but for their nodes' (and busses') numbers.

    Raises
    ------
    UsageError
        One network has links and the other busses.

    Examples
    --------
    >>> isomorphic("hypercube:2", "ring:4"), isomorphic("hypercube:3", "ring:8")
    (True, False)
    """
    return isomorphism(topology, other) is not None


def isomorphism(topology: NetworkLike, other: NetworkLike) -> Ints | None:
    """Find an isomorphism: the image of each node, or None if the networks are not isomorphic.

    Both networks are brought to their canonical form.

    Returns
    -------
    ndarray of int64, shape (N,), or None
        `is_isomorphism` says that it is one.

    Raises
    ------
    UsageError
        One network has links and the other busses.
    """
    first, second = open_topology(topology), open_topology(other)
    _require_one_kind(first, second)
    if (first.size, first.busses) != (second.size, second.busses):
        return None
    ours, theirs = _canonical_order(first), _canonical_order(second)
    image = np.empty_like(ours)
    # Vertices at the same place of the canonical forms correspond, if the forms are equal. They are
    # not compared: the mapping is checked, which fails where they differ.
    image[ours] = theirs
    image = image[: first.size]
    return image if is_isomorphism(first, second, image) else None


@described
@dataclass(frozen=True, eq=False)
class AutomorphismGroup:
    """All automorphisms of a network."""

    order: int
    """Number of automorphisms."""
    generators: Ints
    """Automorphisms that generate the group: the image of each node. Shape (g, N)."""
    bus_generators: Ints
    """Image of each bus under each generator; B = 0 for networks of links. Shape (g, B)."""


def automorphism_group(topology: NetworkLike) -> AutomorphismGroup:
    """The group of all automorphisms, by BLISS.

    Of a bus network it acts on processors and busses: two busses with the same members can be
    exchanged while all processors stay where they are.
    """
    network = open_topology(topology)
    graph, colors = _colored_graph(network)
    generators = graph.automorphism_group(color=colors)
    images = np.array(generators, np.int64).reshape(-1, graph.vcount())
    order = int(graph.count_automorphisms(color=colors))
    nodes, busses = np.split(images, [network.size], axis=1)
    return AutomorphismGroup(order, nodes, busses - network.size)


def orbits(topology: NetworkLike) -> list[tuple[int, ...]]:
    """Return the orbits of the nodes under automorphisms, in order; that of node 0 first."""
    return _orbits(automorphism_group(topology).generators, open_topology(topology).size)


def bus_orbits(topology: NetworkLike) -> list[tuple[int, ...]]:
    """Return the orbits of the busses under automorphisms, in order; that of bus 0 first.

    Raises
    ------
    UsageError
        The network has links.
    """
    network = open_topology(topology)
    if network.busses is None:
        raise UsageError(f"{network.name} has links: only bus networks have orbits of busses.")
    return _orbits(automorphism_group(network).bus_generators, network.busses)


def vertex_transitive(topology: NetworkLike) -> bool:
    """Return whether some automorphism takes any node to any other.

    Examples
    --------
    >>> vertex_transitive("petersen"), vertex_transitive("mesh:3x3")
    (True, False)
    """
    return len(orbits(topology)) == 1


def bus_transitive(topology: NetworkLike) -> bool:
    """Return whether some automorphism takes any bus to any other.

    Raises
    ------
    UsageError
        The network has links.
    """
    return len(bus_orbits(topology)) == 1


def same_profiles(topology: NetworkLike) -> bool:
    """Return whether all nodes have the same distance profile (collective)."""
    profiles = distance_profiles(topology)
    return bool((profiles == profiles[0]).all())


def profile_classes(topology: NetworkLike) -> dict[tuple[int, ...], tuple[int, ...]]:
    """The nodes by their distance profile (collective); the class of node 0 comes first.

    Returns
    -------
    dict of tuple of int to tuple of int
        Number of nodes at distance 0, 1, 2, .. -> the nodes, ascending.
    """
    classes: dict[tuple[int, ...], list[int]] = {}
    for node, profile in enumerate(distance_profiles(topology)):
        counts = tuple(np.trim_zeros(profile, "b").tolist())
        classes.setdefault(counts, []).append(node)
    return {counts: tuple(nodes) for counts, nodes in classes.items()}


def _require_one_kind(first: Topology, second: Topology) -> None:
    if first.links != second.links:
        with_links, with_busses = (first, second) if first.links else (second, first)
        raise UsageError(
            f"{with_links.name} has links and {with_busses.name} has busses: only networks of one "
            "kind can be compared."
        )


def _images(topology: Topology, given: ArrayLike, count: int, what: str) -> Ints:
    images = np.asarray(given, np.int64)
    if images.shape != (count,):
        raise UsageError(
            f"{topology.name} has {count} {what}: a mapping gives an image for each, not an array "
            f"of shape {images.shape}."
        )
    return images


def _is_bijection(images: Ints, count: int) -> bool:
    """Return whether these are the numbers 0..count-1, each once."""
    return np.array_equal(np.sort(images), np.arange(count))


def _sorted_rows(pairs: Ints) -> Ints:
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def _member_lists(pairs: Ints) -> list[bytes]:
    """The busses' members, sorted, whichever bus has them; from rows (processor, bus)."""
    pairs = pairs[np.lexsort((pairs[:, 0], pairs[:, 1]))]
    starts = np.flatnonzero(np.diff(pairs[:, 1])) + 1
    return sorted(members.tobytes() for members in np.split(pairs[:, 0].copy(), starts))


def _colored_graph(topology: Topology) -> tuple[Any, list[int] | None]:
    """The graph whose symmetry is the network's, and its vertices' colours."""
    if topology.links:
        return to_graph(topology), None
    # Colours keep processors from being taken to busses.
    graph = incidence_graph(topology)
    return graph, graph.vs["type"]


def _canonical_order(topology: Topology) -> Ints:
    """The vertices, processors and busses, in the order of the canonical form."""
    graph, colors = _colored_graph(topology)
    graph.vs["number"] = range(graph.vcount())
    canonical = graph.permute_vertices(graph.canonical_permutation(color=colors))
    return np.array(canonical.vs["number"], np.int64)


def _orbits(generators: Ints, count: int) -> list[tuple[int, ...]]:
    """The classes of 0..count-1 under some permutations."""
    # Inverses of generators are products of them, as the group is finite: the orbits are the
    # components of the graph with an edge from every element to its image.
    here = np.tile(np.arange(count), len(generators))
    moves = np.stack([here, generators.ravel()], axis=1)
    graph = library("igraph").Graph(n=count, edges=moves.tolist())
    return sorted(tuple(sorted(piece)) for piece in graph.connected_components())
