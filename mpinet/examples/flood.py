"""Flooding on an all-port machine: every processor learns its distance from the root."""


def flood(node, root=0):
    """Return the distance from the root in hops.

    After its first receive, a processor sends the flood on all ports. Every link then
    carries one message in each direction, and all of these are received.
    """
    silent = set(node.ports)
    if node.id != root:
        yield node.receive()
        silent.remove(node.arrival_port)
    distance = node.step
    yield node.send(node.ports, "heard")
    yield node.receive_each(silent)
    return distance
