"""Routing around faults that a message meets on its way (docs/papers/gmn, 5.1).

A fault is a dead node or a dead link, and only its neighbours know it. The node before the fault
replaces the beginning of the list of tokens by a detour to a later node of the path. The header
collects the faults that the message has met, and later detours avoid all of these.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import Rule, inlined, open_part, rule
from mpinet.networks.gmn.parameters import JUMPS, MOST, NO_TOKEN, SECTOR, TYPES
from mpinet.networks.gmn.routing import (
    drop_token,
    list_words,
    listed_routing,
    next_token,
    write_list,
)
from mpinet.networks.routing import STUCK, Routing
from mpinet.networks.topology import Topology

PORTS = 4
"""Ports of a node of the loops."""

WORD, LONGEST, DEAD, CUT, LISTED = range(5)
"""Places after the topology's parameters.

These are the header's first word of met faults, the most tokens of a list, the numbers of dead
nodes and of dead links (both directions), and the faults themselves.
"""

TOKENS, NODES, DETOUR, AHEAD, ROWS = range(5)
"""Rows of scratch memory: a list of tokens, the node behind each token, a detour, and the tokens
ahead of the detour.
"""

LONGER = 32
"""Tokens by which a fault may lengthen a list, in loops of more nodes."""

ROOM = 1 << 13
"""Most nodes that the search for a detour visits."""


Rules = tuple[Rule, Rule]
"""The rules `start` and `decide` of a routing."""


def met(
    name: str,
    topology: Topology,
    plain: Rules,
    around: Rules,
    table: Callable[[tuple[int, ...]], Ints] = lambda dead: np.zeros(0, np.int64),
) -> Routing:
    """Return a routing with other rules around faults, which their neighbours know.

    Parameters
    ----------
    name, topology
        As in `Routing`.
    plain, around : (Rule, Rule)
        The rules without and with faults.
    table : callable
        ``table(dead)`` returns the detours around dead nodes for `listed_detour`.
    """

    def repaired(dead: tuple[int, ...], cut: tuple[tuple[int, int], ...]) -> Routing:
        for node in {*dead, *(end for link in cut for end in link)}:
            topology.require_node(node)
        faults = len(dead) + len(cut)
        longer = min(topology.size, LONGER * faults)
        longest = int(topology.params[MOST]) + longer
        listed = [list_words(topology.params, longer), longest, len(dead), len(cut), *dead]
        listed += [end for link in cut for end in link]
        params = np.concatenate([topology.params, np.array(listed), table(dead)])
        return listed_routing(name, topology, params, *around, longer, 2 * faults, dead=dead)

    return listed_routing(name, topology, topology.params, *plain, repaired=repaired)


# The node behind a token, the token at a port of a node, the rule for the list, and the detour of a
# table; `bind` sets them.
node_behind = token_at_port = listed_decide = listed_detour = open_part


@inlined
def no_detour(node, count, scratch, header, params):
    """Return -1: without a table, each detour is found by a search."""
    return -1


@inlined
def faults_at(params):
    """Return the place of the faults in the parameters."""
    return JUMPS + 2 * params[SECTOR] + params[TYPES]


@inlined
def is_dead(node, params):
    """Return whether a node is dead."""
    at = faults_at(params)
    for place in range(params[at + DEAD]):
        if params[at + LISTED + place] == node:
            return True
    return False


@inlined
def is_broken(node, other, params):
    """Return whether the neighbour of a node, or the link to it, is dead."""
    if is_dead(other, params):
        return True
    at = faults_at(params)
    links = at + LISTED + params[at + DEAD]
    for link in range(params[at + CUT]):
        if params[links + 2 * link] == node and params[links + 2 * link + 1] == other:
            return True
    return False


@inlined
def has_met(node, other, header, params):
    """Return whether the message has met the dead neighbour of a node, or the dead link to it."""
    at = faults_at(params)
    for entry in range(params[at + DEAD] + params[at + CUT]):
        word = params[at + WORD] + 2 * entry
        one, two = header[word] - 1, header[word + 1] - 1
        if one == other and (two < 0 or two == node):
            return True
        if one == node and two == other:
            return True
    return False


@inlined
def note(node, other, header, params):
    """Add the dead neighbour of a node, or the dead link to it, to the faults that were met."""
    if not has_met(node, other, header, params):
        word = params[faults_at(params) + WORD]
        while header[word] != 0:
            word += 2
        header[word] = other + 1
        header[word + 1] = 0 if is_dead(other, params) else node + 1


@rule
def decide_online(node, header, params):
    """Return the port of the first token; repair the path first if the next node is dead."""
    while True:
        token = next_token(header, params)
        if token == NO_TOKEN:
            break
        other = node_behind(node, token, params)
        if not is_broken(node, other, params):
            break
        note(node, other, header, params)
        if not repair(node, header, params):
            return STUCK
    return listed_decide(node, header, params)


@inlined
def repair(node, header, params):
    """Replace the list in the header by one with a detour; return whether there is a detour."""
    at = faults_at(params)
    scratch = np.empty((ROWS, 2 * params[at + LONGEST]), np.int64)
    count = 0
    while next_token(header, params) != NO_TOKEN:
        scratch[TOKENS, count] = next_token(header, params)
        count += 1
        drop_token(header, params)
    count = mend(node, count, scratch, header, params)
    if count < 0:
        return False
    met = header[params[at + WORD] :].copy()
    write_list(scratch[TOKENS], count, header, params)
    header[params[at + WORD] :] = met
    return True


@inlined
def mend(node, count, scratch, header, params):
    """Replace the first tokens of a list by a detour, and erase loops; return the new length.

    The detour ends at the first later node of the path that it can reach. Without such a node, and
    for a list that would be too long, the result is -1.
    """
    longest = params[faults_at(params) + LONGEST]
    here = node
    for i in range(count):
        here = node_behind(here, scratch[TOKENS, i], params)
        scratch[NODES, i] = here
    goal, length = 1, listed_detour(node, count, scratch, header, params)
    if length < 0:
        goal = 0 if is_dead(scratch[NODES, 0], params) else -1
        while length < 0 and goal < count - 1:
            goal += 1
            length = search(node, scratch[NODES, goal], longest, scratch, header, params)
    if length < 0:
        return -1
    for i in range(goal + 1, count):
        scratch[DETOUR, length] = scratch[TOKENS, i]
        length += 1
    return without_loops(node, length, longest, scratch, params)


@inlined
def mend_all(source, count, scratch, header, params):
    """Replace all parts of a list that meet faults; return the new length, or -1."""
    at = faults_at(params)
    for _ in range(2 * (params[at + DEAD] + params[at + CUT]) + 1):
        broken, here = 0, source
        while broken < count:
            other = node_behind(here, scratch[TOKENS, broken], params)
            if is_broken(here, other, params):
                break
            scratch[AHEAD, broken], here = scratch[TOKENS, broken], other
            broken += 1
        if broken == count:
            return count
        for i in range(broken, count):
            scratch[TOKENS, i - broken] = scratch[TOKENS, i]
        rest = mend(here, count - broken, scratch, header, params)
        if rest < 0:
            return -1
        for i in range(broken + rest):
            scratch[DETOUR, i] = scratch[AHEAD, i] if i < broken else scratch[TOKENS, i - broken]
        count = without_loops(source, broken + rest, params[at + LONGEST], scratch, params)
        if count < 0:
            return -1
    return -1


@inlined
def know_all(header, params):
    """Write all faults into an empty header as faults that the message has met."""
    at = faults_at(params)
    word, dead, cut = params[at + WORD], params[at + DEAD], params[at + CUT]
    for place in range(dead):
        header[word + 2 * place] = params[at + LISTED + place] + 1
    for place in range(2 * cut):
        header[word + 2 * dead + place] = params[at + LISTED + dead + place] + 1


@inlined
def without_loops(node, count, longest, scratch, params):
    """Write the detour's row to the row of tokens, without loops; return its length, or -1.

    Loops are erased in chronological order.
    """
    here, kept = node, 0
    for i in range(count):
        here = node_behind(here, scratch[DETOUR, i], params)
        place = -1 if here == node else kept
        for earlier in range(kept):
            if scratch[NODES, earlier] == here:
                place = earlier
        if place == kept:
            if kept == longest:
                return -1
            scratch[TOKENS, kept], scratch[NODES, kept] = scratch[DETOUR, i], here
        kept = place + 1
    return kept


@inlined
def search(node, goal, longest, scratch, header, params):
    """Write the first shortest detour to a node, port by port; return its length, or -1.

    The search is breadth-first, and avoids all faults that the message has met.
    """
    # Loops may have more nodes than fit into memory. A detour is short, and the search ends early.
    slots = np.full(2 * ROOM, -1, np.int64)
    found, origin, by = np.empty(ROOM, np.int64), np.empty(ROOM, np.int64), np.empty(ROOM, np.int64)
    found[0], head, tail = node, 0, 1
    slots[slot_of(node, found, slots)] = 0
    while head < tail and found[head] != goal:
        here = found[head]
        for port in range(PORTS):
            token = token_at_port(here, port, params)
            if token == NO_TOKEN:
                continue
            other = node_behind(here, token, params)
            slot = slot_of(other, found, slots)
            if slots[slot] >= 0 or has_met(here, other, header, params):
                continue
            if tail == ROOM:
                return -1
            slots[slot] = tail
            found[tail], origin[tail], by[tail] = other, head, token
            tail += 1
        head += 1
    if head == tail:
        return -1
    length, place = 0, head
    while place > 0:
        length, place = length + 1, origin[place]
    if length > longest:
        return -1
    place = head
    for i in range(length):
        scratch[DETOUR, length - 1 - i] = by[place]
        place = origin[place]
    return length


@inlined
def slot_of(node, found, slots):
    """Return the slot of a node in a table of places by node: its own, or a free one."""
    slot = (node ^ (node >> 13)) & (slots.size - 1)
    while slots[slot] >= 0 and found[slots[slot]] != node:
        slot = (slot + 1) & (slots.size - 1)
    return slot
