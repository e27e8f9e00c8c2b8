"""Unlimited queues: heaps of messages, with the one to be served first at the root."""

from mpinet.compiled import inlined, part
from mpinet.machine.heaps import popped, pushed


@inlined
def lower_first(a, b, messages):
    """Messages by their numbers."""
    return messages[a].number < messages[b].number


@inlined
def earlier_first(a, b, messages):
    """Messages by when they came, then by their numbers."""
    one, other = messages[a], messages[b]
    return (one.came, one.number) < (other.came, other.number)


lower_pushed = pushed.bind("lower_pushed", before=lower_first)
lower_popped = popped.bind("lower_popped", before=lower_first)
earlier_pushed = pushed.bind("earlier_pushed", before=earlier_first)
earlier_popped = popped.bind("earlier_popped", before=earlier_first)


@part
# The heap's order is compiled in, and the policy is known only at run time: so both variants are
# bound.
def joined(root, m, messages, fifo):
    """Add message `m` to a queue; return the queue's new root."""
    return earlier_pushed(root, m, messages) if fifo else lower_pushed(root, m, messages)


@part
def without_first(root, messages, fifo):
    """Take the first message out of a queue; return the queue's new root."""
    return earlier_popped(root, messages) if fifo else lower_popped(root, messages)
