"""The paper's routing in LST(m): four candidate walks, of which the first to arrive is followed.

The walks start on the ports 0..3. Walks 2 and 3 (+1, -1) keep their port; 0 and 1 take their chord
while the target's number is 4 or more higher, then single steps; no comparison goes round the end
of the numbers. The paper's message carries its walk as a list of ports; here the walk's number
stands for that list, and every node finds the next entry from it.
"""

from __future__ import annotations

from mpinet.compiled import inlined, rule
from mpinet.networks.routing import ARRIVED, Routing
from mpinet.networks.topology import Topology

BACK_4, ON_4, ON, BACK = range(4)
"""The ports of LST(m): -4, +4, +1, -1."""

FIRST, WALK, TARGET = 0, 1, 3
"""Bits of the header's word: whether the first hop is to come, the walk's number, the target."""


def candidate_routing(topology: Topology) -> Routing:
    """The routing of the paper (section on routing) in LST(m).

    The header is the list of the remaining ports at 2 bits each, and the target's number.
    """
    bits = (topology.size - 1).bit_length()
    return Routing(
        name="paper",
        decide=follow,
        start=choose,
        params=topology.params,
        # The paper's message carries its ports, two bits each. That size is reported, although the
        # emulator stores only the walk's number.
        header_bits=lambda source, target: list_bits(source, target, topology.size) + bits,
        shortest=False,
        stateless=False,
    )


def list_bits(source: int, target: int, size: int) -> int:
    """Size in bits of the port list that the source writes."""
    return 2 * chosen_walk(source, target, size)[1]


@inlined
def chosen_walk(source, target, size):
    """The number of the walk that arrives first (the highest on a tie), and its hops."""
    ahead = (target - source) % size
    # The highest walk is tried first and others must be shorter. So ties go to the highest number,
    # as in the paper.
    walk, hops = BACK, (source - target) % size
    if ahead < hops:
        walk, hops = ON, ahead
    onward = onward_hops(source, target, size)
    if onward < hops:
        walk, hops = ON_4, onward
    backward = backward_hops(source, target, size)
    if backward < hops:
        walk, hops = BACK_4, backward
    return walk, hops


@inlined
def onward_hops(source, target, size):
    """Length of the walk that starts with +4: up by chords and steps, or down by steps."""
    place = source + 4 if source + 4 < size else source + 4 - size
    way = target - place
    # The paper's comparison never goes round the end of the numbers. A lower target is reached by
    # single steps down.
    return 1 + (way // 4 + way % 4 if way >= 0 else -way)


@inlined
def backward_hops(source, target, size):
    """Length of the walk that starts with -4.

    With the target 4 or more higher it goes down by chords, past 0, to the four highest numbers.
    """
    place = source - 4 if source >= 4 else source - 4 + size
    way = target - place
    if way < 4:
        return 1 + abs(way)
    return 2 + place // 4 + abs(target - (size - 4 + place % 4))


@rule
def choose(source, target, header, params):
    """Choose, at the source, the walk to follow."""
    walk, _ = chosen_walk(source, target, params[0])
    header[0] = (target << TARGET) | (walk << WALK) | 1


@rule
def follow(node, header, params):
    """The walk's next port."""
    word = header[0]
    way = (word >> TARGET) - node
    if way == 0:
        return ARRIVED
    walk = (word >> WALK) & 3
    if walk >= ON:
        return walk
    # The first hop is fixed by the walk's number. Later ones depend on how far the target is.
    if (word >> FIRST) & 1:
        header[0] = word - 1
        return walk
    if way >= 4:
        return walk
    return ON if way > 0 else BACK
