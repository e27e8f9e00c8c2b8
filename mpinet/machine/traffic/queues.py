"""Unlimited queues: skew heaps of messages, with the one to be served first at the root.

The message that is taken out never depends on the heap's shape; adding or taking one costs
logarithmic time on average.
"""

import numpy as np

from mpinet.compiled import part
from mpinet.machine.traffic.layout import NONE


@part
def goes_first(a, b, messages, fifo):
    """Whether message a is served before b."""
    if fifo and messages[a].came != messages[b].came:
        return messages[a].came < messages[b].came
    return messages[a].number < messages[b].number


@part
def melded(a, b, messages, fifo):
    """Meld two heaps into one (Sleator, Tarjan 1986); return its root."""
    if a == NONE:
        return b
    if b == NONE:
        return a
    if goes_first(b, a, messages, fifo):
        a, b = b, a
    root = a
    while True:
        message = messages[a]
        other = np.int64(message.right)
        message.right = message.left
        if other == NONE:
            message.left = b
            return root
        if goes_first(b, other, messages, fifo):
            other, b = b, other
        message.left = other
        a = other


@part
def joined(root, m, messages, fifo):
    """Add message `m` to a queue; return the queue's new root."""
    message = messages[m]
    message.left = message.right = NONE
    return melded(root, m, messages, fifo)


@part
def without_first(root, messages, fifo):
    """Take the first message out of a queue; return the queue's new root."""
    message = messages[root]
    return melded(np.int64(message.left), np.int64(message.right), messages, fifo)
