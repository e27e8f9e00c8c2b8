"""Counting by echo (Chang 1982): a wave moves out from the root and brings sums back."""


def count(node, root=0):
    """Return the number of processors in this processor's subtree of the wave, itself included.

    At the root of a connected network of links this is the number of all processors. Every link
    carries one message in each direction: a 0 on the way out, a sum on the way back. The program
    needs an all-port machine.
    """
    parent = None
    if node.id != root:
        yield node.receive()
        parent = node.arrival_port
    others = [port for port in node.ports if port != parent]
    if others:
        yield node.send(others, 0)
    counts = yield node.receive_each(others)
    total = 1 + sum(counts.values())
    if parent is not None:
        yield node.send(parent, total)
    return total
