"""Two-way shift routing on a GBSN: as printed, and corrected (docs/papers/gbsn, 3.4).

The paper applies the routing of the BSN to the GBSN (section IV). A message needs links that a GBSN
may lack. As printed, the message then stops. Corrected, it goes on by the GBSN's own routing.
"""

from __future__ import annotations

from collections.abc import Callable

from mpinet.base.arrays import Ints
from mpinet.compiled import Rule, inlined, rule
from mpinet.networks.arithmetic import ceil_log2, lowest_one
from mpinet.networks.gbsn.description import (
    BLOCK_BITS,
    LEFT,
    PLACE_BITS,
    SHIFT,
    SIZE,
    A,
    block_of,
    first_of,
    left_shift,
    other_end,
    record,
    right_shift,
)
from mpinet.networks.gbsn.partial import flipping_port
from mpinet.networks.gbsn.routing import port_towards
from mpinet.networks.gbsn.words import rotated_left
from mpinet.networks.routing import ARRIVED, STUCK, Routing

WORD, SHIFTS, TARGET = range(3)
"""Words of the header: the target's word, the number of right shifts that are not undone, and the
target, or -1 minus the target after the first missing link.
"""


def two_way_routings(params: Ints, completed: bool) -> dict[str, Callable[[], Routing]]:
    """Return the routing as printed and, in a completed network, the corrected routing."""
    length = int(params[BLOCK_BITS] + params[PLACE_BITS])
    bits = length + ceil_log2(-(-length // int(params[SHIFT])))

    def made(name: str, decide: Rule, more: int) -> Routing:
        return Routing(
            name=name,
            start=start_two_way,
            decide=decide,
            params=params,
            header_bits=lambda source, target: bits + more,
            words=3,
            shortest=False,
            stateless=False,
        )

    printed = {"twsr": lambda: made("twsr", decide_two_way, 0)}
    if not completed:
        return printed
    return printed | {"twsr-corrected": lambda: made("twsr-corrected", decide_corrected, 1)}


@rule
def start_two_way(source, target, header, params):
    """Write the target's word, and a count of 0 right shifts."""
    block = block_of(target, params)
    header[WORD] = (block << params[PLACE_BITS]) | (target - first_of(block, params))
    header[SHIFTS] = 0
    header[TARGET] = target


@rule
def decide_two_way(node, header, params):
    """Return the next port of two-way shift routing, or `STUCK` where its link is missing.

    Bits are set as far as the block of the node has partial links (docs/papers/gbsn, 3.4).
    """
    return two_way_port(node, header, params)


@rule
def decide_corrected(node, header, params):
    """Return the next port of two-way shift routing; after a missing link that of `gbsn`."""
    if header[TARGET] >= 0:
        port = two_way_port(node, header, params)
        if port != STUCK:
            return port
        header[TARGET] = -1 - header[TARGET]
    return port_towards(node, -1 - header[TARGET], params)


@inlined
def two_way_port(node, header, params):
    """Return the port of the next hop, `ARRIVED`, or `STUCK` if the link is missing."""
    shift, bits = params[SHIFT], params[BLOCK_BITS] + params[PLACE_BITS]
    block = block_of(node, params)
    at, place = record(block, params), node - first_of(block, params)
    word = (block << params[PLACE_BITS]) | place
    moving = rotated_left(word, shift, bits) != word
    while True:
        turned = header[SHIFTS] * shift
        difference = rotated_left(word, turned, bits) ^ header[WORD]
        if difference == 0 and header[SHIFTS] == 0:
            return ARRIVED
        section = (difference >> turned) & ((1 << shift) - 1)
        if section != 0:
            a = params[at + A]
            subsection = lowest_one(section) // a
            flipped = section & (((1 << a) - 1) << (subsection * a))
            if place ^ flipped >= params[at + SIZE]:
                return STUCK
            return flipping_port(flipped, subsection, a)
        leftwards = difference == 0
        header[SHIFTS] += -1 if leftwards else 1
        # Shifts that keep the word are no hops. The loop passes them without leaving the node.
        if moving:
            return shift_port(block, place, leftwards, params)


@inlined
def shift_port(block, place, leftwards, params):
    """Return the port LEFT or RIGHT, or `STUCK` unless the port leads to the shifted word."""
    other, there, _ = other_end(block, place, leftwards, params)
    if leftwards:
        wanted, wanted_place = left_shift(block, place, params)
    else:
        wanted, wanted_place = right_shift(block, place, params)
    if other != wanted or there != wanted_place:
        return STUCK
    return params[record(block, params) + LEFT] + (0 if leftwards else 1)
