"""Layout of any network with distances in the plane close to distances in hops.

Majorization reduces the weighted sum of squared differences between the two distances (Gansner,
Koren, North: Graph drawing by stress majorization, 2004). In each step a node moves to the weighted
mean of the positions that other nodes prefer for it. In large networks only the distances to some
landmarks and to the neighbours count. No randomness is used: the start is a spiral in an order
given by the network.
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
"""Largest number of nodes for which all distances are used."""

LANDMARKS = 100
"""Number of landmarks of a larger network: nodes whose distances to all others are used."""

SWEEPS = 150
"""Largest number of moves of each node."""

ROUNDS = 40
"""Number of rounds of the power iteration that finds the start."""

UNREACHED = -1

Floats = NDArray[np.float64]


def stress_layout(size: int, edges: Ints) -> Points:
    """Return positions of the nodes 0..size-1 of a graph.

    Parameters
    ----------
    size : int
        Number of nodes.
    edges : ndarray of int64, shape (L, 2)
        Links, each once.

    Returns
    -------
    ndarray of float64, shape (size, 2)
        Positions, equal in every run.
    """
    offsets, tails = _adjacency(size, edges)
    sources = _landmarks(offsets, tails) if size > EXACT else np.arange(size)
    hops = np.stack([_hops(offsets, tails, int(source)) for source in sources])
    far = 2 + hops.max(initial=0)
    hops[hops == UNREACHED] = far  # components are placed side by side
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
    """Choose distant nodes: each landmark is the node farthest from the earlier landmarks."""
    chosen = [0]
    least = _hops(offsets, tails, 0)
    for _ in range(LANDMARKS - 1):
        least[least == UNREACHED] = len(least)
        chosen.append(int(np.argmax(least)))
        fresh = _hops(offsets, tails, chosen[-1])
        least = np.where(fresh == UNREACHED, least, np.minimum(least, fresh))
    return np.array(chosen)


def _hops(offsets: Ints, tails: Ints, source: int) -> Ints:
    """Return the hops from a node to all others; -1 for unreachable nodes."""
    hops = np.full(offsets.size - 1, UNREACHED, np.int32)
    measure_distances(offsets, tails.astype(np.int32), source, hops)
    return hops.astype(np.int64)


def _start(hops: Floats) -> Points:
    """Return initial positions: two principal directions of the distances, plus a small spiral.

    The sums are compiled in a fixed order and therefore equal on every machine, unlike a library's.
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
    """Return the principal direction orthogonal to the given ones, and the projections on it."""
    sources, size = matrix.shape
    # A deterministic start with a component in every direction, and a different start for the
    # second axis.
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
    """Combine the rows with weights `direction`, then compute new weights: a power iteration step.

    Parameters
    ----------
    matrix : ndarray of float64, shape (rows, columns)
        The rows.
    direction : ndarray of float64, shape (rows,)
        Weights of the rows.
    image, back : ndarray of float64, shapes (columns,) and (rows,)
        The combined rows and the new weights; both are written.
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
    """Move every node to the weighted mean preferred by other nodes, until no node moves."""
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
                # The weight of the paper (alpha = 2): errors count relative to the distance.
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
