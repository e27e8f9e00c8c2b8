"""The stateless routing of a GBSN: a shift plan, and a tree plan where that has no way (3.3)."""

from mpinet.compiled import inlined, rule
from mpinet.networks.gbsn.description import (
    BLOCK_BITS,
    LEFT,
    PLACE_BITS,
    SHIFT,
    TOPS,
    A,
    block_of,
    first_of,
    is_needy,
    record,
)
from mpinet.networks.gbsn.exits import NONE, nearest_exit
from mpinet.networks.gbsn.partial import partial_port
from mpinet.networks.gbsn.words import bits_to_bring
from mpinet.networks.routing import ARRIVED


@rule
def decide(node, header, params):
    """Go to the target inside its block, else to the way out of the block, and out."""
    return port_towards(node, header[0], params)


@inlined
def port_towards(node, target, params):
    """The port of the first hop from a node to the target, or `ARRIVED`."""
    if node == target:
        return ARRIVED
    block, goal = block_of(node, params), block_of(target, params)
    at = record(block, params)
    place, left = node - first_of(block, params), params[at + LEFT]
    if block == goal:
        return partial_port(
            place, target - first_of(block, params), params[at + A], params[at + TOPS]
        )
    bits = bits_to_bring(block, goal, params[SHIFT], params[BLOCK_BITS])
    way_out, port = nearest_exit(block, place, goal, bits, params), left + 1
    # The shift plan lacks a block or a place somewhere. The tree of up-links reaches everything in
    # a completed network, by more hops.
    if way_out == NONE:
        way_out, side = tree_exit(block, goal, params)
        port = left + side
    if place == way_out:
        return port
    return partial_port(place, way_out, params[at + A], params[at + TOPS])


@inlined
def tree_exit(block, goal, params):
    """The place with the link towards block `goal` in the block tree; 0 or 1 for LEFT or RIGHT.

    In the tree every block but 0 hangs by its up-link: by the port RIGHT of its first place, on
    block B >> 1 if it is needy, else on B >> b.
    """
    shift = params[SHIFT]
    child, above = goal, goal
    # Blocks above have lower numbers. Climbing from the goal meets this block exactly if the goal
    # hangs below it.
    while above > block:
        child = above
        above = child >> 1 if is_needy(child, params) else child >> shift
    if above < block:
        return 0, 1
    if is_needy(child, params):
        return child & 1, child & 1
    return (child & ((1 << shift) - 1)) << (params[PLACE_BITS] - shift), 0
