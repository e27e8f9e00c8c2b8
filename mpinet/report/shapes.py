"""Shapes in the plane that layouts are composed of: circles, grids, cubes, copies in one another.

A shape is an array of points, shape (count, 2), x to the right and y upwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

import numpy as np
from numpy.typing import NDArray

from mpinet.base.arrays import Ints

Points = NDArray[np.float64]
"""Places in the plane, shape (count, 2)."""

ROOM = 0.37
"""Radius of a copy of a shape, in distances to the next copy."""

SLANT = (0.36, 0.3)
"""Offset from a layer of a grid of three sides to the one behind."""

TILT = 0.16
"""Angle of a copy's turn, in radians."""

WINDOW = 1 << 22
"""Most distances between points that are computed at a time."""


def circle(count: int) -> Points:
    """Place points on the circle of radius 1, clockwise, the first one at the top."""
    angles = pi / 2 - 2 * pi * np.arange(count) / max(count, 1)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def row(count: int) -> Points:
    """Place points from left to right, 1 apart."""
    return np.stack([np.arange(float(count)), np.zeros(count)], axis=1)


def grid(sides: Sequence[int]) -> Points:
    """Place a grid's points in row-major order: the last side to the right, the one before down.

    A third side goes backwards, aslant. Of four sides the first two make a grid of grids, and so
    do further ones.
    """
    if len(sides) > 3:
        inside = grid(sides[-2:] if len(sides) == 4 else sides[-3:])
        blocks = grid(sides[:2] if len(sides) == 4 else sides[:-3])
        return tiled(blocks, inside)
    points = np.zeros((1, 2))
    for side, step in zip(reversed(sides), [(1.0, 0.0), (0.0, -1.0), SLANT], strict=False):
        points = (np.arange(side)[:, np.newaxis, np.newaxis] * step + points).reshape(-1, 2)
    return points


def cube(dimensions: int) -> Points:
    """Place a hypercube's corners by number: three dimensions aslant, the others side by side.

    Every further pair of dimensions puts copies beside and above one another, a little shifted, so
    that no link runs over a third processor.
    """
    points = np.zeros((1, 2))
    for dimension in range(dimensions):
        points = np.concatenate([points, points + _cube_step(dimension)])
    return points


CUBE = ((1.0, 0.0), (0.0, 1.0), (0.44, 0.36), (1.9, 0.75), (-0.4, 2.0), (3.8, 0.5), (-0.3, 4.1))
"""Offsets from a processor to its neighbours in the first dimensions of a hypercube, found by a
search for those that keep links away from third processors."""


def _cube_step(dimension: int) -> Points:
    """Offset from a processor to its neighbour in a dimension."""
    doublings = max(0, (dimension - len(CUBE)) // 2 + 1)
    return 2.15**doublings * np.array(CUBE[dimension - 2 * doublings])


def polygons(digits: Sequence[int], turned: bool = False) -> Points:
    """Place circles on circles, for numbers whose digits have these radices, the slowest first."""
    points = np.zeros((1, 2))
    for radix in reversed(digits):
        points = nested(circle(radix), points, turned)
    return points


def tiled(outer: Points, inner: Points) -> Points:
    """Place copies of one shape in the cells of another, whose points are 1 apart both ways."""
    copy = centred(inner)
    cell = 1.3 * (np.ptp(inner, axis=0) + 1)
    points: Points = (outer[:, np.newaxis] * cell + copy).reshape(-1, 2)
    return points


def tilted(points: Points) -> Points:
    """Turn the shape to the left, so that like points of its copies are in line with no others."""
    cosine, sine = np.cos(TILT), np.sin(TILT)
    turned: Points = centred(points) @ np.array([[cosine, sine], [-sine, cosine]])
    return turned


def nested(outer: Points, inner: Points, turned: bool = False) -> Points:
    """Place a small copy of one shape at every point of another; the copies one after the other.

    Parameters
    ----------
    outer, inner : ndarray of float64, shape (m, 2) and (k, 2)
        Places of the copies, and the shape that is copied.
    turned : bool
        Whether a copy's top points away from the middle.

    Returns
    -------
    ndarray of float64, shape (m * k, 2)
        Point b * k + a is point a of copy b.
    """
    if len(inner) == 1:
        return outer.copy()
    copy = centred(inner)
    radius = np.hypot(*copy.T).max()
    copies = np.broadcast_to(copy * (ROOM * nearest(outer) / radius), (len(outer), *copy.shape))
    if turned:
        angles = np.arctan2(outer[:, 1], outer[:, 0]) - pi / 2
        cosine, sine = np.cos(angles), np.sin(angles)
        turns = np.stack([np.stack([cosine, sine], 1), np.stack([-sine, cosine], 1)], 1)
        copies = copies @ turns
    points: Points = (outer[:, np.newaxis] + copies).reshape(-1, 2)
    return points


def nearest(points: Points) -> float:
    """Least distance between two points; 1 for a single one."""
    if len(points) < 2:
        return 1.0
    along = points @ np.array([np.cos(0.7), np.sin(0.7)])  # in line with no row of a grid
    order = np.argsort(along, kind="stable")
    along, ordered = along[order], points[order]
    least, ahead = np.inf, 1
    # Points in one direction's order: once gaps along it exceed the least distance no closer pair
    # can follow.
    while ahead < len(points) and (along[ahead:] - along[:-ahead]).min() < least:
        least = min(least, float(np.hypot(*(ordered[ahead:] - ordered[:-ahead]).T).min()))
        ahead += 1
    return least


def centred(points: Points) -> Points:
    """Move the shape so that the middle of its box is the origin."""
    middle: Points = (points.min(axis=0) + points.max(axis=0)) / 2
    return points - middle


def fitted(points: Points) -> Points:
    """Scale the shape to the square -1..1; round, so that files are the same."""
    points = centred(points)
    reach = np.abs(points).max()
    # Adding 0.0 turns -0.0 into 0.0, which would be printed with a sign.
    return np.round(points / reach, 9) + 0.0 if reach > 0 else points


def apart(points: Points) -> Points:
    """Move points at the same place onto a small circle around it."""
    places, group, counts = np.unique(
        np.round(points, 7), axis=0, return_inverse=True, return_counts=True
    )
    group = group.ravel()
    if counts.max(initial=1) == 1:
        return points
    order = np.argsort(group, kind="stable")
    turn: Ints = np.empty(len(points), np.int64)
    turn[order] = np.arange(len(points)) - np.repeat(np.cumsum(counts) - counts, counts)
    angles = 2 * pi * turn / counts[group] + pi / 4
    radius = np.where(counts[group] > 1, 0.2 * nearest(places), 0.0)
    aside: Points = radius[:, np.newaxis] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return points + aside
