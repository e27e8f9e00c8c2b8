"""The heaps of the timed machine, for CPUs, servers and ends of operations, with their orders."""

from mpinet.compiled import inlined
from mpinet.machine.heaps import popped, pushed


@inlined
# Total orders are essential: pops must not depend on insertion order, number of ranks or the heap's
# shape.
def issued_first(a, b, operations):
    """Order operations by issue time, then by number."""
    one, other = operations[a], operations[b]
    return (one.turn, one.number) < (other.turn, other.number)


@inlined
def sent_first(a, b, messages):
    """Order messages by send time, then by source and number."""
    one, other = messages[a], messages[b]
    return (one.sent, one.source, one.index) < (other.sent, other.source, other.index)


@inlined
def ready_first(a, b, messages):
    """Order messages by ready time, then by source, number and hop."""
    one, other = messages[a], messages[b]
    # The hop is part of the key: an operation that began twice has two messages of one source and
    # number.
    earlier = (one.ready, one.source, one.index, one.hop)
    return earlier < (other.ready, other.source, other.index, other.hop)


@inlined
def ended_first(a, b, messages):
    """Order ends of operations by time, then by the operations' rows."""
    one, other = messages[a], messages[b]
    return (one.ready, one.index) < (other.ready, other.index)


issued_pushed = pushed.bind("issued_pushed", before=issued_first)
issued_popped = popped.bind("issued_popped", before=issued_first)
sent_pushed = pushed.bind("sent_pushed", before=sent_first)
sent_popped = popped.bind("sent_popped", before=sent_first)
ready_pushed = pushed.bind("ready_pushed", before=ready_first)
ready_popped = popped.bind("ready_popped", before=ready_first)
ended_pushed = pushed.bind("ended_pushed", before=ended_first)
ended_popped = popped.bind("ended_popped", before=ended_first)
