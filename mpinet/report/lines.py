"""The drawing of links: swerves round nodes, stubs of links that close rings, kinds of links."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mpinet.base.arrays import Flags, Ints
from mpinet.networks.product import Product
from mpinet.networks.topology import Topology
from mpinet.report.layout import LAYOUTS, line_sides
from mpinet.report.shapes import WINDOW, Points, nearest

MOST_LOOKS = 200_000_000
"""Most pairs of a link and a node for which links swerve round nodes."""

NEAR = 0.16
"""Distance between a link and a node that it must not touch, in least distances of two nodes."""

STUB = 0.5
"""Length of a stub, in steps of its grid."""


def bends(points: Points, links: Ints) -> Points:
    """Choose the swerves of links so that they do not run over a third node.

    Parameters
    ----------
    points : ndarray of float64, shape (N, 2)
        Places of the nodes.
    links : ndarray of int64, shape (L, 2)
        Ends of the links.

    Returns
    -------
    ndarray of float64, shape (L,)
        What a link's middle lies to the left of the straight way from its first end to its second;
        0 where nothing is on the way.
    """
    bent = np.zeros(len(links))
    if len(points) < 3 or len(links) == 0:
        return bent
    room = nearest(points)
    # Both ends are a `room` away from any third node: on a link of less than two there is none.
    long = np.flatnonzero(np.hypot(*(points[links[:, 1]] - points[links[:, 0]]).T) > 1.9 * room)
    # Swerves help the eye in small pictures. In large ones they cannot be seen, and cost minutes.
    if len(points) * len(long) > MOST_LOOKS:
        return bent
    rows = max(1, WINDOW // len(points))
    for begin in range(0, len(long), rows):
        part = long[begin : begin + rows]
        bent[part[_nodes_met(points, links[part], NEAR * room)]] = 0.45 * room
    return bent


def _nodes_met(points: Points, links: Ints, near: float) -> Flags:
    """Tell if each link runs over a third node."""
    start = points[links[:, 0]]
    way = points[links[:, 1]] - start
    length = np.maximum(np.hypot(*way.T), 1e-12)
    along = way / length[:, np.newaxis]
    relative = points[np.newaxis] - start[:, np.newaxis]
    ahead = (relative * along[:, np.newaxis]).sum(axis=2)
    beside = relative[..., 1] * along[:, :1] - relative[..., 0] * along[:, 1:]
    # The ends are themselves nodes, so nodes within `near` of an end do not count.
    inside = (ahead > near) & (ahead < length[:, np.newaxis] - near)
    met: Flags = (inside & (np.abs(beside) < near)).any(axis=1)
    return met


def stubs(network: Topology, points: Points, links: Ints) -> Points:
    """Choose the links of a grid that are drawn as two stubs: those that close its rings.

    Parameters
    ----------
    network : Topology
        The network.
    points : ndarray of float64, shape (N, 2)
        Places of its nodes.
    links : ndarray of int64, shape (L, 2)
        Ends of the links.

    Returns
    -------
    ndarray of float64, shape (L, 2)
        Where the stub at the first end leads, from that end; the one at the second end leads the
        opposite way. Zeros for links that are drawn whole.
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
        if dimension < inner:  # a grid of grids: along a row of the small ones it would be hidden
            step = step + 0.5 * np.array([-step[1], step[0]])
        stub = step * (min(STUB * length, longest) / np.hypot(*step))
        for sign in (1, -1):
            found[away[dimension] == sign * (side - 1)] = sign * stub
    return found


def closed_grid(network: Topology) -> tuple[list[int], list[bool]]:
    """Sides of a network that is drawn as a grid, and which of them are rings; else none."""
    if network.family == "torus":
        sides: list[int] = list(getattr(network, "sides", ()))
        return sides, [side > 2 for side in sides]
    if isinstance(network, Product) and network.family not in LAYOUTS:
        factors = reversed(network.factors)
        closed = [each.family in ("ring", "torus") and each.size > 2 for each in factors]
        return line_sides(network) or [], closed
    return [], []


def kinds_of_links(network: Topology, links: Ints) -> Ints:
    """Kinds of links that are told apart by colours, shape (L,); all 0 in most families."""
    return KINDS.get(network.family, _alike)(network, links)


def _alike(network: Any, links: Ints) -> Ints:
    return np.zeros(len(links), np.int64)


def _halves(network: Any, links: Ints) -> Ints:
    """Links between the halves of a Slim Fly: 0; within the first: 1, within the second: 2."""
    half = links // (network.q * network.q)
    return np.where(half[:, 0] != half[:, 1], 0, 1 + half[:, 0])


KINDS: dict[str, Callable[[Any, Ints], Ints]] = {"slimfly": _halves}
"""Kinds of links, by family."""
