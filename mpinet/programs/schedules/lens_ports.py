"""Rows, digits and ports of a lens with p = q = R + 1, for ASCEND (docs/papers/lens, 3).

Rows are counted from 0 here: the processor of row k and word w has number k R^n + w. Its ports lead
first to the R members of its own bus, in the next row, by digit k+1. The ports of each of the R
lower busses follow: the owner, in the previous row, and the siblings, which differ only in digit k.
Digit 0 is the leftmost. An uncompleted lens has no own busses in its last row, and no owners before
row 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.networks.lens.wiring import LensNetwork


class RowPorts:
    """Rows and words of some processors, and their ports by destination.

    `slots` are indices into these processors.

    Parameters
    ----------
    lens : LensNetwork
        A lens with p = q.
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
        (k,).
        """
        has_own = lens.completed | (self.rows < self._level - 1)
        has_owners = lens.completed | (self.rows > 0)
        self._lower = np.where(has_own, self._radix, 0)
        self._owners = np.where(has_owners, 1, 0)
        self._width = self._radix - 1 + self._owners

    def _digit(self, words: Ints, place: Any) -> Ints:
        """Return digit number `place` of the words."""
        return words // self._radix ** (self._level - 1 - place) % self._radix

    def right(self, slots: Ints, change: int) -> Ints:
        """Return the ports to the next row, to the word with its digit there changed by XOR."""
        after = (self.rows[slots] + 1) % self._level
        return self._digit(self.words[slots], after) ^ change

    def left(self, slots: Ints) -> Ints:
        """Return the ports to the same word in the previous row, over the own digit's bus."""
        return self._lower[slots] + self.digits[slots] * self._width[slots]

    def across(self, slots: Ints, change: int) -> Ints:
        """Return the ports to the sibling whose digit differs by XOR, over the own digit's bus."""
        digits = self.digits[slots]
        others = digits ^ change
        seats = np.where(others > digits, others - 1, others)
        return self.left(slots) + self._owners[slots] + seats

    def change(self, slots: Ints, ports: Ints) -> Ints:
        """Return the XOR of each processor's own digit and the digit of the port's lower bus."""
        return (ports - self._lower[slots]) // self._width[slots] ^ self.digits[slots]
