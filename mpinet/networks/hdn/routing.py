"""Routing in hierarchical dual-nets (docs/papers/hdn, 4 and 5).

A header is a stack of legs: its first word is their number, and the last leg is processed first. A
leg is the number t of a target node, ~t for the same in reverse mode, or `CROSSING` + l for the
cross port of level l. The level of a leg to t follows from t and the current node.
"""

from __future__ import annotations

from mpinet.compiled import Rule, inlined, rule
from mpinet.networks.classic.ring import MINUS, PLUS, way_round
from mpinet.networks.hdn.levels import (
    BASE_SIZE,
    CLUSTERS,
    FACTOR_RECORD,
    FACTORS,
    FACTORS_AT,
    FIRST_CROSS,
    FIRST_PORT,
    IS_COMPLETE,
    IS_PATH,
    IS_RING,
    KIND,
    LEVELS,
    MEMBERS,
    SIDE,
    UNIT,
    WEIGHT,
    across,
    level_record,
    with_super_node,
)
from mpinet.networks.routing import ARRIVED, Routing
from mpinet.networks.topology import Topology

CROSSING = 1 << 62
"""A number larger than every node number: a node has at least two ports, and ports have 63-bit
numbers.
"""

TAG_BITS = 2
"""Bits that distinguish a crossing, a leg to a node, and such a leg in reverse mode."""


def legs_routing(name: str, topology: Topology, start: Rule, most: int) -> Routing:
    """Return a routing whose header is a stack of at most `most` legs."""
    levels = int(topology.params[LEVELS])
    leg_bits = TAG_BITS + levels.bit_length() + max(1, (topology.size - 1).bit_length())
    return Routing(
        name=name,
        decide=decide_stack,
        params=topology.params,
        header_bits=lambda source, target: most * leg_bits,
        start=start,
        words=1 + most,
        shortest=levels <= 1,
        stateless=False,
    )


@inlined
def differing_level(node, target, params):
    """Return the highest level at which class or cluster differ; 0 in the same base copy."""
    # Most decisions are inside a base copy. One division detects this case before any level is
    # inspected.
    if node // params[BASE_SIZE] == target // params[BASE_SIZE]:
        return 0
    level = params[LEVELS]
    unit = params[level_record(level, params) + UNIT]
    while node // unit == target // unit:
        level -= 1
        unit = params[level_record(level, params) + UNIT]
    return level


@inlined
def base_port(node, target, backward, params):
    """Return the port of the next hop within the base (docs/papers/hdn, 4).

    The path corrects the factors in ascending order. With `backward`, it is the path from the
    target, walked in reverse: the factors come in descending order.
    """
    factor, following = FACTORS_AT, FACTOR_RECORD
    if backward:
        factor += (params[FACTORS] - 1) * FACTOR_RECORD
        following = -FACTOR_RECORD
    weight, side = params[factor + WEIGHT], params[factor + SIDE]
    offset = (target // weight - node // weight) % side
    while offset == 0:
        factor += following
        weight, side = params[factor + WEIGHT], params[factor + SIDE]
        offset = (target // weight - node // weight) % side
    first, kind = params[factor + FIRST_PORT], params[factor + KIND]
    if kind == IS_COMPLETE:
        return first + offset - 1
    if kind == IS_PATH:
        return first + (PLUS if node // weight % side + offset < side else MINUS)
    # Reverse mode walks the links of a forward path from its end. The forward walk breaks the tie
    # by PLUS, and passes the same links as a backward walk by MINUS.
    if backward and 2 * offset == side:
        return first + MINUS
    return first + way_round(offset, side)


@rule
def decide_stack(node, header, params):
    """Return the port of the top leg, replaced by legs of lower levels if needed (5.2)."""
    top = header[0]
    while top > 0:
        leg = header[top]
        if leg >= CROSSING:
            # A crossing is removed before the message leaves. The next node then starts with the
            # following leg.
            header[0] = top - 1
            return params[FIRST_CROSS] + leg - CROSSING - 1
        target = leg if leg >= 0 else ~leg
        if node == target:
            top -= 1
            continue
        level = differing_level(node, target, params)
        if level == 0:
            header[0] = top
            return base_port(node, target, leg < 0, params)
        top = split_leg(node, target, level, leg < 0, header, top, params)
    header[0] = 0
    return ARRIVED


@inlined
def split_leg(node, target, level, backward, header, top, params):
    """Replace the top leg at a level by crossings and legs of lower levels; return the new top."""
    record = level_record(level, params)
    unit, clusters = params[record + UNIT], params[record + CLUSTERS]
    own, other = node // unit, target // unit
    if own // clusters == other // clusters:
        header[top] = CROSSING + level if backward else target
        header[top + 1] = ~across(target, record, params) if backward else CROSSING + level
        return top + 1
    # The part in the target's cluster is planned backwards from the target. In reverse mode this
    # part meets the crossing at the same node as Algorithm 1 does.
    header[top] = ~target
    if backward:
        header[top + 1] = CROSSING + level
        here = target + (own - other) * unit
        header[top + 2] = ~with_super_node(here, record, other % clusters, params)
    else:
        header[top + 1] = with_super_node(target, record, own % clusters, params)
        header[top + 2] = CROSSING + level
    header[top + 3] = with_super_node(node, record, other % clusters, params)
    return top + 3


@rule
def start_stack(source, target, header, params):
    """Write a header with one leg, to the target."""
    header[0] = 1
    header[1] = target


@rule
def decide_stateless(node, header, params):
    """Return the port towards the next node with a crossing, level by level (5.3)."""
    target = header[0]
    if node == target:
        return ARRIVED
    level = differing_level(node, target, params)
    while level > 0:
        record = level_record(level, params)
        unit, clusters = params[record + UNIT], params[record + CLUSTERS]
        own, other = node // unit, target // unit
        if own // clusters == other // clusters:
            return params[FIRST_CROSS] + level - 1
        # Moving the target into this cluster keeps its lower digits. The node before the crossing
        # is then the one nearest to the rest of the route.
        here = target + (own - other) * unit
        target = with_super_node(here, record, other % clusters, params)
        if node == target:
            return params[FIRST_CROSS] + level - 1
        level = differing_level(node, target, params)
    return base_port(node, target, False, params)


@rule
def start_landing(source, target, header, params):
    """Write the base walks and crossings of the whole path (5.4).

    The crossings do not depend on the landings. The legs are therefore split first, without
    landings. The target is then led back over the crossings: at every base walk this shows the
    later coordinates. In forward order, each walk before a crossing that keeps a coordinate takes
    the coordinate to the least place on a shortest path to its later value. This place is also the
    best one for landings of the levels in between.
    """
    first = split_legs(source, target, header, params)
    # The target is led back over all crossings. This gives the final coordinates for each base
    # walk.
    needed = target
    for at in range(first, header.size):
        if header[at] >= CROSSING:
            needed = across(needed, level_record(header[at] - CROSSING, params), params)
        else:
            header[at] = needed
    node = source
    for at in range(header.size - 1, first - 1, -1):
        if header[at] >= CROSSING:
            node = across(node, level_record(header[at] - CROSSING, params), params)
            continue
        # Only coordinates in the super-node survive a crossing. All others are exchanged, and may
        # take any place now.
        kept = 0
        if at > first:
            kept = params[level_record(header[at - 1] - CROSSING, params) + MEMBERS]
        node = landing(node, header[at], kept, params)
        header[at] = node
    header[0] = header.size - first
    for at in range(first, header.size):
        header[1 + at - first] = header[at]


@inlined
def split_legs(source, target, header, params):
    """Write the path's base walks (as 0) and crossings backwards from the header's end.

    Legs that remain to be split are a stack at the header's start. Return the last leg's place.
    """
    node, top, last = source, 1, header.size
    header[1] = target
    while top > 0:
        leg = header[top]
        level = 0 if leg >= CROSSING else differing_level(node, leg, params)
        if level == 0:
            top -= 1
            # The result grows from the end of the header, the stack from its front. They share the
            # header's words and never meet.
            last -= 1
            header[last] = leg if leg >= CROSSING else 0
            if leg >= CROSSING:
                node = across(node, level_record(leg - CROSSING, params), params)
            else:
                node = leg
            continue
        record = level_record(level, params)
        unit, clusters = params[record + UNIT], params[record + CLUSTERS]
        own, other = node // unit, leg // unit
        top += 1
        header[top] = CROSSING + level
        if own // clusters != other // clusters:
            top += 1
            header[top] = with_super_node(node, record, other % clusters, params)
    return last


@inlined
def landing(node, needed, kept, params):
    """Return the end of a base walk: kept coordinates at their least place, others at the goal."""
    end = node
    for j in range(params[FACTORS]):
        factor = FACTORS_AT + j * FACTOR_RECORD
        weight, side = params[factor + WEIGHT], params[factor + SIDE]
        place, goal = node // weight % side, needed // weight % side
        if kept >> j & 1:
            goal = least_between(place, goal, side, params[factor + KIND])
        end += (goal - place) * weight
    return end


@inlined
def least_between(place, goal, side, kind):
    """Return the least place on a shortest path between two places of a factor."""
    if kind == IS_RING:
        offset = (goal - place) % side
        around = goal < place if 2 * offset < side else goal > place
        # The shorter direction passes the closing link, and with it place 0. On a tie one of two
        # shortest paths does.
        if 2 * offset == side or around:
            return 0
    return min(place, goal)
