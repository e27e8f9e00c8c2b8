"""Batcher's odd-even merge (docs/papers/gmn, 8)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import DTypeLike

from mpinet.base.arrays import Array, Flags, Ints
from mpinet.programs.operators.operator import (
    ASCEND,
    DESCEND,
    Operator,
    Pass,
    drawn,
    exchange_where,
    fitted,
)

GAP_BITS = 8
"""Random low bits of a random sequence; the bits above them ascend in each half."""


class OddEvenMerge(Operator):
    """Merge of two ascending halves.

    Descending, one pass runs Batcher's comparators (i, i + 2^j) for bit j of i equal to 1. The ends
    of a comparator are not partners, so an element also stores the key 2^j ahead of it or behind
    it. Ascending, the upper half is reversed first, in dimensions 0..q-2, and a bitonic merge
    follows (the crossed form).

    Parameters
    ----------
    key : dtype
        Type of the keys.
    """

    name = "odd-even-merge"

    def __init__(self, key: DTypeLike = np.int64):
        self.key = np.dtype(key)
        self.dtype = np.dtype(
            [
                ("x", self.key),
                ("ahead", self.key),
                ("behind", self.key),
                ("has_ahead", np.bool_),
                ("has_behind", np.bool_),
            ]
        )

    def passes(self, kind: str, q: int) -> Sequence[Pass]:
        """Return one descending pass; or an ascending pass that crosses, and a descending one."""
        self.require_form(kind)
        if kind == DESCEND:
            return [Pass(DESCEND, 0, q, partial(self._compare, q))]
        in_upper_half = partial(exchange_where, partial(_has_bit, q - 1))
        crossing = [Pass(ASCEND, 0, q - 1, in_upper_half)] if q > 0 else []
        return [*crossing, Pass(DESCEND, 0, q, self._merge)]

    def draw(self, seed: int, q: int, index: Ints) -> Array:
        """Return two ascending halves."""
        place = index % max(1, (1 << q) // 2)
        return (place << GAP_BITS) | (drawn(seed, index) & ((1 << GAP_BITS) - 1))

    def prepare(self, values: Array) -> Array:
        """Return the initial states: each element knows only its own key."""
        state = np.zeros(len(values), self.dtype)
        state["x"] = fitted(self.name, values, self.key)
        return state

    def finish(self, state: Array) -> Array:
        """Return the keys."""
        return state["x"].copy()

    def expected(self, values: Array) -> Array:
        """Return the keys sorted by NumPy."""
        return np.sort(values.astype(self.key))

    def _merge(self, j: int, i: Ints, low: Array, high: Array) -> tuple[Array, Array]:
        """Run the bitonic merge: the smaller key goes to the lower element."""
        return exchange_where(lambda j, i: high["x"] < low["x"], j, i, low, high)

    def _compare(self, q: int, j: int, i: Ints, low: Array, high: Array) -> tuple[Array, Array]:
        """Run the comparators that end at the two elements; return the new states."""
        new_low, new_high = np.zeros(low.shape, self.dtype), np.zeros(low.shape, self.dtype)
        if j == q - 1:
            new_low["x"] = new_high["behind"] = np.minimum(low["x"], high["x"])
            new_high["x"] = new_low["ahead"] = np.maximum(low["x"], high["x"])
            new_low["has_ahead"] = new_high["has_behind"] = True
            return new_low, new_high
        before, there_before = high["behind"], high["has_behind"]
        after, there_after = low["ahead"], low["has_ahead"]
        x = np.where(there_before, np.maximum(before, low["x"]), low["x"])
        y = np.where(there_after, np.minimum(high["x"], after), high["x"])
        new_low["x"] = new_high["behind"] = x
        new_high["x"] = new_low["ahead"] = y
        new_low["behind"], new_low["has_behind"] = np.minimum(before, low["x"]), there_before
        new_high["ahead"], new_high["has_ahead"] = np.maximum(high["x"], after), there_after
        new_low["has_ahead"] = new_high["has_behind"] = True
        return new_low, new_high


def _has_bit(bit: int, j: int, i: Ints) -> Flags:
    """Return whether bit `bit` is 1."""
    return (i >> bit) & 1 == 1
