"""Symmetry of a network: automorphisms, isomorphisms, orbits and distance profiles.

A network of links is treated as its simple graph. For a bus network the incidences count: a
symmetry maps processors to processors and busses to busses, and preserves membership. Groups and
canonical forms are computed by BLISS (through igraph). Every mapping is checked link by link.
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
        Image of each node.
    busses : array-like of int, shape (B,), optional
        Image of each bus, for a bus network. Default: determined by the members.

    Returns
    -------
    bool
        Also False if the mapping is not a permutation.

    Raises
    ------
    UsageError
        The number of images differs from the number of nodes (or busses), or busses are given for a
        network of links.
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
        Image of each node of the first network.
    busses : array-like of int, shape (B,), optional
        Image of each bus, for bus networks. Default: determined by the members.

    Raises
    ------
    UsageError
        As in `is_automorphism`, or only one of the networks has links.
    """
    first, second = open_topology(topology), open_topology(other)
    _require_one_kind(first, second)
    nodes = _images(first, image, first.size, "nodes")
    if first.links and busses is not None:
        raise UsageError(f"{first.name} has links, so there are no images of busses.")
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
    """Return whether two networks are equal up to the numbering of their nodes (and busses).

    Raises
    ------
    UsageError
        Only one of the networks has links.

    Examples
    --------
    >>> isomorphic("hypercube:2", "ring:4"), isomorphic("hypercube:3", "ring:8")
    (True, False)
    """
    return isomorphism(topology, other) is not None


def isomorphism(topology: NetworkLike, other: NetworkLike) -> Ints | None:
    """Return an isomorphism as the image of each node; None if the networks are not isomorphic.

    Both networks are converted to their canonical forms.

    Returns
    -------
    ndarray of int64, shape (N,), or None
        A mapping verified by `is_isomorphism`.

    Raises
    ------
    UsageError
        Only one of the networks has links.
    """
    first, second = open_topology(topology), open_topology(other)
    _require_one_kind(first, second)
    if (first.size, first.busses) != (second.size, second.busses):
        return None
    ours, theirs = _canonical_order(first), _canonical_order(second)
    image = np.empty_like(ours)
    # If the canonical forms are equal, vertices at the same position correspond. The forms are not
    # compared: the check of the mapping fails if they differ.
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
    """Return the group of all automorphisms, computed by BLISS.

    For a bus network the group acts on processors and busses: two busses with the same members can
    be exchanged while all processors stay fixed.
    """
    network = open_topology(topology)
    graph, colors = _colored_graph(network)
    generators = graph.automorphism_group(color=colors)
    images = np.array(generators, np.int64).reshape(-1, graph.vcount())
    order = int(graph.count_automorphisms(color=colors))
    nodes, busses = np.split(images, [network.size], axis=1)
    return AutomorphismGroup(order, nodes, busses - network.size)


def orbits(topology: NetworkLike) -> list[tuple[int, ...]]:
    """Return the orbits of the nodes under automorphisms, ordered by their first node."""
    return _orbits(automorphism_group(topology).generators, open_topology(topology).size)


def bus_orbits(topology: NetworkLike) -> list[tuple[int, ...]]:
    """Return the orbits of the busses under automorphisms, ordered by their first bus.

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
    """Return whether automorphisms can map any node to any other node.

    Examples
    --------
    >>> vertex_transitive("petersen"), vertex_transitive("mesh:3x3")
    (True, False)
    """
    return len(orbits(topology)) == 1


def bus_transitive(topology: NetworkLike) -> bool:
    """Return whether automorphisms can map any bus to any other bus.

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
    """Return the nodes by distance profile (collective); the class of node 0 comes first.

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
            f"{with_links.name} has links and {with_busses.name} has busses: only networks of the "
            "same kind can be compared."
        )


def _images(topology: Topology, given: ArrayLike, count: int, what: str) -> Ints:
    images = np.asarray(given, np.int64)
    if images.shape != (count,):
        raise UsageError(
            f"{topology.name} has {count} {what}: a mapping needs one image for each, not an array "
            f"of shape {images.shape}."
        )
    return images


def _is_bijection(images: Ints, count: int) -> bool:
    """Return whether these are the numbers 0..count-1 without repetition."""
    return np.array_equal(np.sort(images), np.arange(count))


def _sorted_rows(pairs: Ints) -> Ints:
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def _member_lists(pairs: Ints) -> list[bytes]:
    """Return the sorted member lists of busses, without bus numbers, from (processor, bus) rows."""
    pairs = pairs[np.lexsort((pairs[:, 0], pairs[:, 1]))]
    starts = np.flatnonzero(np.diff(pairs[:, 1])) + 1
    return sorted(members.tobytes() for members in np.split(pairs[:, 0].copy(), starts))


def _colored_graph(topology: Topology) -> tuple[Any, list[int] | None]:
    """Return a graph with the network's symmetry, and the colours of its vertices."""
    if topology.links:
        return to_graph(topology), None
    # Colours prevent mappings of processors to busses.
    graph = incidence_graph(topology)
    return graph, graph.vs["type"]


def _canonical_order(topology: Topology) -> Ints:
    """Return the vertices (processors and busses) in the order of the canonical form."""
    graph, colors = _colored_graph(topology)
    graph.vs["number"] = range(graph.vcount())
    canonical = graph.permute_vertices(graph.canonical_permutation(color=colors))
    return np.array(canonical.vs["number"], np.int64)


def _orbits(generators: Ints, count: int) -> list[tuple[int, ...]]:
    """Return the orbits of 0..count-1 under some permutations."""
    # Inverses of generators are products of generators, because the group is finite. The orbits are
    # therefore the components of the graph with an edge from every element to its image.
    here = np.tile(np.arange(count), len(generators))
    moves = np.stack([here, generators.ravel()], axis=1)
    graph = library("igraph").Graph(n=count, edges=moves.tolist())
    return sorted(tuple(sorted(piece)) for piece in graph.connected_components())
