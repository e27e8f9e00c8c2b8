"""Rules `reverse_port` that several families share."""

from mpinet.compiled import rule


@rule
def same_port(node, port, params):
    """The port leads back from its other end, too."""
    return port


@rule
def other_of_pair(node, port, params):
    """Ports 2j and 2j+1 are the two directions of one dimension."""
    return port ^ 1


@rule
def other_way_round(node, port, params):
    """Ports 0 and 1 are the two directions of a ring; a port 2 is its own way back."""
    return port if port == 2 else 1 - port
