"""Measures of networks that several claims share; each is taken once."""

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
    """An HDN by its string: one with the paper's addresses."""
    network = open_topology(topology)
    assert isinstance(network, DualNet)
    return network


@remembered(most=16)
def lengths(topology: str, routing: str) -> Lengths:
    """Hops of all routes, walked link by link; -1 where one does not arrive."""
    return measure.length_matrix(topology, routing)


@remembered(most=256)
def diameter(topology: str) -> Measured:
    """The diameter with a pair: by floods, in large networks by sweeps from each class of nodes."""
    # Up to R1's sizes all pairs are flooded, so that the diameter rests on no symmetry at all.
    if open_topology(topology).size <= MOST:
        return farthest(distances(topology))
    return reach(topology).measured


@remembered(most=256)
def degree(topology: str) -> Any:
    """The degree of all nodes as a simple graph, or in words how many have which degree."""
    return common(degrees(topology))


@remembered(most=16)
def addresses(topology: str, level: int) -> Ints:
    """The addresses (C, U, SN, N) of all nodes at a level, shape (N, 4)."""
    network = dual_net(topology)
    return np.array([network.level_address(node, level) for node in range(network.size)])


def cross_port(network: Topology, k: int, level: int) -> int:
    """The port of the cross-edges of a level: they come last, in order."""
    return network.ports - k + level - 1


def across(network: Topology, port: int) -> Ints:
    """The node behind a port of every node."""
    return network.neighbor(np.arange(network.size), port)


@remembered
def dissection(topology: str) -> dict[str, Any]:
    """Take the cross-edges of the highest level away, and count what is left and what they joined.

    A number that is not the same everywhere is a text that says how often which one is found.
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
"""Numbers of a network that need no dissection."""


def counts(topology: str, *names: str) -> dict[str, Any]:
    """Some of the numbers by which the paper's text and figures describe a network, measured."""
    return {
        name: WHOLE[name](topology) if name in WHOLE else dissection(topology)[name]
        for name in names
    }


def described(id: str, *, topology: str, text: str, claimed: dict[str, int], **said: Any) -> Claim:
    """A claim of the numbers by which the paper describes one network; `text` names its grid."""
    return claim(
        id,
        claimed=claimed,
        grid=networks(text, [topology]),
        measured=lambda topology: counts(topology, *claimed),
        **said,
    )


@remembered
def most_legs(topology: str, routing: str) -> Measured:
    """The most legs that a header holds on any route, and the first pair with them."""
    network = open_topology(topology)
    found = np.zeros(3, np.int64)
    taken = rules(network, network.routing(routing), spare=SPARE)
    for sources, targets in Pairs(network).parts():
        walk_headers(taken, sources.copy(), targets.copy(), Legs(found))
    legs, source, target = found.tolist()
    return at_pair(legs, (source, target))


UNTOUCHED = -(1 << 62)
"""Content of a header's words that have never been written: no leg."""

SPARE = 64
"""Words behind the header, so that one leg too many can be seen."""


class Legs(NamedTuple):
    """Results of `walk_headers`: the most legs, and the first pair with them."""

    most: Ints


@inlined
def note_legs(visit, header, notes):
    """Note how many words behind the first the header of a route has needed.

    Legs that a node writes and removes before it sends count, too.
    """
    legs, most = header.size - 1, notes.most
    # Words are only ever written from the front, so the first touched one from behind ends the
    # stack.
    while header[legs] == UNTOUCHED:
        legs -= 1
    if legs > most[0]:
        most[0], most[1], most[2] = legs, visit.source, visit.target
    return False


walk_headers = walk.bind("walk_headers", notes=Legs, ended=note_legs, BLANK=UNTOUCHED)
