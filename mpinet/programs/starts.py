"""Searches that begin again and again, each time with another seed."""

from __future__ import annotations

from collections.abc import Callable

from mpinet.base.arrays import Table


def best_rows(take: Callable[[int], int], rows: Table, starts: int, bound: int) -> Table:
    """The rows of the start that takes the fewest steps, the first of several.

    Parameters
    ----------
    take : callable(seed)
        Writes into `rows`, by step, which each has in front; returns how many there are.
    rows : ndarray of int64, shape (most, columns)
        Room for the rows of a start.
    starts : int
        How often to begin, with the seeds 0, 1, ..; at least once.
    bound : int
        Steps that nothing beats: there the search stops.

    Returns
    -------
    ndarray of int64, shape (count, columns)
        A copy.
    """
    best = rows[:0]
    for seed in range(max(1, starts)):
        count = take(seed)
        if not len(best) or rows[count - 1, 0] < best[-1, 0]:
            best = rows[:count].copy()
        if best[-1, 0] <= bound:
            break
    return best
