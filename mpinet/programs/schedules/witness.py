"""Looking at what processors received: a pair on one rank is worked out once for both of its ends.

That takes one of the two messages for granted, so that a right result alone does not show that
both have come. Here some elements are worked out again, each from its own state and what its own
processor has received, and compared.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.programs.operators.operator import Oper
from mpinet.programs.operators.probe import same_states
from mpinet.programs.schedules.pairs import keep_own

ALL, SOME = 2**11, 64
"""Up to so many elements on a rank are all looked at, in every dimension; else so many, .."""

EVERY = 4
""".. in one of so many dimensions."""

STRIDE = 2654435761
"""Spreads the elements that are looked at: an odd number, so that there are both ends of pairs."""

STRIDES = np.arange(SOME) * STRIDE

TOGETHER = 16
"""So many dimensions are compared at a time, when the code that does it is in the caches: alone
each takes a tenth as long as its dimension."""


class Witness:
    """Some elements in one dimension, before and after an operator was applied.

    Parameters
    ----------
    j : int
        The dimension.
    rows, index : ndarray of int64, shape (k,)
        Their rows in the state array, and which elements they are.
    own, theirs : ndarray, shape (k,)
        Their states, and what their processors received.
    """

    def __init__(self, j: int, rows: Ints, index: Ints, own: Array, theirs: Array):
        self._j, self._rows, self._index = j, rows, index
        self._own, self._theirs = own, theirs

    @classmethod
    def of(cls, turn: int, j: int, index: Ints, state: Array, received: Array) -> Witness | None:
        """Look at some elements of a rank; None where it is not this dimension's turn.

        Parameters
        ----------
        turn : int
            How many dimensions have been done before.
        j, index
            As here, but all that are on the rank.
        state, received : ndarray
            As in `Pairs.operate`.
        """
        count = len(index)
        if count <= ALL:
            rows = np.arange(count)
        elif turn % EVERY == 0:
            rows = (STRIDES + turn * STRIDE) % count
        else:
            return None
        return cls(j, rows, index[rows], state[rows], received.flat[rows])

    def look(self, oper: Oper, state: Array) -> None:
        """See what the operator has made of them."""
        self._oper, self._made = oper, state[self._rows]

    def astray(self) -> int:
        """Count those that have become something else than their processors make of them."""
        if len(self._rows) == 0:
            return 0
        expected = keep_own(self._oper, self._j, self._index, self._own, self._theirs)
        return int((~same_states(self._made, expected)).sum())
