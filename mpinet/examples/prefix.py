"""Prefix sums on a hypercube, one-port: processor i gets the sum of the items of 0..i."""


def prefix_sums(node, items=None):
    """Return the sum of the items up to this processor's, after one step per dimension.

    Parameters
    ----------
    items : sequence, optional
        The item of every processor, of any type with ``+``; the order is kept. Default: the
        processors' numbers.
    """
    prefix = total = node.id if items is None else items[node.id]
    for port in node.ports:
        other = yield node.exchange(port, total)
        if node.id >> port & 1:
            prefix, total = other + prefix, other + total
        else:
            total = total + other
    return prefix
