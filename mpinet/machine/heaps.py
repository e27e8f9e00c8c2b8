"""Heaps of waiting rows, each with its own order; skew heaps (Sleator, Tarjan 1986).

The fields `left` and `right` link the rows, so a heap needs no further memory. Its root is the
first row of the order, independent of the heap's shape. Adding a row or removing the first row
takes logarithmic time on average.
"""

import numpy as np

from mpinet.compiled import open_part, routine

NONE = -1
"""Stand-in for a missing row."""


# The order of a heap's rows, supplied by `bind`: ``before(a, b, rows)``.
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
    """Write the numbers of all rows of a heap, in any order; return the number of rows."""
    # The list is also the queue of rows to visit. The depth of a heap may equal its size, too much
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
    """Remove the first row of a heap; return the new root."""
    row = rows[root]
    left, right = np.int64(row.left), np.int64(row.right)
    if left == NONE:
        return right
    if right == NONE:
        return left
    return melded(left, right, rows)
