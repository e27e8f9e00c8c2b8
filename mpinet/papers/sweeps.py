"""Sweeps by a network's neighbour rule: counts of reached nodes, and classes of equivalent nodes.

In networks of millions of nodes, sweeps count the nodes and measure the diameter with the neighbour
rule alone. A map from each link to a link of the same port is a symmetry. It is determined by the
image of node 0, extended from there, and checked at every port. Nodes related by symmetries have
the same distances, so one node of each class is enough for the diameter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mpinet.base.arguments import PortRule
from mpinet.base.arrays import Flags, Ints, Shorts
from mpinet.claims import Measured, OutOfReach
from mpinet.claims.remembered import remembered
from mpinet.compiled import inlined, kernel
from mpinet.draws import shuffled
from mpinet.errors import Disconnected
from mpinet.networks import open as open_topology
from mpinet.networks.topology import Topology
from mpinet.papers.witness import at_pair

MOST_FAILURES = 4000
"""Number of failed images of node 0 after which the search for symmetries ends."""

MOST_SWEPT = 2 * 10**8
"""Largest number of nodes times classes that is swept."""


@kernel
def sweep(
    neighbor_rule: PortRule,
    params: Ints,
    ports: int,
    root: int,
    mark: int,
    queue: Ints,
    distances: Shorts,
    marks: Ints,
) -> int:
    """Mark the nodes that `root` reaches by the first ports, write distances; return the count."""
    neighbor = neighbor_rule.call
    queue[0], distances[root], marks[root] = root, 0, mark
    head, tail = 0, 1
    while head < tail:
        u = queue[head]
        head += 1
        for port in range(ports):
            v = neighbor(u, port, params)
            if v >= 0 and distances[v] < 0:
                distances[v] = distances[u] + 1
                marks[v] = mark
                queue[tail] = v
                tail += 1
    return tail


@remembered(most=128)
def reached(topology: str) -> int:
    """Return the number of nodes that node 0 reaches, including node 0."""
    network = open_topology(topology)
    return int(swept(network, 0)[0])


def swept(network: Topology, root: int) -> tuple[int, NDArray[np.int32]]:
    """Return the number of nodes that `root` reaches, and all distances (-1: not reached)."""
    distances = np.full(network.size, -1, np.int32)
    queue, marks = np.empty(network.size, np.int64), np.zeros(network.size, np.int64)
    rule = network.neighbor.native
    count = sweep(rule, network.params, network.ports, root, 0, queue, distances, marks)
    return count, distances


def pieces(network: Topology, ports: int) -> Ints:
    """Return each node's component number, from 0 on, if only the first ports are wired."""
    distances = np.full(network.size, -1, np.int32)
    queue, marks = np.empty(network.size, np.int64), np.full(network.size, -1, np.int64)
    rule, found = network.neighbor.native, 0
    for node in range(network.size):
        if marks[node] < 0:
            sweep(rule, network.params, ports, node, found, queue, distances, marks)
            found += 1
    return marks


@kernel
def follow(
    neighbor_rule: PortRule, params: Ints, root: int, image: Ints, queue: Ints, taken: Flags
) -> int:
    """Extend the map from node 0 to `root` port by port; return whether it is a symmetry.

    `image` contains -1 before the call, and again after a failed attempt.
    """
    neighbor = neighbor_rule.call
    image[0], queue[0] = root, 0
    head, tail, right = 0, 1, True
    # In a connected network the image of node 0 determines all others, so a wrong guess fails after
    # few nodes.
    while head < tail and right:
        u = queue[head]
        head += 1
        for port in range(params[1]):
            v = neighbor(u, port, params)
            w = neighbor(image[u], port, params)
            if v < 0 or w < 0:
                right = right and v == w
            elif image[v] < 0:
                image[v] = w
                queue[tail] = v
                tail += 1
            else:
                right = right and image[v] == w
    # A map checked on only a part of the network proves nothing about the rest.
    right = right and tail == params[0]
    if right:
        taken[:] = False
        for i in range(tail):
            taken[image[queue[i]]] = True
        for u in range(params[0]):
            right = right and taken[u]
    if not right:
        # Only written entries are cleared, which keeps thousands of failed attempts cheap in large
        # networks.
        for i in range(tail):
            image[queue[i]] = -1
    return right


@inlined
def lowest(parent, node):
    """Return the node that represents a node's class."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@kernel
def merge(parent: Ints, image: Ints) -> None:
    """Put each node into the class of its image."""
    for u in range(parent.size):
        first, second = lowest(parent, u), lowest(parent, image[u])
        parent[max(first, second)] = min(first, second)
    for u in range(parent.size):
        parent[u] = lowest(parent, u)


def representatives(network: Topology) -> Ints:
    """Return the lowest node of each class of equivalent nodes, as far as symmetries are found."""
    size = network.size
    parent, image = np.arange(size), np.full(size, -1)
    queue, taken = np.empty(size, np.int64), np.zeros(size, bool)
    different: set[int] = set()
    classes, draws = size, iter(range(size))
    # A missed symmetry costs only one more sweep. The diameter is correct with any number of
    # classes.
    while len(different) < min(classes - 1, MOST_FAILURES):
        # Near neighbours of node 0 are often equivalent. Nodes from the whole network find
        # generators sooner.
        node = shuffled(next(draws), size, 0)
        if parent[node] == 0 or parent[node] in different:
            continue
        if follow(network.neighbor.native, network.params, node, image, queue, taken):
            merge(parent, image)
            image[:] = -1
            different = {int(parent[other]) for other in different}
            classes = len(np.unique(parent))
        else:
            different.add(int(parent[node]))
    return np.unique(parent)


@dataclass(frozen=True)
class FarthestPair:
    """Number of nodes of a network, its diameter in hops, and a pair of nodes at this distance."""

    nodes: int
    diameter: int
    ends: tuple[int, int]

    @property
    def measured(self) -> Measured:
        """Return the diameter with its pair."""
        return at_pair(self.diameter, self.ends)


@remembered
def reach(topology: str) -> FarthestPair:
    """Return the farthest pair, by a sweep from one node of every class.

    Raises
    ------
    OutOfReach
        The number of nodes times classes exceeds `MOST_SWEPT`.
    """
    network = open_topology(topology)
    roots = representatives(network).tolist()
    if len(roots) * network.size > MOST_SWEPT:
        raise OutOfReach(f"{len(roots)} of the {network.size} nodes of {topology} look different")
    found = FarthestPair(network.size, -1, (0, 0))
    for root in roots:
        count, distances = swept(network, root)
        if count != network.size:
            raise Disconnected(f"{topology} is in pieces: {root} reaches {count} nodes.")
        farthest = int(distances.argmax())
        if distances[farthest] > found.diameter:
            found = FarthestPair(network.size, int(distances[farthest]), (root, farthest))
    return found
