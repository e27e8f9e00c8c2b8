"""Shapes in the plane for layouts: circles, grids, cubes, and copies of shapes in shapes.

A shape is an array of points, shape (count, 2), x to the right and y upwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

import numpy as np
from numpy.typing import NDArray

from mpinet.base.arrays import Ints

Points = NDArray[np.float64]
"""Points in the plane, shape (count, 2)."""

ROOM = 0.37
"""Radius of a copy of a shape, as a multiple of the distance to the next copy."""

SLANT = (0.36, 0.3)
"""Offset between two layers of a grid with three sides."""

TILT = 0.16
"""Rotation of a copy, in radians."""

WINDOW = 1 << 22
"""Largest number of distances between points computed at a time."""


def circle(count: int) -> Points:
    """Place points on the circle of radius 1, clockwise, with the first point at the top."""
    angles = pi / 2 - 2 * pi * np.arange(count) / max(count, 1)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def row(count: int) -> Points:
    """Place points from left to right, 1 apart."""
    return np.stack([np.arange(float(count)), np.zeros(count)], axis=1)


def grid(sides: Sequence[int]) -> Points:
    """Place a grid's points in row-major order: the last side to the right, the one before down.

    A third side points backwards at an angle. With four sides, the first two form a grid whose
    points are grids of the last two. With more sides, the inner grids have the last three.
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
    """Place a hypercube's corners by number: three dimensions in projection, others side by side.

    Each further pair of dimensions adds copies to the right and above, with a small shift that
    keeps links away from third processors.
    """
    points = np.zeros((1, 2))
    for dimension in range(dimensions):
        points = np.concatenate([points, points + _cube_step(dimension)])
    return points


CUBE = ((1.0, 0.0), (0.0, 1.0), (0.44, 0.36), (1.9, 0.75), (-0.4, 2.0), (3.8, 0.5), (-0.3, 4.1))
"""Offsets from a processor to its neighbours in the first dimensions of a hypercube. A search has
chosen offsets that keep links away from third processors.
"""


def _cube_step(dimension: int) -> Points:
    """Return the offset from a processor to its neighbour in a dimension."""
    doublings = max(0, (dimension - len(CUBE)) // 2 + 1)
    return 2.15**doublings * np.array(CUBE[dimension - 2 * doublings])


def polygons(digits: Sequence[int], turned: bool = False) -> Points:
    """Place numbers on nested circles, a level per digit; the first digit is outermost."""
    points = np.zeros((1, 2))
    for radix in reversed(digits):
        points = nested(circle(radix), points, turned)
    return points


def tiled(outer: Points, inner: Points) -> Points:
    """Place copies of a shape in the cells of another, whose points are 1 apart."""
    copy = centred(inner)
    cell = 1.3 * (np.ptp(inner, axis=0) + 1)
    points: Points = (outer[:, np.newaxis] * cell + copy).reshape(-1, 2)
    return points


def tilted(points: Points) -> Points:
    """Rotate the shape to the left, so matching points of copies are not collinear."""
    cosine, sine = np.cos(TILT), np.sin(TILT)
    turned: Points = centred(points) @ np.array([[cosine, sine], [-sine, cosine]])
    return turned


def nested(outer: Points, inner: Points, turned: bool = False) -> Points:
    """Place a small copy of one shape at every point of another, copy after copy.

    Parameters
    ----------
    outer, inner : ndarray of float64, shape (m, 2) and (k, 2)
        Positions of the copies, and the copied shape.
    turned : bool
        True if a copy's top points away from the centre.

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
    """Return the smallest distance between two points; 1 for a single point."""
    if len(points) < 2:
        return 1.0
    along = points @ np.array([np.cos(0.7), np.sin(0.7)])  # not parallel to a row of any grid
    order = np.argsort(along, kind="stable")
    along, ordered = along[order], points[order]
    least, ahead = np.inf, 1
    # Points are sorted along one direction. When the gaps in this direction exceed the smallest
    # distance, no closer pair can follow.
    while ahead < len(points) and (along[ahead:] - along[:-ahead]).min() < least:
        least = min(least, float(np.hypot(*(ordered[ahead:] - ordered[:-ahead]).T).min()))
        ahead += 1
    return least


def centred(points: Points) -> Points:
    """Move the shape to put the centre of its bounding box at the origin."""
    middle: Points = (points.min(axis=0) + points.max(axis=0)) / 2
    return points - middle


def fitted(points: Points) -> Points:
    """Scale the shape to the square -1..1 and round it, so files are equal on all machines."""
    points = centred(points)
    reach = np.abs(points).max()
    # Adding 0.0 turns -0.0, which would be printed with a sign, into 0.0.
    return np.round(points / reach, 9) + 0.0 if reach > 0 else points


def apart(points: Points) -> Points:
    """Move points with equal position onto a small circle around this position."""
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
