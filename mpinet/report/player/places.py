"""Positions of nodes on a player's page: one per node, or one per group of nodes.

A large grid or hypercube is shown as a smaller network of the same family. Other large networks are
shown by their own clusters, or by groups of nodes that are close in the layout.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.networks import open as open_topology
from mpinet.networks.topology import Topology
from mpinet.report.layout import MOST_NODES, layout
from mpinet.report.lines import stubs
from mpinet.report.shapes import Points, circle
from mpinet.report.stress import stress_layout

SINGLE = 5000
"""Largest number of nodes for which every node is shown."""

GROUPS = 1024
"""Largest number of groups of a larger network."""

MOST_CLUSTERS = 512
"""Largest number of a network's own clusters that are used as groups."""


@dataclass(frozen=True)
class Places:
    """Groups of nodes on a page, with their positions."""

    groups: Ints
    """Group of each node, 0..G-1. Shape (N,)."""
    points: Points
    """Position of each group. Shape (G, 2)."""
    grid: Topology | None = None
    """Network of the groups, if its wraparound links are shown as stubs."""

    def stubs(self, links: Ints) -> Points:
        """Return the stub vectors of links between groups, as `mpinet.report.lines.stubs`."""
        if self.grid is None:
            return np.zeros((len(links), 2))
        return stubs(self.grid, self.points, links)


def places_of(network: Topology | None, nodes: int, moved: Ints) -> Places:
    """Find positions for the nodes of a recording.

    Parameters
    ----------
    network : Topology, optional
        The network, if mpinet knows it.
    nodes : int
        Number of nodes.
    moved : ndarray of int64, shape (k, 2)
        Pairs of nodes with a movement between them, used as links of an unknown network.
    """
    each = np.arange(nodes)
    if nodes > SINGLE:
        return _coarse(network, nodes)
    if network is not None:
        return Places(each, layout(network), network)
    links = np.unique(np.sort(moved, axis=1), axis=0)
    # Too few links for a connected network. A layout by distances would only show the components
    # side by side.
    if len(links) < nodes - 1:
        return Places(each, circle(nodes))
    points = stress_layout(nodes, links)
    return Places(each, points / max(1e-9, float(np.abs(points).max())))


def _coarse(network: Topology | None, nodes: int) -> Places:
    """Group the nodes of a large network."""
    if network is None:
        return _runs(nodes, -(-nodes // GROUPS))
    if network.family in ("torus", "mesh"):
        return _coarse_grid(network, network.family)
    if network.family == "hypercube":
        dimensions = GROUPS.bit_length() - 1
        smaller = open_topology(f"hypercube:{dimensions}")
        return Places(np.arange(nodes) >> (network.ports - dimensions), layout(smaller), smaller)
    width = _cluster_width(network, nodes)
    if width is None and nodes > MOST_NODES:
        return _runs(nodes, -(-nodes // GROUPS))
    if nodes > MOST_NODES:
        return _runs(nodes, width or 1)
    points = layout(network)
    if width is not None:
        return _gathered(np.arange(nodes) // width, points)
    side = int(GROUPS**0.5)
    cells = np.clip((points + 1) / 2 * side, 0, side - 1).astype(np.int64)
    return _gathered(np.unique(cells @ [side, 1], return_inverse=True)[1].ravel(), points)


def _coarse_grid(network: Topology, family: str) -> Places:
    """Show each block of a torus or mesh as a node of a smaller network."""
    sides: list[int] = list(getattr(network, "sides", ()))
    block = 1
    # Blocks with equal sides keep the shape of the grid: a torus of blocks is a torus.
    while prod(-(-side // block) for side in sides) > GROUPS:
        block += 1
    fewer = [-(-side // block) for side in sides]
    at = np.array(np.unravel_index(np.arange(network.size), sides)) // block
    groups = np.ravel_multi_index(tuple(at), fewer)
    fewer = [side for side in fewer if side > 1]
    smaller = open_topology(f"{family}:{'x'.join(map(str, fewer))}")
    return Places(groups, layout(smaller), smaller)


def _cluster_width(network: Topology, nodes: int) -> int | None:
    """Return a width of the network's clusters that gives a suitable number of groups, or None."""
    if type(network).cluster_order is not None or network.hosts < nodes:
        return None
    widths = [len(run) for run in network.clusters(0)]
    fitting = [width for width in widths if 8 <= nodes / width <= MOST_CLUSTERS]
    return min(fitting, default=None)


def _runs(nodes: int, width: int) -> Places:
    """Group nodes with consecutive numbers and place the groups on a circle."""
    return Places(np.arange(nodes) // width, circle(-(-nodes // width)))


def _gathered(groups: Ints, points: Points) -> Places:
    """Place each group at the mean position of its nodes."""
    counts = np.bincount(groups)
    sums = [np.bincount(groups, weights=axis) for axis in points.T]
    return Places(groups, np.stack(sums, axis=1) / counts[:, np.newaxis])
