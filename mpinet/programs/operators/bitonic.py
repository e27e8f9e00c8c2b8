"""Batcher's bitonic merge and sort: comparisons in descending dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import DTypeLike

from mpinet.programs.operators.operator import (
    DESCEND,
    Array,
    Numbers,
    Operator,
    Pass,
    bits_above,
    drawn,
)

GAP_BITS = 8
"""Random low bits of a drawn bitonic sequence; the bits above them ascend, then descend."""


class BitonicMerge(Operator):
    """Sorts a sequence whose first half ascends and whose second half descends: one DESCEND pass.

    Parameters
    ----------
    dtype : dtype
        Of the keys.
    """

    name = "bitonic-merge"
    kinds: ClassVar[tuple[str, ...]] = (DESCEND,)

    def __init__(self, dtype: DTypeLike = np.int64):
        self.dtype = np.dtype(dtype)

    def oper(self, j: int, i: Numbers, low: Array, high: Array) -> tuple[Array, Array]:
        """The lesser key goes to the lower element."""
        return np.minimum(low, high), np.maximum(low, high)

    def draw(self, seed: int, q: int, index: Numbers) -> Array:
        """An ascending half, then a descending one."""
        size = 1 << q
        height = np.where(index < size // 2, index, size - 1 - index)
        return (height << GAP_BITS) | (drawn(seed, index) & ((1 << GAP_BITS) - 1))

    def expected(self, values: Array) -> Array:
        """NumPy's sort."""
        return np.sort(values.astype(self.dtype))


class BitonicSort(Operator):
    """Sorts: for s = 1..q a DESCEND pass over the dimensions s-1..0 merges runs of 2^s keys.

    A full sort takes q (q+1)/2 dimensions (gmn specification, section 8).

    Parameters
    ----------
    dtype : dtype
        Of the keys.
    """

    name = "bitonic-sort"
    kinds: ClassVar[tuple[str, ...]] = (DESCEND,)

    def __init__(self, dtype: DTypeLike = np.int64):
        self.dtype = np.dtype(dtype)

    def passes(self, kind: str, q: int) -> Sequence[Pass]:
        """Runs of 2, 4, .., 2^q keys are merged, in alternating order but for the last."""
        self.require_form(kind)
        alternating = [Pass(kind, 0, s, partial(_compare, s)) for s in range(1, q)]
        return [*alternating, Pass(kind, 0, q, _ascending)]

    def draw(self, seed: int, q: int, index: Numbers) -> Array:
        """Random keys."""
        return drawn(seed, index)

    def expected(self, values: Array) -> Array:
        """NumPy's sort."""
        return np.sort(values.astype(self.dtype))


def _ascending(j: int, i: Numbers, low: Array, high: Array) -> tuple[Array, Array]:
    return np.minimum(low, high), np.maximum(low, high)


def _compare(s: int, j: int, i: Numbers, low: Array, high: Array) -> tuple[Array, Array]:
    """Ascending where bit s of i is 0, else descending."""
    least, largest = _ascending(j, i, low, high)
    up = (bits_above(j, i) >> (s - j - 1)) & 1 == 0
    return np.where(up, least, largest), np.where(up, largest, least)
