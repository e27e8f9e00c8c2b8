"""Broadcast on a hypercube along a binomial tree, with one port: a dimension per step."""


def broadcast(node, value="news", root=0):
    """Return the value from the root, and the step in which it arrived at this processor.

    In step j + 1 the processors that differ from the root only in bits below j send on port j.
    """
    place = node.id ^ root
    known, informed = (value, 0) if place == 0 else (None, None)
    for port in node.ports:
        if place < 1 << port:
            yield node.send(port, known)
        elif place < 2 << port:
            known = yield node.receive(port)
            informed = node.step
    return known, informed
