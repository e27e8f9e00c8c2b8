"""Extreme values over nodes, pairs of nodes and other indices, with the place where they are found.

Where several places have the value, the one with the smallest numbers is the witness.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.base.arrays import Array, Flags, Matrix
from mpinet.claims import Measured


def largest_pair(matrix: Matrix) -> tuple[int, int]:
    """Row and column of the largest entry."""
    # `argmax` takes the first of equal entries: a witness stays the same as long as the network
    # does.
    source, target = np.unravel_index(int(matrix.argmax()), matrix.shape)
    return int(source), int(target)


def smallest_pair(matrix: Matrix) -> tuple[int, int]:
    """Row and column of the smallest entry."""
    source, target = np.unravel_index(int(matrix.argmin()), matrix.shape)
    return int(source), int(target)


def farthest(matrix: Matrix) -> Measured:
    """The largest entry and its pair: of distances, the diameter."""
    pair = largest_pair(matrix)
    return at_pair(int(matrix[pair]), pair)


def at_pair(value: Any, pair: tuple[int, int]) -> Measured:
    """A value of a pair of nodes."""
    source, target = pair
    return Measured(value, {"source": source, "target": target})


def largest(values: Array, index: str, first: int = 0) -> Measured:
    """The largest entry of a row, and where it is found first.

    Parameters
    ----------
    values : ndarray
        One number for each index.
    index : str
        What the indices are.
    first : int
        The index of the first entry.
    """
    return Measured(int(values.max()), {index: first + int(values.argmax())})


def smallest(values: Array, index: str) -> Measured:
    """Measure as `largest`, of the smallest entry."""
    return Measured(int(values.min()), {index: int(values.argmin())})


def first_pair(wrong: Flags) -> dict[str, int]:
    """The first pair that is marked, as a witness; none if none is."""
    if not wrong.any():
        return {}
    source, target = largest_pair(wrong)
    return {"source": source, "target": target}
