"""Contributions to sums by arrival step, each with its set of contributors."""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Ints


class Contributions:
    """Contributions to sums, in order of arrival.

    Parameters
    ----------
    combine : ufunc
        Operator on two 64-bit numbers.
    neutral : int
        Value of a sum without contributions.
    words : int
        Number of words of a set of contributors.
    """

    def __init__(self, combine: np.ufunc, neutral: int, words: int):
        self._combine, self._neutral = combine, neutral
        self.rows: Ints = np.empty((0, 4 + words), np.int64)
        """Contributions, one per row: index of the sum, step (0: own contribution), sender, value,
        set of contributors. Shape (k, 4 + words).
        """

    def note(self, places: Ints, step: int, senders: Ints, numbers: Ints, copied: Ints) -> None:
        """Record the arrivals of a step; a copy replaces all earlier contributions to its sum.

        Parameters
        ----------
        places, senders : ndarray of int64, shape (m,)
            Sums, and senders of the contributions.
        step : int
            The step.
        numbers : ndarray of int64, shape (m, 1 + words)
            Values, and sets of contributors.
        copied : ndarray of int64, shape (c,)
            Sums that were replaced by copies.
        """
        steps = np.full(len(places), step)
        new = np.column_stack([places, steps, senders, numbers])
        replaced = np.isin(self.rows[:, 0], copied)
        kept = self.rows[~replaced] if replaced.any() else self.rows
        self.rows = np.concatenate([kept, new])

    def since(self, places: Ints, steps: Ints, receivers: Ints) -> Ints:
        """Combine arrivals of sums since given steps, without the receivers' contributions.

        Parameters
        ----------
        places, steps, receivers : ndarray of int64, shape (m,)
            Sum, first step and receiver of each message.

        Returns
        -------
        ndarray of int64, shape (m, 1 + words)
            Values, and sets of contributors.
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
