"""Shortest-path routing by a table: the stateless rule for networks without a rule of their own.

The message leaves on the lowest port whose neighbour is one hop closer (docs/papers/gmn, 4.4). The
table has this port for a few *representatives* and every target. A network whose translations keep
port numbers needs one representative; a network without symmetry needs all nodes. Each rank fills
the table by breadth-first searches with the local rule.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Halves, Ints, Table
from mpinet.base.effort import require_walk
from mpinet.compiled import Rule, inlined, kernel, rule
from mpinet.errors import UsageError
from mpinet.networks.routing import ARRIVED, STUCK, Routing, stateless
from mpinet.networks.wired import Wired

MAX_ENTRIES = 2**25
"""Most table entries (2 bytes each) that a rank may hold: 64 MiB."""

HERE = 0xFFFF
UNREACHABLE = 0xFFFE
REPRESENTATIVES, FIRST_WORD = 2, 3
"""Places in the rule's parameters: the number of representatives, and the table's start."""


def table_routing(
    topology: Wired, decide: Rule | None = None, representatives: int | None = None
) -> Routing:
    """Return shortest-path routing of any network by a table of first ports.

    Parameters
    ----------
    topology : Topology
        The network.
    decide : Rule, optional
        The family's rule that finds the entry by symmetry (see `entry`). Default: an entry for
        every (node, target).
    representatives : int, optional
        Number of representatives, the nodes 0..representatives-1 (goes with `decide`). Default: all
        nodes.

    Raises
    ------
    UsageError
        The table would have more than `MAX_ENTRIES` entries, or take too long to fill.
    """
    rows = topology.size if representatives is None else representatives
    # Every rank holds the whole table, and more ranks do not help. The limit of 64 MiB keeps
    # many ranks on one host possible.
    if rows * topology.size > MAX_ENTRIES:
        reason = (
            "has no routing rule of its own and no symmetry that one table could serve"
            if representatives is None
            else f"needs a table of {rows} x {topology.size} entries"
        )
        raise UsageError(
            f"{topology.name} {reason}: shortest-path tables are made up to {MAX_ENTRIES} entries "
            f"a rank, this one would have {rows * topology.size}."
        )
    # Every rank fills the whole table. More ranks make the computation no faster.
    looks = rows * topology.size * topology.ports
    require_walk(looks, f"A table of shortest paths in {topology.name}", ranks=1)
    table = first_port_table(topology, rows)
    # The table is part of the parameters, since rules see nothing else. The rule for reading the
    # table is compiled once for all networks.
    params = np.concatenate([np.array([topology.size, topology.ports, rows]), table])
    return stateless("shortest", decide or decide_by_pair, topology, params)


def first_port_table(topology: Wired, representatives: int) -> Ints:
    """Compute the first port of a shortest path from each representative to every target.

    Returns
    -------
    ndarray of int64, shape (ceil(representatives * N / 4),)
        Row after row of 16-bit entries, four to a word.
    """
    size = topology.size
    entries = np.full(-(-representatives * size // 4) * 4, UNREACHABLE, np.uint16)
    neighbors = neighbor_table(topology)
    fill_first_ports(neighbors, representatives, entries)
    return packed(entries)


def packed(entries: Halves) -> Ints:
    """Pack 16-bit entries, four to a word, for `entry`; their number is a multiple of four."""
    # The lowest entry is in the lowest bits on every computer, as `entry` expects.
    return entries.astype("<u2", copy=False).view("<i8").astype(np.int64, copy=False)


def neighbor_table(topology: Wired) -> Ints:
    """Return the neighbours of all nodes by port, shape (N, ports), -1 for unwired ports."""
    nodes = np.arange(topology.size)[:, np.newaxis]
    return topology.neighbor(nodes, np.arange(topology.ports)[np.newaxis, :])


def levels(neighbors: Table, root: int) -> Ints:
    """Return the nodes' distances from a root; the number of nodes for unreachable nodes."""
    size = len(neighbors)
    found = np.full(size, size, np.int64)
    found[root], fresh, level = 0, np.array([root]), 0
    while fresh.size:
        level += 1
        others = np.unique(neighbors[fresh])
        fresh = others[(others >= 0) & (found[others] == size)]
        found[fresh] = level
    return found


@kernel
def fill_first_ports(neighbors: Table, representatives: int, entries: Halves) -> None:
    """Fill the table of lowest first ports, by a search from each representative."""
    size, ports = neighbors.shape
    distance = np.empty(size, np.int64)
    queue = np.empty(size, np.int64)
    for source in range(representatives):
        first = entries[source * size : (source + 1) * size]
        distance[:] = -1
        distance[source] = 0
        # The value 0xFFFF is no port, because port numbers in tables are smaller. One 16-bit entry
        # therefore means arrived, stuck or a port.
        first[source] = HERE
        queue[0] = source
        head, tail = 0, 1
        while head < tail:
            node = queue[head]
            head += 1
            for port in range(ports):
                other = neighbors[node, port]
                if other < 0:
                    continue
                # The search passes first ports on. Only the source's own row is kept, and no
                # predecessor has to be stored.
                through = port if node == source else first[node]
                if distance[other] < 0:
                    distance[other] = distance[node] + 1
                    first[other] = through
                    queue[tail] = other
                    tail += 1
                elif distance[other] == distance[node] + 1 and through < first[other]:
                    # All nodes one hop closer leave the queue before `other` does. The first port
                    # of `other` is the lowest of their first ports before the search passes it on.
                    first[other] = through


@inlined
def entry(params, index):
    """Return the first port, or a status, in the table's entry `index`."""
    word = params[FIRST_WORD + (index >> 2)]
    port = (word >> (16 * (index & 3))) & 0xFFFF
    if port == HERE:
        return ARRIVED
    return STUCK if port == UNREACHABLE else port


@rule
def decide_by_pair(node, header, params):
    """Return the entry of the pair (node, target), for networks without symmetry."""
    return entry(params, node * params[0] + header[0])


@rule
def decide_by_difference(node, header, params):
    """Return the entry of target - node, for networks whose translations keep ports."""
    # A translation moves the node to 0 and keeps every port number. One row of the table serves
    # all nodes.
    return entry(params, (header[0] - node) % params[0])
