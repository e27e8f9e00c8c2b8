"""Extreme values over nodes, pairs of nodes and other indices, with their positions.

If several positions have the value, the witness is the position with the smallest numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.base.arrays import Array, Flags, Matrix
from mpinet.claims import Measured


def largest_pair(matrix: Matrix) -> tuple[int, int]:
    """Return row and column of the largest entry."""
    # `argmax` returns the first of equal entries, so the witness depends only on the network.
    source, target = np.unravel_index(int(matrix.argmax()), matrix.shape)
    return int(source), int(target)


def smallest_pair(matrix: Matrix) -> tuple[int, int]:
    """Return row and column of the smallest entry."""
    source, target = np.unravel_index(int(matrix.argmin()), matrix.shape)
    return int(source), int(target)


def farthest(matrix: Matrix) -> Measured:
    """Return the largest entry with its pair; for distances, this is the diameter."""
    pair = largest_pair(matrix)
    return at_pair(int(matrix[pair]), pair)


def at_pair(value: Any, pair: tuple[int, int]) -> Measured:
    """Return a value measured at a pair of nodes."""
    source, target = pair
    return Measured(value, {"source": source, "target": target})


def largest(values: Array, index: str, first: int = 0) -> Measured:
    """Return the largest entry of a row, with its first index.

    Parameters
    ----------
    values : ndarray
        One number for each index.
    index : str
        Name of the index, such as ``node``.
    first : int
        Index of the first entry.
    """
    return Measured(int(values.max()), {index: first + int(values.argmax())})


def smallest(values: Array, index: str) -> Measured:
    """Return the smallest entry of a row, with its first index."""
    return Measured(int(values.min()), {index: int(values.argmin())})


def first_pair(wrong: Flags) -> dict[str, int]:
    """Return the first marked pair as a witness; empty if no pair is marked."""
    if not wrong.any():
        return {}
    source, target = largest_pair(wrong)
    return {"source": source, "target": target}
