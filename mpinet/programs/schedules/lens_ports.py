"""Rows, digits and ports of a lens with p = q = R + 1, as ASCEND needs them (docs/papers/lens, 3).

Rows are counted from 0 here: the processor of row k and word w is number k R^n + w. Its ports are
the R members of the own bus, in the row after it, by digit k+1; then of each of the R lower busses
the owner, in the row before it, and its siblings, which differ in digit k only. Digit 0 is the
leftmost. An uncompleted lens has no own bus in its last row and no owners before row 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.networks.lens.wiring import LensNetwork


class RowPorts:
    """Rows of some processors, and their ports by what is behind them.

    `slots` are places among these processors.

    Parameters
    ----------
    lens : LensNetwork
        Has p = q.
    nodes : ndarray of int64, shape (k,)
        The processors.
    """

    rows: Ints
    """Row of each processor. Shape (k,)."""
    words: Ints
    """Word of each processor. Shape (k,)."""

    def __init__(self, lens: LensNetwork, nodes: Ints):
        self._radix, self._level = lens.radices[0], lens.level
        self.rows, self.words = np.divmod(nodes, self._radix**self._level)
        self.digits: Ints = self._digit(self.words, self.rows)
        """Digit number `row` of each processor's word: the digit in which siblings differ. Shape
        (k,)."""
        has_own = lens.completed | (self.rows < self._level - 1)
        has_owners = lens.completed | (self.rows > 0)
        self._lower = np.where(has_own, self._radix, 0)
        self._owners = np.where(has_owners, 1, 0)
        self._width = self._radix - 1 + self._owners

    def _digit(self, words: Ints, place: Any) -> Ints:
        """Digit number `place` of the words."""
        return words // self._radix ** (self._level - 1 - place) % self._radix

    def right(self, slots: Ints, change: int) -> Ints:
        """To the next row, where this word with its digit there changed by XOR is."""
        after = (self.rows[slots] + 1) % self._level
        return self._digit(self.words[slots], after) ^ change

    def left(self, slots: Ints) -> Ints:
        """To the row before, where the same word is: over the lower bus of the own digit."""
        return self._lower[slots] + self.digits[slots] * self._width[slots]

    def across(self, slots: Ints, change: int) -> Ints:
        """To the sibling whose digit is changed by XOR, over the lower bus of the own digit."""
        digits = self.digits[slots]
        others = digits ^ change
        seats = np.where(others > digits, others - 1, others)
        return self.left(slots) + self._owners[slots] + seats

    def change(self, slots: Ints, ports: Ints) -> Ints:
        """The XOR of the own digit and that of the lower busses on which these ports are."""
        return (ports - self._lower[slots]) // self._width[slots] ^ self.digits[slots]
