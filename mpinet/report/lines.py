"""Links in pictures: curves around nodes, stubs of wraparound links, kinds of links."""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.base.arrays import Flags, Ints
from mpinet.networks.product import Product
from mpinet.networks.topology import Topology
from mpinet.report.layout import LAYOUTS, line_sides
from mpinet.report.shapes import WINDOW, Points, nearest

MOST_LOOKS = 200_000_000
"""Largest number of pairs of a link and a node for which curved links are computed."""

NEAR = 0.16
"""Minimum distance between a link and a third node, in units of the smallest node distance."""

MANY_GLOBAL = 100
"""Number of links between groups above which these links are faded."""

STUB = 0.5
"""Length of a stub, in grid steps."""


def bends(points: Points, links: Ints) -> Points:
    """Choose the curvature of links to keep each link away from third nodes.

    Parameters
    ----------
    points : ndarray of float64, shape (N, 2)
        Positions of the nodes.
    links : ndarray of int64, shape (L, 2)
        Ends of the links.

    Returns
    -------
    ndarray of float64, shape (L,)
        Distance of a link's middle to the left of the straight line from first to second end; 0 for
        a straight link.
    """
    bent = np.zeros(len(links))
    if len(points) < 3 or len(links) == 0:
        return bent
    room = nearest(points)
    # Both ends are at least a `room` away from any third node. A link shorter than two rooms meets
    # no third node.
    long = np.flatnonzero(np.hypot(*(points[links[:, 1]] - points[links[:, 0]]).T) > 1.9 * room)
    # Curves help in small pictures. In large pictures they are invisible and take minutes.
    if len(points) * len(long) > MOST_LOOKS:
        return bent
    rows = max(1, WINDOW // len(points))
    for begin in range(0, len(long), rows):
        part = long[begin : begin + rows]
        bent[part[_nodes_met(points, links[part], NEAR * room)]] = 0.45 * room
    return bent


def _nodes_met(points: Points, links: Ints, near: float) -> Flags:
    """Return whether each link runs over a third node."""
    start = points[links[:, 0]]
    way = points[links[:, 1]] - start
    length = np.maximum(np.hypot(*way.T), 1e-12)
    along = way / length[:, np.newaxis]
    relative = points[np.newaxis] - start[:, np.newaxis]
    ahead = (relative * along[:, np.newaxis]).sum(axis=2)
    beside = relative[..., 1] * along[:, :1] - relative[..., 0] * along[:, 1:]
    # The ends are nodes themselves, so nodes within `near` of an end are ignored.
    inside = (ahead > near) & (ahead < length[:, np.newaxis] - near)
    met: Flags = (inside & (np.abs(beside) < near)).any(axis=1)
    return met


def stubs(network: Topology, points: Points, links: Ints) -> Points:
    """Choose the wraparound links of a grid, which are drawn as two stubs.

    Parameters
    ----------
    network : Topology
        The network.
    points : ndarray of float64, shape (N, 2)
        Positions of its nodes.
    links : ndarray of int64, shape (L, 2)
        Ends of the links.

    Returns
    -------
    ndarray of float64, shape (L, 2)
        Vector of the stub at a link's first end; the stub at the second end has the opposite
        direction. Zeros for links without stubs.
    """
    found = np.zeros((len(links), 2))
    sides, closed = closed_grid(network)
    if len(sides) < 2 or not any(closed):
        return found
    places = np.array(np.unravel_index(links, sides))  # dimension, link, end
    away = places[:, :, 0] - places[:, :, 1]
    longest = STUB * nearest(points)
    inner = len(sides) - (2 if len(sides) == 4 else 3)
    for dimension, side in enumerate(sides):
        if not closed[dimension]:
            continue
        step = points[np.prod(sides[dimension + 1 :], dtype=int)] - points[0]
        length = np.hypot(*step)
        if dimension < inner:  # a stub along a row of a small grid would be hidden
            step = step + 0.5 * np.array([-step[1], step[0]])
        stub = step * (min(STUB * length, longest) / np.hypot(*step))
        for sign in (1, -1):
            found[away[dimension] == sign * (side - 1)] = sign * stub
    return found


def closed_grid(network: Topology) -> tuple[list[int], list[bool]]:
    """Return the sides of a network drawn as a grid, and a flag for each ring; empty for others."""
    if network.family == "torus":
        sides: list[int] = list(getattr(network, "sides", ()))
        return sides, [side > 2 for side in sides]
    if isinstance(network, Product) and network.family not in LAYOUTS:
        factors = reversed(network.factors)
        closed = [each.family in ("ring", "torus") and each.size > 2 for each in factors]
        return line_sides(network) or [], closed
    return [], []


def kinds_of_links(network: Topology, links: Ints) -> Ints:
    """Return the kind of each link, shown as a colour, shape (L,); all 0 in most families."""
    made = KINDS.get(network.family)
    found: Ints = made(network, links) if made else np.zeros(len(links), np.int64)
    return found


def _halves(network: Any, links: Ints) -> Ints:
    """Return 0 for links between a Slim Fly's halves, 1 within the first, 2 within the second."""
    half = links // (network.q * network.q)
    return np.where(half[:, 0] != half[:, 1], 0, 1 + half[:, 0])


def _global(network: Any, links: Ints) -> Ints:
    """Return 3 for links between the groups of a large network of groups, 0 for other links."""
    group = (links - network.hosts) // network.together
    between = (links >= network.hosts).all(axis=1) & (group[:, 0] != group[:, 1])
    return np.where(between & (between.sum() > MANY_GLOBAL), 3, 0)


KINDS: dict[str, Any] = {"slimfly": _halves, "dragonfly": _global, "megafly": _global}
"""Functions that return the kinds of links, by family."""
