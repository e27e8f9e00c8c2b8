"""Hamiltonian cycles of the HDN by lifting cycles of its clusters (docs/papers/hdn, 8; ours).

Let i_0, ..., i_{n-1} be the level-k super-nodes in a cyclic order, and P_t a Hamiltonian path of a
cluster from (i_t, 0) to (i_{t+1}, 0). The cycle goes through the cluster i_t of class 0 along P_t,
across, through the cluster i_{t+1} of class 1 along P_t, across, and so on for all t.

Take nested super-nodes, J_1 containing J_2, and at most two levels. The order is then a Hamiltonian
cycle of the quotient HDN(B over the factors outside J_k, k-1, ...). Here i_t and i_{t+1} are
neighbours, and P_t is a cycle of the cluster without one link. Clusters have a transitive group of
symmetries that keeps port numbers. All P_t that close over the same port are therefore the same
path, moved. A rank holds a table of N_{k-1} ports for each closing port, and two words for each of
the 2 n_k clusters. For 6,480,000 processors these are some tens of thousands of words.

In all other cases, paths P_t are searched for. If the cluster is two-colourable, the order of
super-nodes alternates the colours. Each path has its own table: N_k / 2 ports in all. If J_1 is all
of B (n_1 = 1), the cycle walks a path of B, crosses, and walks back.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Protocol

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import Mapped, open_part, rule
from mpinet.networks.classic.grid import Mesh, Torus, next_of_rows, next_to_and_fro
from mpinet.networks.cycle import Cycle, cycle_order, ports_to
from mpinet.networks.hamiltonian import MOST_NODES, order_between
from mpinet.networks.hdn.base import PATH, Factor, Members
from mpinet.networks.hdn.levels import Digit, Levels, factor_ports
from mpinet.networks.wired import Wired

MOST_WORDS = 2**22
"""Most words of 8 bytes in a rank's tables."""

MOST_SEARCHED = 2**19
"""Most words of the tables of searched paths; every such path has its own table."""

UNIT, STEPS_AT, PATHS_AT, CLASS_WEIGHT, FACTORS, RECORDS = range(2, 8)
"""Places in the rule's parameters.

The first places are N_{k-1}, the place of the clusters' steps, and the place of the paths' tables.
Next are the weight of the class C_{k-1} in a cluster node's number (0 for k = 1), the number of
factors and their records.
"""

WEIGHT, SIDE, CLUSTER_WEIGHT, FACTOR_RECORD = range(4)
"""Places in a factor's record.

In order: the weight of its coordinate in a cluster node's number, its size, and the weight of its
digit in U_1 (0 = no such digit). U_1 is the number of the node's own level-1 cluster.
"""

ORIGIN, PATH_INDEX, STEP_RECORD = range(3)
"""Places in a cluster's record: the first node of its path, and the path's table."""

END = -1
"""Entry of a path's last node: the cycle crosses to the other class."""


class Dual(Wired, Protocol):
    """Protocol of the parts of `DualNet` that the lifting scheme uses."""

    levels: Levels

    def cycle(self) -> Cycle | None:
        """A Hamiltonian cycle."""


Make = Callable[[tuple[Factor, ...], tuple[Members, ...]], Dual]
"""Function that makes the network of a base and super-nodes."""


def lifted_cycle(topology: Dual, make: Make) -> Cycle | None:
    """Return the Hamiltonian cycle by the lifting scheme, or of the base if there are no levels.

    Parameters
    ----------
    topology : DualNet
        The network.
    make : callable
        Function of a base and super-nodes that makes the cluster or the quotient.

    Returns
    -------
    Cycle or None
        None if the scheme does not apply, or its tables would be too large (`MOST_WORDS`,
        `MOST_SEARCHED`).
    """
    levels = topology.levels
    if levels.count == 0:
        return base_cycle(topology)
    unit, clusters = levels.sizes[-2], levels.clusters(levels.count)
    # All clusters share a path per closing port. The tables grow with one cluster and the number of
    # clusters, not with the network.
    if STEP_RECORD * 2 * clusters + topology.ports * unit > MOST_WORDS:
        return None
    cluster = make(levels.base, levels.members[:-1])
    around = cluster.cycle()
    if around is None:
        return None
    order = _renumbered(cycle_order(cluster, around), cluster.levels.digits(), levels.digits()[2:])
    # If a super-node is a whole cluster, both classes have one cluster each. The path there and
    # back closes over two cross links.
    if clusters == 1:
        return _there_and_back(topology, order)
    if levels.count <= 2 and _nested(levels.members):
        super_nodes = quotient_order(topology, make)
        return None if super_nodes is None else _of_symmetric_clusters(topology, order, super_nodes)
    return _of_searched_paths(topology, order)


def base_cycle(topology: Dual) -> Cycle | None:
    """Return the cycle of a base that is a torus or mesh; None for a mixed base."""
    base = topology.levels.base
    kinds = {factor.kind == PATH for factor in base}
    if len(kinds) > 1:
        return None
    sides = [factor.size for factor in base]
    grid, walk = (Mesh(sides), next_in_mesh) if kinds == {True} else (Torus(sides), next_in_torus)
    cycle = grid.cycle()
    if cycle is None:
        return None
    names: list[int] = []
    first = 0
    for factor in base:
        count = factor_ports(factor)
        # A torus has two ports per factor, a complete graph one port per other node. Steps +1 and
        # -1 are the first and the last of these ports.
        names += [first] if count == 1 else [first, first + count - 1]
        first += count
    head = [topology.size, topology.ports, PORT_NAMES + len(names)]
    return Cycle("base", walk, np.concatenate([head, names, cycle.params]))


def quotient_order(topology: Dual, make: Make) -> Ints | None:
    """Return the level-k super-nodes along a cycle of the quotient; J_k is within all other J."""
    levels, top = topology.levels, topology.levels.members[-1]
    outside = levels.outside(top)
    if not outside:
        return np.arange(levels.clusters(levels.count))
    rest = tuple(
        tuple(outside.index(j) for j in members if j in outside) for members in levels.members[:-1]
    )
    quotient = make(tuple(levels.base[j] for j in outside), rest)
    cycle = quotient.cycle()
    if cycle is None:
        return None
    order = cycle_order(quotient, cycle)
    number = np.zeros_like(order)
    for weight, radix in quotient.levels.digits():
        number = number * radix + order // weight % radix
    return number


def _nested(members: tuple[Members, ...]) -> bool:
    """Return whether every level's super-node contains the next one's."""
    return all(set(inner) <= set(outer) for outer, inner in pairwise(members))


def _renumbered(nodes: Ints, digits: list[Digit], others: list[Digit]) -> Ints:
    """Return the node numbers with their digits moved to other places."""
    moved = np.zeros_like(nodes)
    for (weight, radix), (other, _) in zip(digits, others, strict=True):
        moved += nodes // weight % radix * other
    return moved


def _lifted_cycle(topology: Dual, steps: Ints, paths: list[Ints]) -> Cycle:
    """Return the cycle of these steps (origin, path) by cluster and tables of ports by path."""
    head = _head(topology)
    paths_at = len(head) + steps.size
    head[STEPS_AT], head[PATHS_AT] = len(head), paths_at
    return Cycle("lifted", next_lifted, np.concatenate([head, steps.ravel(), *paths]))


def _head(topology: Dual) -> Ints:
    """Return the parameters of `moved`: a cluster node's class and digits, up to two levels."""
    levels = topology.levels
    head = [topology.size, topology.ports, levels.sizes[-2], 0, 0, 0, 0]
    if levels.count > 2:
        return np.array(head)
    head[FACTORS] = len(levels.base)
    cluster_weights = dict.fromkeys(range(len(levels.base)), 0)
    if levels.count == 2:
        head[CLASS_WEIGHT] = levels.clusters(1) * levels.sizes[0]
        weight = levels.sizes[0]
        for j in reversed(levels.outside(levels.members[0])):
            cluster_weights[j] = weight
            weight *= levels.base[j].size
    for j, (weight, side) in enumerate(levels.coordinates):
        head += [weight, side, cluster_weights[j]]
    return np.array(head)


def _path_table(topology: Dual, path: Ints) -> Ints:
    """Return the ports along a path through all nodes of a cluster, by node."""
    table = np.full(path.size, END)
    table[path[:-1]] = ports_to(topology, path[:-1], path[1:])
    return table


def _there_and_back(topology: Dual, order: Ints) -> Cycle:
    """Return the cycle for one cluster in each class: a path, across, and the same path back."""
    tables = [_path_table(topology, path) for path in (order, order[::-1])]
    return _lifted_cycle(topology, np.array([[0, 0], [0, 1]]), tables)


def _starts(topology: Dual, super_nodes: Ints) -> Ints:
    """Return the numbers of the nodes (i, 0) in a cluster."""
    # Nodes of a super-node are consecutive, because the coordinates outside it come first in a
    # number.
    return super_nodes * topology.levels.super_size(topology.levels.count)


def _steps(super_nodes: Ints, origins: Ints, indices: Ints) -> Ints:
    """Return the steps by cluster: in class 0 from its super-node, in class 1 to it."""
    steps = np.empty((2, super_nodes.size, STEP_RECORD), np.int64)
    steps[0, super_nodes] = np.stack([origins, indices], axis=1)
    steps[1, np.roll(super_nodes, -1)] = steps[0, super_nodes]
    return steps


def _of_symmetric_clusters(topology: Dual, order: Ints, super_nodes: Ints) -> Cycle:
    """Return the cycle for adjacent super-nodes: the cluster's cycle without a link, moved."""
    starts = _starts(topology, super_nodes)
    # All gaps that the same port closes use one path, moved by an automorphism. There are at most
    # as many paths as ports.
    ports, indices = np.unique(ports_to(topology, starts, np.roll(starts, -1)), return_inverse=True)
    head = _head(topology)
    unit = len(order)
    ahead = ports_to(topology, order, np.roll(order, -1))
    back = ports_to(topology, order, np.roll(order, 1))
    tables = []
    for port in ports:
        path = _path_without(order, ahead, back, port)
        moves = Mapped(moved, head, nodes=unit, ports=unit)
        tables.append(_path_table(topology, moves(path, path[0])))
    return _lifted_cycle(topology, _steps(super_nodes, starts, indices), tables)


def _path_without(order: Ints, ahead: Ints, back: Ints, port: int) -> Ints:
    """Return a cycle without a link at the given port, as the path from the port's node."""
    against = np.flatnonzero(back == port)
    if against.size:
        return np.roll(order, -against[0])
    return np.roll(order[::-1], np.flatnonzero(ahead == port)[0] + 1)


def _of_searched_paths(topology: Dual, order: Ints) -> Cycle | None:
    """Return the cycle from searched paths, with super-nodes of alternating colours."""
    unit, clusters = len(order), topology.levels.clusters(topology.levels.count)
    if unit > MOST_NODES or clusters * unit > MOST_SEARCHED:
        return None
    nodes = np.arange(unit)
    neighbors = topology.neighbor(nodes[:, np.newaxis], np.arange(topology.ports - 1))
    color = np.empty(unit, np.int64)
    color[order] = np.arange(unit) % 2
    super_nodes = np.arange(clusters)
    # A Hamiltonian path of an even bipartite cluster joins two nodes of different colours. The
    # order of super-nodes has to alternate.
    if unit % 2 == 0 and (color[neighbors] != color[:, np.newaxis]).all():
        of_color = [super_nodes[color[_starts(topology, super_nodes)] == c] for c in (0, 1)]
        # If one colour has more super-nodes, colours cannot alternate round a cycle. No choice of
        # paths would help.
        if of_color[0].size != of_color[1].size:
            return None
        super_nodes = np.stack(of_color, axis=1).ravel()
    starts = _starts(topology, super_nodes)
    tables = []
    for start, end in zip(starts, np.roll(starts, -1), strict=True):
        path = order_between(neighbors, start, end)
        if path is None:
            return None
        tables.append(_path_table(topology, path))
    steps = _steps(super_nodes, np.zeros_like(starts), np.arange(clusters))
    return _lifted_cycle(topology, steps, tables)


@rule
def next_lifted(node, way, params):
    """Return the next port of the path of the node's cluster, or the cross port at its end."""
    above = node // params[UNIT]
    step = params[STEPS_AT] + STEP_RECORD * above
    place = moved(node - above * params[UNIT], params[step + ORIGIN], params)
    port = params[params[PATHS_AT] + params[step + PATH_INDEX] * params[UNIT] + place]
    return params[1] - 1 if port == END else port


@rule
def moved(node, origin, params):
    """Return a node's image under the automorphism of its cluster that maps `origin` to 0.

    The automorphism keeps port numbers. In a base it shifts coordinates. In a level-1 cluster of
    class 0 it shifts U by the origin's U and SN by the origin's SN, in class 1 the other way round.
    The shared N is shifted as well. If the origin has class 1, the classes are exchanged.
    """
    if origin == 0:
        return node
    exchanged, weight = 0, params[CLASS_WEIGHT]
    # In class 1 the parts U and SN have changed places. The exchange has to be undone before both
    # are shifted.
    if weight > 0:
        exchanged = (node // weight + origin // weight) & 1
    place = exchanged * weight
    for record in range(RECORDS, RECORDS + FACTOR_RECORD * params[FACTORS], FACTOR_RECORD):
        side, unit, above = (
            params[record + SIDE],
            params[record + WEIGHT],
            params[record + CLUSTER_WEIGHT],
        )
        shift, shift_above = origin // unit, 0
        if above > 0:
            shift_above = origin // above
            if exchanged:
                shift, shift_above = shift_above, shift
            place += (node // above - shift_above) % side * above
        place += (node // unit - shift) % side * unit
    return place


PORT_NAMES = 3
"""Place of the grid's port names in the parameters of a base's cycle, after the place of its
own.
"""


# The cycle of a mesh or torus, which `bind` inserts.
walked = open_part


@rule
def next_in_base(node, way, params):
    """Return the next port of the grid's cycle, by its number in the base."""
    return params[PORT_NAMES + walked(node, way, params[params[2] :])]


next_in_mesh = next_in_base.bind("next_in_mesh", walked=next_to_and_fro)
next_in_torus = next_in_base.bind("next_in_torus", walked=next_of_rows)
