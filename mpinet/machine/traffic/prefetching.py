"""Prefetching of what the next nodes and flits of a step need, on machines beyond the caches.

Lane, message and route are a chain of dependent loads, on which a core would wait for memory. They
are prefetched some nodes before their turn. No result depends on it.
"""

import numpy as np

from mpinet.compiled import part, prefetch
from mpinet.machine.traffic.layout import LANES_PER_WORD
from mpinet.networks.arithmetic import lowest_one

# Each load needs the address that the load before brings: lane, then message, then route. The
# distances between the three numbers are the time that memory has to answer.
FAR, NEAR, NEXT = 12, 6, 3
"""Nodes before their turn, when their lanes, the messages in front of these, and then the ways of
these are asked for."""

SOON = 16
"""Flits and credits that arrive before the one that is asked for."""

LINE = 64
"""Bytes that come into the cache at once."""

LARGE = 1 << 18
"""Lanes of a machine that is beyond the caches: those alone are 8 MiB, all of it some 40. Below,
where waits are short, the requests themselves cost as much as they gain."""


@part
def fetch_soon(slot, routes, rules, state):
    """Ask for what the nodes behind a slot need."""
    many = state.nodes.size
    if slot + FAR < many:
        fetch_lanes(slot + FAR, rules, state)
    if slot + NEAR < many:
        fetch_messages(slot + NEAR, rules, state)
    if routes.known.size > 0 and slot + NEXT < many:
        fetch_ways(slot + NEXT, routes.known, rules, state)


@part
def fetch_lane(lane, rules, state):
    """Ask for a lane and the flits in it, which may begin and end in two lines of the cache."""
    prefetch(state.lanes, lane)
    # A lane's record may straddle two lines; the neighbour's address is in the second one.
    prefetch(state.lanes, lane + 1)
    prefetch(state.ring, lane * rules.buffer)
    prefetch(state.ring, (lane + 1) * rules.buffer - 1)


@part
def fetch_lanes(slot, rules, state):
    """Ask for the occupied lanes of a node, its outputs, links and channels."""
    base, ports = slot * rules.lanes, rules.ports
    for word in range(rules.words):
        bits = state.occupied[slot * rules.words + word]
        while bits:
            fetch_lane(base + word * LANES_PER_WORD + lowest_one(bits), rules, state)
            bits &= bits - 1
    for at in range(0, ports * rules.vcs + LINE // 8, LINE // 8):
        prefetch(state.channels, base + at)
    for at in range(0, ports + LINE // 8, LINE // 8):
        prefetch(state.outputs, slot * (ports + 1) + at)
    for at in range(0, ports + LINE // 12, LINE // 12):
        prefetch(state.links, slot * ports + at)


@part
def fetch_messages(slot, rules, state):
    """Ask for the messages in front of the lanes of a node."""
    for word in range(rules.words):
        bits = state.occupied[slot * rules.words + word]
        while bits:
            at = word * LANES_PER_WORD + lowest_one(bits)
            bits &= bits - 1
            m = front_of(at, slot, rules, state)
            prefetch(state.messages, m)
            # Headers are rows of few words: the row after it most often lies in the line that
            # follows.
            prefetch(state.headers, m)
            prefetch(state.headers, m + 1)


@part
def fetch_ways(slot, known, rules, state):
    """Ask for the ways that are known for the messages in front of the lanes of a node."""
    for word in range(rules.words):
        bits = state.occupied[slot * rules.words + word]
        while bits:
            at = word * LANES_PER_WORD + lowest_one(bits)
            bits &= bits - 1
            target = state.messages[front_of(at, slot, rules, state)].target
            prefetch(known, slot * rules.nodes + target)


@part
def front_of(at, slot, rules, state):
    """Return the message in front of a lane that is not empty."""
    place = slot * rules.lanes + at
    if at < rules.ports * rules.vcs:
        return np.int64(state.ring[place * rules.buffer + state.lanes[place].first])
    return np.int64(state.lanes[place].incoming)


@part
def fetch_arrival(flit, rules, state):
    """Ask for what a flit that arrives soon changes."""
    lane, slot = np.int64(flit.lane), np.int64(flit.slot)
    fetch_lane(lane, rules, state)
    prefetch(state.occupied, slot * rules.words)
    prefetch(state.nodes, slot)
    prefetch(state.nodes, slot + 1)
    if flit.message & 1:
        prefetch(state.messages, np.int64(flit.message) >> 1)
