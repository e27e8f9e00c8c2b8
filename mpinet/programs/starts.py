"""Searches that begin again and again, each time with another seed."""

from __future__ import annotations

from collections.abc import Callable

from mpinet.base.arrays import Table
from mpinet.compiled import inlined
from mpinet.draws import draw32

FEW = 2**10
"""Items of which a greedy search looks at all; of more it looks at some, from a drawn place on."""


def best_rows(take: Callable[[int], int], rows: Table, starts: int, bound: int) -> Table:
    """The rows of the start that takes the fewest steps, the first of several.

    Parameters
    ----------
    take : callable(seed)
        Writes into `rows`, by step, which each has in front; returns how many there are, 0 where
        nothing was found.
    rows : ndarray of int64, shape (most, columns)
        Room for the rows of a start.
    starts : int
        How often to begin, with the seeds 0, 1, ..; at least once.
    bound : int
        Steps that nothing beats: there the search stops.

    Returns
    -------
    ndarray of int64, shape (count, columns)
        A copy, or a view if there is one start.
    """
    if starts <= 1:
        return rows[: take(0)]
    best = rows[:0]
    for seed in range(starts):
        count = take(seed)
        if count and (not len(best) or rows[count - 1, 0] < best[-1, 0]):
            best = rows[:count].copy()
        if len(best) and best[-1, 0] <= bound:
            break
    return best


@inlined
def first_word(seed, node, step, items):
    """Draw the word of 64 items from which on a node looks at those that it lacks."""
    if items <= FEW:
        return 0
    return draw32(int(seed), int(node), int(step), 16) % ((items + 63) >> 6)
