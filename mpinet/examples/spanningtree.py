"""A spanning tree by a token that passes every link once in each direction (Tarry 1895)."""


def spanning_tree(node, root=0):
    """Return the processor's parent in the tree; None at the root.

    A processor that receives the token for the first time takes the sender as its parent. The token
    leaves on every port once, last on the port to the parent: 2 steps for every link of the
    network.
    """
    parent = None
    unused = list(node.ports)
    if node.id != root:
        yield node.receive()
        parent = node.arrival_port
        unused.remove(parent)
    for port in unused:
        yield node.send(port, "token")
        yield node.receive()
    if parent is None:
        return None
    yield node.send(parent, "token")
    return node.neighbor(parent)
