"""Operating on pairs: what a rank works out for those of its elements whose partners were heard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mpinet.programs.operators.operator import Array, Numbers, Oper

PIECE = 2**14
"""Most pairs that an operator is given at once: their temporaries stay in the cache."""

SHORT = (2, 4)
"""Runs of these lengths are gathered: NumPy is slow at rows that short."""


def keep_own(oper: Oper, j: int, index: Numbers, own: Array, heard: Array) -> Array:
    """What becomes of elements whose partners of dimension j were heard.

    Parameters
    ----------
    oper : callable
        As `Operator.oper`.
    j : int
        The dimension.
    index : ndarray of int64, shape (k,)
        The elements, in any order.
    own, heard : ndarray, shape (k,)
        Their states, and their partners'.

    Returns
    -------
    ndarray, shape (k,)
        Their new states.
    """
    kept = np.empty_like(own)
    for begin in range(0, len(index), PIECE):
        at = slice(begin, begin + PIECE)
        upper = (index[at] >> j) & 1 == 1
        low, high = np.where(upper, heard[at], own[at]), np.where(upper, own[at], heard[at])
        new_low, new_high = oper(j, index[at] & ~(1 << j), low, high)
        kept[at] = np.where(upper, new_high, new_low)
    return kept


class Pairs:
    """The pairs of one dimension that have an element on this rank.

    Both processors of a pair know both states after the exchange, and both work out the same; a
    rank that hosts both does so once for the two.

    Parameters
    ----------
    j : int
        The dimension.
    index : ndarray of int64, shape (k,)
        The elements on this rank.
    rows : callable
        ``rows(elements)``: their rows in a state array; -1 for those on other ranks.
    """

    def __init__(self, j: int, index: Numbers, rows: Callable[[Numbers], Numbers]):
        self.j = j
        self._index = index
        self._run = _in_runs(index, j)
        if not self._run:
            upper = (index >> j) & 1 == 1
            partners = rows(index ^ (1 << j))
            here = partners >= 0
            both = np.flatnonzero(~upper & here)
            self._both = list(zip(_pieces(both), _pieces(partners[both]), strict=True))
            self._lone_low = _pieces(np.flatnonzero(~upper & ~here))
            self._lone_high = _pieces(np.flatnonzero(upper & ~here))

    def operate(self, oper: Oper, state: Array, received: Array) -> None:
        """Replace the states by what the operator makes of the pairs.

        Parameters
        ----------
        oper : callable
            As `Operator.oper`.
        state : ndarray, shape (k,)
            The elements' states; changed in place.
        received : ndarray, shape (k,)
            Their partners' states.
        """
        if self._run:
            self._operate_in_place(oper, state, received)
            return
        j, index = self.j, self._index
        for at, other in self._both:
            state[at], state[other] = oper(j, index[at], state[at], received[at])
        for at in self._lone_low:
            state[at] = oper(j, index[at], state[at], received[at])[0]
        for at in self._lone_high:
            state[at] = oper(j, index[at] ^ (1 << j), received[at], state[at])[1]

    def _operate_in_place(self, oper: Oper, state: Array, received: Array) -> None:
        """The same where the lower elements stand in runs of 2^j, and the upper ones behind."""
        shape = (-1, 2, 1 << self.j)
        low, high = state.reshape(shape).swapaxes(0, 1)
        i, heard = self._index.reshape(shape)[:, 0], received.reshape(shape)[:, 0]
        columns = min(PIECE, 1 << self.j)
        rows = PIECE // columns
        for row in range(0, len(i), rows):
            for column in range(0, 1 << self.j, columns):
                at = slice(row, row + rows), slice(column, column + columns)
                new_low, new_high = oper(self.j, i[at], low[at], heard[at])
                high[at] = new_high  # first: it may be a view of `low`
                low[at] = new_low


def _in_runs(index: Numbers, j: int) -> bool:
    """Whether the elements are consecutive and form whole pairs of runs of 2^j."""
    if len(index) == 0 or 1 << j in SHORT:
        return False
    whole = index[0] % (2 << j) == 0 and len(index) % (2 << j) == 0
    return bool(whole and (np.diff(index) == 1).all())


def _pieces(rows: Numbers) -> list[Any]:
    """What selects these rows, a piece at a time: a slice where they are consecutive."""
    pieces = [rows[begin : begin + PIECE] for begin in range(0, len(rows), PIECE)]
    return [
        slice(piece[0], piece[-1] + 1) if (np.diff(piece) == 1).all() else piece for piece in pieces
    ]
