"""Network measures shared by several claims; each is computed once per network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpinet import measure
from mpinet.base.arrays import Ints
from mpinet.claims import Claim, Measured, claim
from mpinet.claims.remembered import remembered
from mpinet.compiled import inlined
from mpinet.measure.pairs import Pairs
from mpinet.networks import open as open_topology
from mpinet.networks.hdn.wiring import DualNet
from mpinet.networks.topology import Topology
from mpinet.networks.walks import rules, walk
from mpinet.papers.grids import networks
from mpinet.papers.hdn.grids import MOST
from mpinet.papers.measured import common, counted, degrees, distances
from mpinet.papers.sweeps import pieces, reach, reached
from mpinet.papers.witness import at_pair, farthest

Lengths = NDArray[np.int16]


def dual_net(topology: str) -> DualNet:
    """Return the HDN of a topology string, with the paper's addresses."""
    network = open_topology(topology)
    assert isinstance(network, DualNet)
    return network


@remembered(most=16)
def lengths(topology: str, routing: str) -> Lengths:
    """Return the hops of all routes, walked link by link; -1 for routes that do not arrive."""
    return measure.length_matrix(topology, routing)


@remembered(most=256)
def diameter(topology: str) -> Measured:
    """Return the diameter with a pair, by floods, or by sweeps from node classes if large."""
    # Up to R1's sizes all pairs are flooded, so the diameter does not depend on any symmetry.
    if open_topology(topology).size <= MOST:
        return farthest(distances(topology))
    return reach(topology).measured


@remembered(most=256)
def degree(topology: str) -> Any:
    """Return the common degree of all nodes as a simple graph, or a text with counts."""
    return common(degrees(topology))


@remembered(most=16)
def addresses(topology: str, level: int) -> Ints:
    """Return the addresses (C, U, SN, N) of all nodes at a level, shape (N, 4)."""
    network = dual_net(topology)
    return np.array([network.level_address(node, level) for node in range(network.size)])


def cross_port(network: Topology, k: int, level: int) -> int:
    """Return the port of a level's cross-edges, which are the last ports in order of levels."""
    return network.ports - k + level - 1


def across(network: Topology, port: int) -> Ints:
    """Return every node's neighbour on a port."""
    return network.neighbor(np.arange(network.size), port)


@remembered
def dissection(topology: str) -> dict[str, Any]:
    """Return counts of the network without its highest cross-edges, and of these cross-edges.

    If a count is not the same everywhere, its value is a text that lists each number.
    """
    network = dual_net(topology)
    k = network.levels.count
    cluster = pieces(network, cross_port(network, k, k))
    count = int(cluster.max()) + 1
    own = addresses(topology, k)[:, :3]
    side = own[:, 0]
    sides = np.zeros(count, np.int64)
    sides[cluster] = side
    behind = across(network, cross_port(network, k, k))
    edges = np.unique(np.stack([cluster, cluster[behind]], axis=1), axis=0)
    leads = np.bincount(edges[:, 0], minlength=count)
    supernodes, inside = np.unique(own, axis=0, return_counts=True)
    joined, links = np.unique(np.hstack([own, own[behind]]), axis=0, return_counts=True)
    _, pairs = np.unique(joined[:, [0, 1, 3, 4]], axis=0, return_counts=True)
    of_class = np.bincount(sides, minlength=2)
    return {
        "clusters": count,
        "clusters of a class": counted(of_class),
        "of a class": counted(of_class),
        "super-nodes of a cluster": counted(
            np.unique(supernodes[:, :2], axis=0, return_counts=True)[1]
        ),
        "nodes of a super-node": counted(inside),
        "links of joined super-nodes": counted(links),
        "pairs of super-nodes that join two clusters": counted(pairs),
        "other clusters not joined": counted(of_class[1 - sides] - leads),
        "links within a class": int((side == side[behind]).sum()) // 2,
        "nodes of a cluster": counted(np.bincount(cluster)),
    }


WHOLE: dict[str, Callable[[str], Any]] = {"nodes": reached, "degree": degree}
"""Measures of a network that do not need the dissection."""


def counts(topology: str, *names: str) -> dict[str, Any]:
    """Return some of the measured numbers by which the paper describes a network."""
    return {
        name: WHOLE[name](topology) if name in WHOLE else dissection(topology)[name]
        for name in names
    }


def described(id: str, *, topology: str, text: str, claimed: dict[str, int], **said: Any) -> Claim:
    """Return a claim of the paper's numbers on one network; `text` is the name of its grid."""
    return claim(
        id,
        claimed=claimed,
        grid=networks(text, [topology]),
        measured=lambda topology: counts(topology, *claimed),
        **said,
    )


@remembered
def most_legs(topology: str, routing: str) -> Measured:
    """Return the most legs that a header holds on any route, with the first pair."""
    network = open_topology(topology)
    found = np.zeros(3, np.int64)
    taken = rules(network, network.routing(routing), spare=SPARE)
    for sources, targets in Pairs(network).parts():
        walk_headers(taken, sources.copy(), targets.copy(), Legs(found))
    legs, source, target = found.tolist()
    return at_pair(legs, (source, target))


UNTOUCHED = -(1 << 62)
"""Value of a header's unwritten words, which is no leg."""

SPARE = 64
"""Number of words after the header that reveal a header that is too long."""


class Legs(NamedTuple):
    """Results of `walk_headers`: the most legs, with the first pair."""

    most: Ints


@inlined
def note_legs(visit, header, notes):
    """Record how many words after the first the header of a route has needed.

    Legs count even if a node writes and removes them before sending.
    """
    legs, most = header.size - 1, notes.most
    # Words are written from the front, so the last written word is the end of the stack.
    while header[legs] == UNTOUCHED:
        legs -= 1
    if legs > most[0]:
        most[0], most[1], most[2] = legs, visit.source, visit.target
    return False


walk_headers = walk.bind("walk_headers", notes=Legs, ended=note_legs, BLANK=UNTOUCHED)
