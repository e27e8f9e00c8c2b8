"""Application of an operator to pairs of elements: one on this rank, and the partner's state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.programs.operators.operator import Oper, loop_of

PIECE = 2**15
"""Maximum number of pairs per call of an operator: temporary arrays stay in the cache."""

SHORT = (2, 4)
"""Lengths of runs processed column by column: NumPy is slow on rows this short."""


def keep_own(oper: Oper, j: int, index: Ints, own: Array, theirs: Array) -> Array:
    """Return the new states of elements from their partners' received states in dimension j.

    Parameters
    ----------
    oper : callable
        See `Operator.oper`.
    j : int
        The dimension.
    index : ndarray of int64, shape (k,)
        The elements, in any order.
    own, theirs : ndarray, shape (k,)
        States of the elements, and of their partners.

    Returns
    -------
    ndarray, shape (k,)
        New states of the elements.
    """
    kept = np.empty_like(own)
    for begin in range(0, len(index), PIECE):
        at = slice(begin, begin + PIECE)
        upper = (index[at] >> j) & 1 == 1
        low, high = np.where(upper, theirs[at], own[at]), np.where(upper, own[at], theirs[at])
        new_low, new_high = oper(j, index[at] & ~(1 << j), low, high)
        kept[at] = np.where(upper, new_high, new_low)
    return kept


class DimensionPairs(ABC):
    """Pairs of one dimension with an element on this rank.

    After the exchange both processors of a pair know both states and compute the same results. A
    rank that hosts both processors computes the results once.
    """

    @abstractmethod
    def operate(self, oper: Oper, state: Array, received: Array) -> None:
        """Replace the states by the operator's results.

        Parameters
        ----------
        oper : callable
            See `Operator.oper`.
        state : ndarray, shape (k,)
            States of the elements; changed in place.
        received : ndarray, shape (k,), or (g, 2, 2^j) for runs
            States of their partners; may be a view of `state`.
        """


def pairs_of(j: int, index: Ints, in_a_row: bool, rows: Callable[[Ints], Ints]) -> DimensionPairs:
    """Return the pairs of dimension j.

    Parameters
    ----------
    j : int
        The dimension.
    index : ndarray of int64, shape (k,)
        Elements on this rank.
    in_a_row : bool
        True if the elements are consecutive.
    rows : callable
        ``rows(elements)`` returns their rows in a state array; -1 for elements on other ranks.
    """
    if len(index) and in_a_row:
        first, last = int(index[0]), int(index[-1])
        if first % (2 << j) == 0 == (last + 1) % (2 << j):
            return ElementRuns(j, index)
        if first >> j == last >> j:
            return OneSide(j, index)
    return Scattered(j, index, rows)


class ElementRuns(DimensionPairs):
    """Consecutive elements: runs of 2^j lower elements, each followed by its upper elements."""

    def __init__(self, j: int, index: Ints):
        self._j = j
        self._index = index

    def operate(self, oper: Oper, state: Array, received: Array) -> None:
        """Apply the operator's loop if there is one, otherwise the operator piece by piece."""
        j, run = self._j, 1 << self._j
        loop = loop_of(oper, state)
        if loop is not None and np.may_share_memory(state, received):
            groups = len(state) >> (j + 1)
            loop.body(j, state, state[run:], int(self._index[0]), groups, 2 * run, run)
            return
        shape = (-1, 2, run)
        low, high = state.reshape(shape).swapaxes(0, 1)
        i, theirs = self._index.reshape(shape)[:, 0], received.reshape(shape)[:, 0]
        rows = max(1, PIECE // run)
        columns = 1 if run in SHORT else min(PIECE, run)
        for row in range(0, len(i), rows):
            for column in range(0, run, columns):
                at = slice(row, row + rows), slice(column, column + columns)
                new_low, new_high = oper(j, i[at], low[at], theirs[at])
                if np.may_share_memory(new_low, high[at]):
                    new_low = new_low.copy()
                high[at] = new_high  # first: it may be a view of `low`
                low[at] = new_low


class OneSide(DimensionPairs):
    """Consecutive elements, all lower or all upper ones, with partners on other ranks."""

    def __init__(self, j: int, index: Ints):
        self._j = j
        self._index = index
        self._upper = bool((index[0] >> j) & 1)

    def operate(self, oper: Oper, state: Array, received: Array) -> None:
        """Replace the states by the operator's results for this rank's side of each pair."""
        low, high = (received, state) if self._upper else (state, received)
        loop = loop_of(oper, state)
        if loop is not None:
            loop.body(self._j, low, high, self._lower(0, 1).item(), 1, 0, len(state))
            return
        for begin in range(0, len(state), PIECE):
            at = slice(begin, begin + PIECE)
            lower = self._lower(begin, begin + PIECE)
            state[at] = oper(self._j, lower, low[at], high[at])[self._upper]

    def _lower(self, begin: int, end: int) -> Ints:
        """Return the lower elements of some of the pairs."""
        return self._index[begin:end] & ~(1 << self._j)


class Scattered(DimensionPairs):
    """Elements in any order, some with partners on this rank and some without."""

    def __init__(self, j: int, index: Ints, rows: Callable[[Ints], Ints]):
        self._j = j
        self._index = index
        upper = (index >> j) & 1 == 1
        partners = rows(index ^ (1 << j))
        here = partners >= 0
        both = np.flatnonzero(~upper & here)
        self._both = list(zip(_pieces(both), _pieces(partners[both]), strict=True))
        self._lone_low = _pieces(np.flatnonzero(~upper & ~here))
        self._lone_high = _pieces(np.flatnonzero(upper & ~here))

    def operate(self, oper: Oper, state: Array, received: Array) -> None:
        """Replace the states by the operator's results, computed piece by piece."""
        j, index = self._j, self._index
        for at, other in self._both:
            state[at], state[other] = oper(j, index[at], state[at], received[at])
        for at in self._lone_low:
            state[at] = oper(j, index[at], state[at], received[at])[0]
        for at in self._lone_high:
            state[at] = oper(j, index[at] ^ (1 << j), received[at], state[at])[1]


def _pieces(rows: Ints) -> list[Any]:
    """Return selections of these rows, one per piece: slices for consecutive rows."""
    pieces = [rows[begin : begin + PIECE] for begin in range(0, len(rows), PIECE)]
    return [
        slice(piece[0], piece[-1] + 1) if (np.diff(piece) == 1).all() else piece for piece in pieces
    ]
