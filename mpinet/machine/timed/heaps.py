"""Heaps of rows that wait, each by an order of its own; skew heaps (Sleator, Tarjan 1986).

Rows are linked by their fields `left` and `right`, so that a heap takes no memory of its own. Which
row comes first never depends on a heap's shape.
"""

import numpy as np

from mpinet.compiled import inlined, routine
from mpinet.machine.timed.layout import NONE


@inlined
def before(a, b, rows):
    """Stand-in for the order of a heap's rows."""
    raise NotImplementedError


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
def popped(root, rows):
    """Take the first row out of a heap; return the new root."""
    row = rows[root]
    left, right = np.int64(row.left), np.int64(row.right)
    if left == NONE:
        return right
    if right == NONE:
        return left
    return melded(left, right, rows)


@inlined
def issued_first(a, b, operations):
    """Operations by when they were issued, then by their numbers."""
    one, other = operations[a], operations[b]
    if one.turn != other.turn:
        return one.turn < other.turn
    return one.number < other.number


@inlined
def sent_first(a, b, messages):
    """Messages by when they were sent, then by source and number."""
    one, other = messages[a], messages[b]
    if one.sent != other.sent:
        return one.sent < other.sent
    if one.source != other.source:
        return one.source < other.source
    return one.index < other.index


@inlined
def ready_first(a, b, messages):
    """Messages by when they are ready, then by source, number and hop."""
    one, other = messages[a], messages[b]
    if one.ready != other.ready:
        return one.ready < other.ready
    if one.source != other.source:
        return one.source < other.source
    if one.index != other.index:
        return one.index < other.index
    return one.hop < other.hop


@inlined
def ended_first(a, b, messages):
    """Ends of operations by their time, then by the operations' rows."""
    one, other = messages[a], messages[b]
    if one.ready != other.ready:
        return one.ready < other.ready
    return one.index < other.index


issued_pushed = pushed.bind("issued_pushed", before=issued_first)
issued_popped = popped.bind("issued_popped", before=issued_first)
sent_pushed = pushed.bind("sent_pushed", before=sent_first)
sent_popped = popped.bind("sent_popped", before=sent_first)
ready_pushed = pushed.bind("ready_pushed", before=ready_first)
ready_popped = popped.bind("ready_popped", before=ready_first)
ended_pushed = pushed.bind("ended_pushed", before=ended_first)
ended_popped = popped.bind("ended_popped", before=ended_first)
