"""Batcher's bitonic merge and sort: comparisons in descending dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import DTypeLike

from mpinet.base.arrays import Array, Ints
from mpinet.compiled import kernel
from mpinet.programs.operators.operator import (
    DESCEND,
    Oper,
    Operator,
    Pass,
    bits_above,
    drawn,
    looped,
)

GAP_BITS = 8
"""Random low bits of a random bitonic sequence; the bits above them ascend, then descend."""


NO_BIT = 62
"""A bit that is 0 in the number of every element."""


@kernel
def compare_runs(
    s: int, j: int, low: Ints, high: Ints, first: int, groups: int, pitch: int, run: int
) -> None:
    """Compare the keys of pairs in runs, with a bit s above the dimension's bit."""
    for group in range(groups):
        begin = group * pitch
        if (first + begin) >> s & 1 == 0:
            for k in range(begin, begin + run):
                x, y = low[k], high[k]
                low[k], high[k] = min(x, y), max(x, y)
        else:
            for k in range(begin, begin + run):
                x, y = low[k], high[k]
                low[k], high[k] = max(x, y), min(x, y)


class Sorting(Operator):
    """Sorting operator with passes over descending dimensions.

    Parameters
    ----------
    dtype : dtype
        Type of the keys.
    """

    kinds: ClassVar[tuple[str, ...]] = (DESCEND,)

    def __init__(self, dtype: DTypeLike = np.int64):
        self.dtype = np.dtype(dtype)

    def draw(self, seed: int, q: int, index: Ints) -> Array:
        """Return random keys."""
        return drawn(seed, index)

    def expected(self, values: Array) -> Array:
        """Return the keys sorted by NumPy."""
        return np.sort(values.astype(self.dtype))


class BitonicMerge(Sorting):
    """Sort of a sequence whose first half ascends and second half descends: one DESCEND pass.

    The parameter is the dtype of the keys.
    """

    name = "bitonic-merge"

    @looped(np.int64, partial(compare_runs, NO_BIT))
    def oper(self, j: int, i: Ints, low: Array, high: Array) -> tuple[Array, Array]:
        """Put the smaller key into the lower element."""
        return np.minimum(low, high), np.maximum(low, high)

    def draw(self, seed: int, q: int, index: Ints) -> Array:
        """Return an ascending half followed by a descending half."""
        size = 1 << q
        height = np.where(index < size // 2, index, size - 1 - index)
        return (height << GAP_BITS) | (drawn(seed, index) & ((1 << GAP_BITS) - 1))


class BitonicSort(Sorting):
    """Bitonic sort: for s = 1..q a DESCEND pass over dimensions s-1..0 merges runs of 2^s keys.

    A full sort takes q (q+1)/2 dimensions (docs/papers/gmn, 8). The parameter is the dtype of the
    keys.
    """

    name = "bitonic-sort"

    def passes(self, kind: str, q: int) -> Sequence[Pass]:
        """Return passes that merge runs of 2, 4, .., 2^q keys.

        Runs alternate between ascending and descending order, except for the last.
        """
        self.require_form(kind)
        alternating = [Pass(kind, 0, s, _comparing(s)) for s in range(1, q)]
        return [*alternating, Pass(kind, 0, q, _ascending)]


@looped(np.int64, partial(compare_runs, NO_BIT))
def _ascending(j: int, i: Ints, low: Array, high: Array) -> tuple[Array, Array]:
    return np.minimum(low, high), np.maximum(low, high)


def _comparing(s: int) -> Oper:
    """Return a comparison: keys ascend if bit s of i is 0, otherwise descend."""

    @looped(np.int64, partial(compare_runs, s))
    def compare(j: int, i: Ints, low: Array, high: Array) -> tuple[Array, Array]:
        least, largest = _ascending(j, i, low, high)
        up = (bits_above(j, i) >> (s - j - 1)) & 1 == 0
        return np.where(up, least, largest), np.where(up, largest, least)

    return compare
