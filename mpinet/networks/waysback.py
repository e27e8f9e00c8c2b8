"""Rules `reverse_port` that several families share."""

from mpinet.compiled import rule


@rule
def same_port(node, port, params):
    """Return the same port: both ends of a link have the same port number."""
    return port


@rule
def other_of_pair(node, port, params):
    """Return the other port of a pair: ports 2j and 2j+1 are the two directions of dimension j."""
    return port ^ 1


@rule
def other_way_round(node, port, params):
    """Return the opposite direction on a ring (ports 0 and 1); port 2 is its own reverse port."""
    return port if port == 2 else 1 - port
