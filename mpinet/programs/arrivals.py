"""The parts of sums that have come to processors, and when, each with those who are in it."""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Ints


class Contributions:
    """Contributions to sums, in the order in which they came.

    Parameters
    ----------
    combine : ufunc
        Operator on two 64-bit numbers.
    neutral : int
        What nobody contributes.
    words : int
        Words of a set of those who are in a sum.
    """

    def __init__(self, combine: np.ufunc, neutral: int, words: int):
        self._combine, self._neutral = combine, neutral
        self.rows: Ints = np.empty((0, 4 + words), np.int64)
        """Contributions, one a row: place of the sum, step (0: first contribution), sender, value,
        set of contributors. Shape (k, 4 + words)."""

    def note(self, places: Ints, step: int, senders: Ints, numbers: Ints, copied: Ints) -> None:
        """Note what has come in a step; copies are all that is there from now on.

        Parameters
        ----------
        places, senders : ndarray of int64, shape (m,)
            Of the sums, and who sent them.
        step : int
            The step.
        numbers : ndarray of int64, shape (m, 1 + words)
            Value, and who is in it.
        copied : ndarray of int64, shape (c,)
            Which of the places were copied to.
        """
        steps = np.full(len(places), step)
        new = np.column_stack([places, steps, senders, numbers])
        replaced = np.isin(self.rows[:, 0], copied)
        kept = self.rows[~replaced] if replaced.any() else self.rows
        self.rows = np.concatenate([kept, new])

    def since(self, places: Ints, steps: Ints, receivers: Ints) -> Ints:
        """Combine what came to places in these steps or later, but for what receivers have sent.

        Parameters
        ----------
        places, steps, receivers : ndarray of int64, shape (m,)
            A message each.

        Returns
        -------
        ndarray of int64, shape (m, 1 + words)
            Value, and who is in it.
        """
        order = np.argsort(self.rows[:, 0], kind="stable")
        by_place = self.rows[order, 0]
        first = np.searchsorted(by_place, places)
        count = np.searchsorted(by_place, places, side="right") - first
        message = np.repeat(np.arange(len(places)), count)
        offset = np.arange(len(message)) - np.repeat(np.cumsum(count) - count, count)
        row = order[np.repeat(first, count) + offset]
        wanted = self.rows[row, 1] >= steps[message]
        wanted &= self.rows[row, 2] != receivers[message]
        message, came = message[wanted], self.rows[row[wanted]]
        values = np.full(len(places), self._neutral, np.uint64)
        self._combine.at(values, message, np.ascontiguousarray(came[:, 3]).view(np.uint64))
        givers = np.zeros((len(places), came.shape[1] - 4), np.int64)
        np.bitwise_or.at(givers, message, came[:, 4:])
        return np.column_stack([values.view(np.int64), givers])
