"""Layout of any network: drawn distances as near to hops as the plane allows.

The weighted sum of squared differences between distances in the plane and hops is made smaller by
majorization (Gansner, Koren, North: Graph drawing by stress majorization, 2004): a node's place is
the weighted mean of where the others would have it, one node after the other. Large networks
consider the distances to some landmarks and to the neighbours only. Nothing here is random: it
begins on a spiral in an order of the network's own.
"""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
from numpy.typing import NDArray

from mpinet.base.arrays import Array, Ints, RealRows, Reals
from mpinet.compiled import kernel
from mpinet.networks.adjacency import measure_distances
from mpinet.report.shapes import Points

EXACT = 1200
"""Most nodes of a network of which all distances are considered."""

LANDMARKS = 100
"""Nodes of a larger one whose distances to all others are considered."""

SWEEPS = 150
"""Most moves of every node."""

ROUNDS = 40
"""Rounds of the power iteration that finds the start."""

UNREACHED = -1

Floats = NDArray[np.float64]


def stress_layout(size: int, edges: Ints) -> Points:
    """Compute the places of the nodes 0..size-1 of a graph.

    Parameters
    ----------
    size : int
        Number of nodes.
    edges : ndarray of int64, shape (L, 2)
        Links, each once.

    Returns
    -------
    ndarray of float64, shape (size, 2)
        The same in every run.
    """
    offsets, tails = _adjacency(size, edges)
    sources = _landmarks(offsets, tails) if size > EXACT else np.arange(size)
    hops = np.stack([_hops(offsets, tails, int(source)) for source in sources])
    far = 2 + hops.max(initial=0)
    hops[hops == UNREACHED] = far  # pieces stand side by side
    distances = hops.astype(np.float64)
    points = _start(distances)
    majorize(points, sources, distances, offsets, tails, SWEEPS)
    return points


def _adjacency(size: int, edges: Ints) -> tuple[Ints, Ints]:
    both = np.concatenate([edges, edges[:, ::-1]])
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(both[:, 0], minlength=size))])
    return offsets.astype(np.int64), np.ascontiguousarray(both[:, 1])


def _landmarks(offsets: Ints, tails: Ints) -> Ints:
    """Choose nodes far from one another, each the farthest one from those before."""
    chosen = [0]
    least = _hops(offsets, tails, 0)
    for _ in range(LANDMARKS - 1):
        least[least == UNREACHED] = len(least)
        chosen.append(int(np.argmax(least)))
        fresh = _hops(offsets, tails, chosen[-1])
        least = np.where(fresh == UNREACHED, least, np.minimum(least, fresh))
    return np.array(chosen)


def _hops(offsets: Ints, tails: Ints, source: int) -> Ints:
    """Hops from a node to all others; -1 for unreachable ones."""
    hops = np.full(offsets.size - 1, UNREACHED, np.int32)
    measure_distances(offsets, tails.astype(np.int32), source, hops)
    return hops.astype(np.int64)


def _start(hops: Floats) -> Points:
    """Start at the distances' two principal directions, with a small spiral that separates nodes.

    Compiled sums, one after the other, instead of a library's: the same on every machine.
    """
    size = hops.shape[1]
    squares = hops**2
    squares -= squares.mean(axis=0)
    squares -= squares.mean(axis=1)[:, np.newaxis]
    first, across = _principal(squares, [])
    _, upwards = _principal(squares, [first])
    points = np.stack([across, upwards], axis=1)
    reach = np.abs(points).max()
    if reach > 1e-9:
        points *= hops.max() / 2 / reach
    turns = np.arange(size) * pi * (3 - sqrt(5))
    radii = 0.1 * hops.max() * np.sqrt((np.arange(size) + 0.5) / size)
    placed: Points = points + radii[:, np.newaxis] * np.stack([np.cos(turns), np.sin(turns)], 1)
    return placed


def _principal(matrix: Floats, others: list[Array]) -> tuple[Array, Array]:
    """Compute the principal direction at right angles to others, and the projections on it."""
    sources, size = matrix.shape
    # A start without randomness that has a part in every direction, and another one for the second
    # axis.
    direction = 1.0 + np.arange(sources) * (7 + 4 * len(others)) % 11
    before, image = direction, np.zeros(size)
    for _ in range(ROUNDS):
        for other in others:
            direction = direction - (direction * other).sum() * other
        length = sqrt((direction**2).sum())
        if length < 1e-9:
            break
        direction = direction / length
        before = direction
        direction = np.empty(sources)
        combine_both_ways(matrix, before, image, direction)
    return before, image


@kernel
def combine_both_ways(matrix: RealRows, direction: Reals, image: Reals, back: Reals) -> None:
    """Write the rows combined by `direction`, and the direction that they give: a power iteration.

    Parameters
    ----------
    matrix : ndarray of float64, shape (rows, columns)
        The rows.
    direction : ndarray of float64, shape (rows,)
        Their weights.
    image, back : ndarray of float64, shapes (columns,) and (rows,)
        The combined rows, and the direction; both are written.
    """
    rows, columns = matrix.shape
    image[:] = 0
    back[:] = 0
    for row in range(rows):
        for column in range(columns):
            image[column] += matrix[row, column] * direction[row]
    for row in range(rows):
        for column in range(columns):
            back[row] += matrix[row, column] * image[column]


@kernel
def majorize(
    points: RealRows, sources: Ints, hops: RealRows, offsets: Ints, tails: Ints, sweeps: int
) -> None:
    """Move every node to where the others would have it, until nothing moves."""
    size = points.shape[0]
    everything = sources.size == size
    for _ in range(sweeps):
        largest = 0.0
        for node in range(size):
            x, y, weights = 0.0, 0.0, 0.0
            for k in range(sources.size):
                other, wanted = sources[k], hops[k, node]
                if other == node:
                    continue
                across, up = points[node, 0] - points[other, 0], points[node, 1] - points[other, 1]
                stretch = wanted / max(1e-9, np.sqrt(across * across + up * up))
                # The weight of the paper (alpha = 2): errors count by their share of the distance.
                weight = 1 / (wanted * wanted)
                x += weight * (points[other, 0] + stretch * across)
                y += weight * (points[other, 1] + stretch * up)
                weights += weight
            if not everything:
                for at in range(offsets[node], offsets[node + 1]):
                    other = tails[at]
                    across = points[node, 0] - points[other, 0]
                    up = points[node, 1] - points[other, 1]
                    stretch = 1 / max(1e-9, np.sqrt(across * across + up * up))
                    x += points[other, 0] + stretch * across
                    y += points[other, 1] + stretch * up
                    weights += 1.0
            if weights > 0:
                x, y = x / weights, y / weights
                largest = max(largest, abs(x - points[node, 0]), abs(y - points[node, 1]))
                points[node, 0], points[node, 1] = x, y
        if largest < 0.001:
            return
