"""Operators that move values without reading them: cyclic shift, shuffles, transposition.

In every dimension the two elements of a pair are exchanged or not, depending only on their numbers
(docs/papers/gmn, 8).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import DTypeLike

from mpinet.base.arrays import Array, Flags, Ints
from mpinet.base.numerals import is_whole, quoted
from mpinet.errors import UsageError
from mpinet.programs.operators.operator import (
    ASCEND,
    DESCEND,
    Operator,
    Pass,
    Swaps,
    drawn,
    exchange_where,
)


class Permuting(Operator):
    """A permutation of the values.

    Parameters
    ----------
    dtype : dtype
        Type of the values.
    """

    def __init__(self, dtype: DTypeLike = np.int64):
        self.dtype = np.dtype(dtype)

    def draw(self, seed: int, q: int, index: Ints) -> Array:
        """Return random numbers that are almost certainly distinct."""
        return drawn(seed, index)

    @abstractmethod
    def expected(self, values: Array) -> Array:
        """Return the permuted values, computed by NumPy."""


class CyclicShift(Permuting):
    """Cyclic shift: value i goes to address (i + c) mod 2^q, in one pass of either kind.

    Parameters
    ----------
    by : int
        c, possibly negative.
    dtype : dtype
        Type of the values.
    """

    def __init__(self, by: int = 1, dtype: DTypeLike = np.int64):
        super().__init__(dtype)
        self.by = by
        self.name = f"shift:{by}"

    @classmethod
    def read(cls, text: str) -> CyclicShift:
        """Return the shift for ``shift:5``; ``shift`` alone shifts by 1."""
        if not text:
            return cls()
        if not is_whole(text.removeprefix("-")):
            raise UsageError(f"shift:{quoted(text)}: give a whole number, as in shift:5.")
        return cls(int(text))

    def passes(self, kind: str, q: int) -> Sequence[Pass]:
        """Return one pass that exchanges the pairs in which a value has to change bit j."""
        self.require_form(kind)
        swaps = {ASCEND: self._borrows}.get(kind, self._carries)
        return [swapping(kind, q, swaps)]

    def expected(self, values: Array) -> Array:
        """Return the values shifted by NumPy's roll."""
        return np.roll(values, self.by % len(values))

    def _borrows(self, j: int, i: Ints) -> Flags:
        """Return the pairs to exchange when ascending: low bits are already those of the target."""
        below = (1 << j) - 1
        # A carry or borrow depends on the bits below alone. Each dimension can therefore decide by
        # the element's number, without other elements.
        wraps = (i & below) < (self.by & below)
        return wraps ^ bool(self.by >> j & 1)

    def _carries(self, j: int, i: Ints) -> Flags:
        """Return the pairs to exchange when descending: low bits are still those of the source."""
        below = (1 << j) - 1
        wraps = (i & below) + (self.by & below) >= 1 << j
        return wraps ^ bool(self.by >> j & 1)


class Shuffle(Permuting):
    """Shuffle: value i goes to the address of its bits rotated left.

    The program has an ascending and a descending pass.
    """

    name = "shuffle"
    kinds: ClassVar[tuple[str, ...]] = (ASCEND,)

    def passes(self, kind: str, q: int) -> Sequence[Pass]:
        """Return the passes: up by the parity of the bits above, down by the next lower bit."""
        self.require_form(kind)
        return shuffling(q)

    def expected(self, values: Array) -> Array:
        """Return the two halves, interleaved."""
        return values.reshape(2, -1).T.reshape(-1) if len(values) > 1 else values


class Unshuffle(Permuting):
    """Unshuffle: value i goes to the address of its bits rotated right; reverses the shuffle."""

    name = "unshuffle"
    kinds: ClassVar[tuple[str, ...]] = (ASCEND,)

    def passes(self, kind: str, q: int) -> Sequence[Pass]:
        """Return the passes: up by the next lower bit, down by the parity of the bits above."""
        self.require_form(kind)
        return [swapping(ASCEND, q, has_next_bit), swapping(DESCEND, q, has_odd_rest)]

    def expected(self, values: Array) -> Array:
        """Return the values at even addresses, then those at odd addresses."""
        return values.reshape(-1, 2).T.reshape(-1) if len(values) > 1 else values


class Transposition(Permuting):
    """Transposition of a matrix stored row by row.

    A square matrix takes an ascending pass, and a descending pass over the lower half of the
    dimensions. A 2^a x 2^b matrix takes a shuffles.

    Parameters
    ----------
    rows, columns : int, optional
        Powers of two whose product is the number of elements. Default: as square as possible,
        2^(q//2) rows.
    dtype : dtype
        Type of the values.
    """

    name = "transpose"
    kinds: ClassVar[tuple[str, ...]] = (ASCEND,)

    def __init__(
        self,
        rows: int | None = None,
        columns: int | None = None,
        dtype: DTypeLike = np.int64,
    ):
        super().__init__(dtype)
        self.sides = None if rows is None or columns is None else (rows, columns)
        if self.sides is not None:
            self.name = f"transpose:{rows}x{columns}"

    @classmethod
    def read(cls, text: str) -> Transposition:
        """Return the transposition for ``transpose:4x16``.

        ``transpose`` alone makes the matrix as square as possible.
        """
        if not text:
            return cls()
        rows, _, columns = text.partition("x")
        if not (is_whole(rows) and is_whole(columns)):
            raise UsageError(
                f"transpose:{quoted(text)}: give rows x columns, as in transpose:4x16."
            )
        return cls(int(rows), int(columns))

    def passes(self, kind: str, q: int) -> Sequence[Pass]:
        """Return two passes for a square matrix, otherwise a shuffle per bit of the row number."""
        self.require_form(kind)
        row_bits = self._rows(1 << q).bit_length() - 1
        if 2 * row_bits != q:
            return shuffling(q) * row_bits
        swaps = partial(has_opposite_bit, row_bits)
        return [swapping(ASCEND, q, swaps), swapping(DESCEND, row_bits, swaps)]

    def expected(self, values: Array) -> Array:
        """Return the values transposed by NumPy."""
        return values.reshape(self._rows(len(values)), -1).T.reshape(-1)

    def _rows(self, elements: int) -> int:
        if self.sides is None:
            return 1 << ((elements.bit_length() - 1) // 2)
        rows, columns = self.sides
        if rows * columns != elements:
            raise UsageError(
                f"The operator {self.name} needs {rows * columns} elements, not {elements}."
            )
        return rows


def swapping(kind: str, high: int, swaps: Swaps) -> Pass:
    """Return a pass over the dimensions below `high` that exchanges the pairs chosen by `swaps`."""
    return Pass(kind, 0, high, partial(exchange_where, swaps))


def shuffling(q: int) -> list[Pass]:
    """Return the passes of the shuffle of 2^q values."""
    return [swapping(ASCEND, q, has_odd_rest), swapping(DESCEND, q, has_next_bit)]


def has_odd_rest(j: int, i: Ints) -> Flags:
    """Return whether the parity of the bits above j is 1."""
    return parity(i >> (j + 1))


def has_next_bit(j: int, i: Ints) -> Flags:
    """Return whether bit j-1 is 1; in dimension 0 whether the parity of the bits above is 1."""
    return (i >> (j - 1)) & 1 == 1 if j else parity(i >> 1)


def parity(numbers: Ints) -> Flags:
    """Return whether an odd number of bits is 1."""
    folded = numbers.copy()
    for shift in (32, 16, 8, 4, 2, 1):
        folded ^= folded >> shift
    return folded & 1 == 1


def has_opposite_bit(half: int, j: int, i: Ints) -> Flags:
    """Return whether the bit of the other matrix index at the same position as bit j is 1."""
    return (i >> (j + half if j < half else j - half)) & 1 == 1
