"""Searches with repeated starts, each with another seed."""

from __future__ import annotations

from collections.abc import Callable

from mpinet.base.arrays import Table
from mpinet.compiled import inlined
from mpinet.draws import draw32

FEW = 2**10
"""Maximum number of items examined completely by a greedy search; of more items some are examined,
from a random position on.
"""


def best_rows(take: Callable[[int], int], rows: Table, starts: int, bound: int) -> Table:
    """Return the rows of the start with the fewest steps, the first of several.

    Parameters
    ----------
    take : callable(seed)
        Writes rows into `rows`, ordered by step, the first column. Returns their number; 0 if
        nothing was found.
    rows : ndarray of int64, shape (most, columns)
        Room for the rows of a start.
    starts : int
        Number of starts, with the seeds 0, 1 and so on; at least one.
    bound : int
        Lower bound of the steps. The search ends when a start meets the bound.

    Returns
    -------
    ndarray of int64, shape (count, columns)
        A copy, or a view for a single start.
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
    """Return the random word of 64 items at which a node begins to examine its missing items."""
    if items <= FEW:
        return 0
    return draw32(int(seed), int(node), int(step), 16) % ((items + 63) >> 6)
