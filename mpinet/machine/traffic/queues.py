"""Unlimited queues: heaps of messages, with the message to serve first at the root."""

from mpinet.compiled import inlined, part
from mpinet.machine.heaps import popped, pushed


@inlined
def lower_first(a, b, messages):
    """Order messages by number."""
    return messages[a].number < messages[b].number


@inlined
def earlier_first(a, b, messages):
    """Order messages by arrival, then by number."""
    one, other = messages[a], messages[b]
    return (one.came, one.number) < (other.came, other.number)


lower_pushed = pushed.bind("lower_pushed", before=lower_first)
lower_popped = popped.bind("lower_popped", before=lower_first)
earlier_pushed = pushed.bind("earlier_pushed", before=earlier_first)
earlier_popped = popped.bind("earlier_popped", before=earlier_first)


@part
# The heap's order is compiled in, but the policy is known only at run time: both variants are
# bound.
def joined(root, m, messages, fifo):
    """Add message `m` to a queue; return the queue's new root."""
    return earlier_pushed(root, m, messages) if fifo else lower_pushed(root, m, messages)


@part
def without_first(root, messages, fifo):
    """Remove the first message of a queue; return the queue's new root."""
    return earlier_popped(root, messages) if fifo else lower_popped(root, messages)
