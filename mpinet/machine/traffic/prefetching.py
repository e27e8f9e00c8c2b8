"""Prefetching for the next nodes and flits of a step, on machines larger than the caches.

Lane, message and route are a chain of dependent loads, which would stall a core. These loads are
prefetched a few nodes ahead. No result depends on the prefetching.
"""

import numpy as np

from mpinet.compiled import part, prefetch
from mpinet.machine.traffic.layout import LANES_PER_WORD
from mpinet.networks.arithmetic import lowest_one

# Each load needs the address from the previous load: lane, then message, then route. The
# differences between the three numbers are the time for the memory to answer.
FAR, NEAR, NEXT = 12, 6, 3
"""Number of nodes by which prefetches of lanes, of front messages, and of their ways run ahead."""

SOON = 16
"""Number of arriving flits and credits by which their prefetches run ahead."""

LINE = 64
"""Bytes of a cache line."""

LARGE = 1 << 18
"""Number of lanes from which on a machine exceeds the caches: its lanes take 8 MiB, its whole state
about 40 MiB. On smaller machines waits are short, and prefetches cost as much as they gain.
"""


@part
def fetch_soon(slot, routes, rules, state):
    """Prefetch the data for the nodes after a slot."""
    many = state.nodes.size
    if slot + FAR < many:
        fetch_lanes(slot + FAR, rules, state)
    if slot + NEAR < many:
        fetch_messages(slot + NEAR, rules, state)
    if routes.known.size > 0 and slot + NEXT < many:
        fetch_ways(slot + NEXT, routes.known, rules, state)


@part
def fetch_lane(lane, rules, state):
    """Prefetch a lane and its flits, which may begin and end in two cache lines."""
    prefetch(state.lanes, lane)
    # A lane's record may straddle two lines; the next record's address is in the second line.
    prefetch(state.lanes, lane + 1)
    prefetch(state.ring, lane * rules.buffer)
    prefetch(state.ring, (lane + 1) * rules.buffer - 1)


@part
def fetch_lanes(slot, rules, state):
    """Prefetch the occupied lanes of a node, its outputs, links and channels."""
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
    """Prefetch the messages at the front of a node's lanes."""
    for word in range(rules.words):
        bits = state.occupied[slot * rules.words + word]
        while bits:
            at = word * LANES_PER_WORD + lowest_one(bits)
            bits &= bits - 1
            m = front_of(at, slot, rules, state)
            prefetch(state.messages, m)
            # Headers are rows of few words: the next row usually lies in the next cache line.
            prefetch(state.headers, m)
            prefetch(state.headers, m + 1)


@part
def fetch_ways(slot, known, rules, state):
    """Prefetch the known ways of the messages at the front of a node's lanes."""
    for word in range(rules.words):
        bits = state.occupied[slot * rules.words + word]
        while bits:
            at = word * LANES_PER_WORD + lowest_one(bits)
            bits &= bits - 1
            target = state.messages[front_of(at, slot, rules, state)].target
            prefetch(known, slot * rules.nodes + target)


@part
def front_of(at, slot, rules, state):
    """Return the message at the front of a nonempty lane."""
    place = slot * rules.lanes + at
    if at < rules.ports * rules.vcs:
        return np.int64(state.ring[place * rules.buffer + state.lanes[place].first])
    return np.int64(state.lanes[place].incoming)


@part
def fetch_arrival(flit, rules, state):
    """Prefetch the data that an arriving flit changes."""
    lane, slot = np.int64(flit.lane), np.int64(flit.slot)
    fetch_lane(lane, rules, state)
    prefetch(state.occupied, slot * rules.words)
    prefetch(state.nodes, slot)
    prefetch(state.nodes, slot + 1)
    if flit.message & 1:
        prefetch(state.messages, np.int64(flit.message) >> 1)
