"""Broadcast on a hypercube by a binomial tree, one-port: one dimension after the other."""


def broadcast(node, value="news", root=0):
    """Return what the root has sent, and the step in which it came here.

    In step j + 1 the processors that differ from the root in bits below j alone send on port j.
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
