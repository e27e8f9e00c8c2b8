"""Routing rules for the workloads, used by no network."""

from mpinet.compiled import inlined, open_part, rule
from mpinet.draws import MASK32, mix32
from mpinet.networks.arithmetic import count_ones
from mpinet.networks.classic.shift import BITS


@inlined
def next_uniform(word):
    """Return the next 32 random bits of the sequence."""
    return mix32((word + 0x9E3779B9) & MASK32)


# `bind` replaces this part by the decision of a routing.
onward = open_part


@rule
def set_out(source, target, header, params):
    """Draw the first target, and the random bits from which all later targets follow."""
    header[0], header[1] = target, mix32(source)


@rule
def wander(node, header, params):
    """Decide on the next hop; at the target, draw a different node as the new target."""
    if node == header[0]:
        header[1] = next_uniform(int(header[1]))
        drawn = (int(header[1]) * (params[0] - 1)) >> 32
        header[0] = drawn + (drawn >= node)
    return onward(node, header, params)


@rule
def shift_in_digits(node, header, params):
    """Shift left on a de Bruijn graph, starting after the longest overlap with the target.

    Node 0 has no port for its loop, so its other successor has port 0.
    """
    target, bits = header[0], params[BITS]
    if node == target:
        return -1
    shift = 1
    while node & ((1 << (bits - shift)) - 1) != target >> shift:
        shift += 1
    return (target >> (shift - 1) & 1) - (node == 0)


@rule
def parity_first(number, direction, params):
    """Map neighbours of a hypercube to different halves: odd nodes to the second half.

    Direction 0 returns a node's position, direction 1 the node at a position.
    """
    half = params[0] >> 1
    if direction == 0:
        return half * (count_ones(number) & 1) + (number >> 1)
    pair = (number % half) << 1
    return pair + ((count_ones(pair) & 1) ^ (number // half))
