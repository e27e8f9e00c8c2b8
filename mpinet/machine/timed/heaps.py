"""The heaps of the timed machine, for processors, CPUs and servers, with their orders."""

from mpinet.compiled import inlined
from mpinet.machine.heaps import popped, pushed


@inlined
# Total orders are essential: pops must not depend on insertion order, number of ranks or the heap's
# shape.
def issued_first(a, b, operations):
    """Order operations by their keys: two times, then the issuing processor and the order there."""
    one, other = operations[a], operations[b]
    earlier = (one.turn, one.before, one.issuer, one.order)
    return earlier < (other.turn, other.before, other.issuer, other.order)


@inlined
def later_first(a, b, operations):
    """Order operations by the time at which they could begin, then by their keys."""
    one, other = operations[a], operations[b]
    if one.ready != other.ready:
        return one.ready < other.ready
    return issued_first(a, b, operations)


@inlined
def sent_first(a, b, messages):
    """Order messages by their keys, as operations."""
    one, other = messages[a], messages[b]
    earlier = (one.sent, one.before, one.source, one.order)
    return earlier < (other.sent, other.before, other.source, other.order)


@inlined
def coming_first(a, b, messages):
    """Order messages by the time of their arrival, then by their keys."""
    one, other = messages[a], messages[b]
    if one.ready != other.ready:
        return one.ready < other.ready
    return sent_first(a, b, messages)


@inlined
def ready_first(a, b, messages):
    """Order messages at a link by ready time, then by source and number."""
    one, other = messages[a], messages[b]
    earlier = (one.ready, one.source, one.index)
    return earlier < (other.ready, other.source, other.index)


issued_pushed = pushed.bind("issued_pushed", before=issued_first)
issued_popped = popped.bind("issued_popped", before=issued_first)
later_pushed = pushed.bind("later_pushed", before=later_first)
later_popped = popped.bind("later_popped", before=later_first)
sent_pushed = pushed.bind("sent_pushed", before=sent_first)
sent_popped = popped.bind("sent_popped", before=sent_first)
coming_pushed = pushed.bind("coming_pushed", before=coming_first)
coming_popped = popped.bind("coming_popped", before=coming_first)
ready_pushed = pushed.bind("ready_pushed", before=ready_first)
ready_popped = popped.bind("ready_popped", before=ready_first)
