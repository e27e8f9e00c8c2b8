"""Heaps of rows that wait, each by an order of its own; skew heaps (Sleator, Tarjan 1986).

Rows are linked by their fields `left` and `right`, so that a heap takes no memory of its own; its
root is the row that comes first. Which that is never depends on the heap's shape. Adding a row, or
taking the first one out, costs logarithmic time on average.
"""

import numpy as np

from mpinet.compiled import open_part, routine

NONE = -1
"""Stand-in for a row where there is none."""


# The order of a heap's rows, which `bind` gives: ``before(a, b, rows)``.
before = open_part


@routine
def melded(a, b, rows):
    """Meld two heaps into one; return its root."""
    if a == NONE:
        return b
    if b == NONE:
        return a
    if before(b, a, rows):
        a, b = b, a
    root = a
    while True:
        row = rows[a]
        other = np.int64(row.right)
        row.right = row.left
        if other == NONE:
            row.left = b
            return root
        if before(b, other, rows):
            other, b = b, other
        row.left = other
        a = other


@routine
def pushed(root, at, rows):
    """Add a row to a heap; return the new root."""
    row = rows[at]
    row.left = NONE
    row.right = NONE
    if root == NONE:
        return at
    return melded(root, at, rows)


@routine
def listed(root, rows, found):
    """Write the numbers of all rows of a heap, in no order; return how many there are."""
    # The list is its own queue of rows to look at: a heap may be as deep as it is large, too deep
    # for recursion.
    count, looked = 0, 0
    if root != NONE:
        found[0], count = root, 1
    while looked < count:
        row = rows[found[looked]]
        looked += 1
        if row.left != NONE:
            found[count] = row.left
            count += 1
        if row.right != NONE:
            found[count] = row.right
            count += 1
    return count


@routine
def popped(root, rows):
    """Take the first row out of a heap; return the new root."""
    row = rows[root]
    left, right = np.int64(row.left), np.int64(row.right)
    if left == NONE:
        return right
    if right == NONE:
        return left
    return melded(left, right, rows)
