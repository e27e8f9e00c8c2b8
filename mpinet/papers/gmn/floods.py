"""Distances and broadcasts by floods, from one sector only if all sectors are equivalent."""

from __future__ import annotations

import numpy as np

from mpinet.claims import BEYOND, Measured, claim
from mpinet.claims.remembered import remembered
from mpinet.machine import Machine
from mpinet.networks import open as open_topology
from mpinet.networks.topology import Topology
from mpinet.papers.gmn.grids import MID, parameters, size_of
from mpinet.papers.measured import Distances, checked_distances
from mpinet.papers.witness import farthest
from mpinet.programs.broadcast import broadcast


def looks_alike(network: Topology, by: int) -> bool:
    """Return whether the translation u -> u + by maps every port to the port of the same number."""
    nodes = np.arange(network.size)[:, np.newaxis]
    behind = network.neighbor(nodes, np.arange(network.ports))
    moved = np.where(behind < 0, behind, (behind + by) % network.size)
    # Equality port by port is stricter than a symmetry of links, and needs no search.
    return bool(np.array_equal(np.roll(moved, by, axis=0), behind))


@remembered
def sector_distances(topology: str) -> Distances:
    """Return distances from sector 0 to all nodes; from all nodes if sectors are not equivalent.

    Returns
    -------
    ndarray of int16, shape (m, N) or (N, N)
    """
    network = open_topology(topology)
    m, _ = parameters(topology)
    return checked_distances(topology, range(m) if looks_alike(network, m) else None)


@remembered
def diameter(topology: str) -> Measured:
    """Return the diameter of G(m,N), with a pair."""
    return farthest(sector_distances(topology))


@claim(
    "GMN-X-broadcast",
    place=BEYOND,
    statement="the one-port broadcast along the tree of floods takes at most 1.6 times the lower "
    "bound, from every root",
    relation="<=",
    claimed=1.6,
    grid=MID.quick(lambda topology: size_of(topology) <= 112),
    cost=lambda topology: 100 * size_of(topology),
)
def broadcast_factor(topology: str) -> Measured:
    """Return the largest ratio of steps and bound, with its root.

    Roots of sector 0 stand for all roots if all sectors are alike.
    """
    network = open_topology(topology)
    m, N = parameters(topology)
    worst = Measured(0.0)
    for root in range(m if looks_alike(network, m) else N):
        found = broadcast(Machine(network, "one"), root, "floodtree")
        factor = found.steps / found.lower_bound if found.informed == N else float(N)
        if factor > worst.value:
            there = {"root": root, "steps": found.steps, "bound": int(found.lower_bound)}
            worst = Measured(factor, there)
    return worst
