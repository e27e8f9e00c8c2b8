"""Spot checks of received states, for pairs of elements on one rank.

Such a pair is computed once for both of its elements. The computation ignores one of the two
messages, so a correct result alone does not prove the arrival of both. This module computes some
elements a second time, from their own state and the state received by their own processor, and
compares the results.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.programs.operators.operator import Oper
from mpinet.programs.operators.probe import same_states
from mpinet.programs.schedules.pairs import keep_own

ALL, SOME = 2**11, 64
"""Maximum number of elements per rank that are all checked, in every dimension; otherwise the
number of elements checked in some dimensions.
"""

EVERY = 4
"""Interval between checked dimensions on ranks with more elements."""

STRIDE = 2654435761
"""Distance between checked elements. The number is odd, so both elements of pairs are checked."""

STRIDES = np.arange(SOME) * STRIDE

TOGETHER = 16
"""Number of dimensions compared at a time, while the code is in the caches. A separate comparison
takes a tenth of the time of its dimension.
"""


class Witness:
    """Some elements in one dimension, before and after an operator was applied.

    Parameters
    ----------
    j : int
        The dimension.
    rows, index : ndarray of int64, shape (k,)
        Rows of the elements in the state array, and numbers of the elements.
    own, theirs : ndarray, shape (k,)
        States of the elements, and states received by their processors.
    """

    def __init__(self, j: int, rows: Ints, index: Ints, own: Array, theirs: Array):
        self._j, self._rows, self._index = j, rows, index
        self._own, self._theirs = own, theirs

    @classmethod
    def of(cls, turn: int, j: int, index: Ints, state: Array, received: Array) -> Witness | None:
        """Choose elements of a rank to check in a dimension; None if this dimension is not checked.

        Parameters
        ----------
        turn : int
            Number of dimensions done before.
        j, index
            As in the class; `index` has all elements on the rank.
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
        """Record the witnessed elements' states after the operator."""
        self._oper, self._made = oper, state[self._rows]

    def astray(self) -> int:
        """Return the number of elements whose recorded state differs from the recomputed state."""
        if len(self._rows) == 0:
            return 0
        expected = keep_own(self._oper, self._j, self._index, self._own, self._theirs)
        return int((~same_states(self._made, expected)).sum())
