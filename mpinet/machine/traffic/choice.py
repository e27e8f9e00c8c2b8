"""The choice of an adaptive node: the candidates, the room of each, and the one that is taken.

A head takes a virtual channel of an escape class as under any routing. It takes one of another
class only if the whole message fits, or the buffer is empty: otherwise the head could stop
behind another message's flits, cut off from the escape, while its tail holds channels of the escape
(the condition of Duato 1993, widened by Ma, Jerger, Wang 2012).
"""

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import kernel, part, phase
from mpinet.machine.faults import is_cut
from mpinet.machine.traffic.layout import (
    DETAILED,
    NO_CLASS,
    NONE,
    NOT_OFFERED,
    UNWIRED_PORT,
    Rules,
    State,
)
from mpinet.networks.adaptive import CLASS, PORT
from mpinet.networks.routing import STUCK


@part
def offered(
    candidates, node, in_port, in_class, header, params, ways, faulty, dead, cut, neighbor, wired
):
    """Write the candidates that work into `ways`; return their number, `ARRIVED` or `STUCK`."""
    count = candidates(node, in_port, in_class, header, ways, params)
    # A routing that offers nothing has no way: that is a stuck message, not an arrival.
    if count < 0 or not faulty:
        return count if count != 0 else STUCK
    left = 0
    # Dead candidates are removed here, so that choice rules need not know about faults.
    for i in range(count):
        port = ways[i, PORT]
        if 0 <= port < wired[1] and is_cut(node, neighbor(node, port, wired), dead, cut):
            continue
        ways[left, PORT], ways[left, CLASS] = port, ways[i, CLASS]
        left += 1
    return left if left > 0 else STUCK


@part
def needed(length, buffer, whole, escaping):
    """Credits that a head needs: the message's flits, at most a buffer of them, or one."""
    # Buffers of whole messages: the head claims room for all of it, which rules out deadlocks
    # across two buffers.
    if whole:
        return length
    return 1 if escaping else min(length, buffer)


@part
def is_entering(in_port, in_group, out, group, escape, slot, rules, state):
    """Tell if a head would enter a ring that keeps a bubble: it did not come along it."""
    # Constants of the kernel come first, so that plain kernels drop the whole function.
    if not DETAILED or not rules.bubble or group % rules.classes >= escape:
        return False
    if in_port == NONE or in_group != group:
        return True
    return state.sides[slot * (rules.ports + 1) + in_port].onward != out


@part
def chosen_way(
    choose, node, header, params, ways, seen, needs_other, needs_escape, escape, in_port, in_group,
    first_group, there, slot, rules, state,
):  # fmt: skip
    """Return the candidate to take, whether the head waits instead, and the error (0: none).

    A head that waits is reported as waiting for the first candidate of the lowest class. `there`
    says whether enough of the message's flits are in the lane for it to leave.
    """
    channels, links, per_class = state.channels, state.links, rules.vcs_of_class
    lowest, some, room = 0, False, seen[rules.told :]
    # Every candidate is checked, also those without room: a rule's error must not depend on the
    # load.
    for i in range(ways.shape[0]):
        port, group = ways[i, PORT], ways[i, CLASS]
        if port < 0 or port >= rules.ports or links[slot * rules.ports + port].owner < 0:
            return i, True, UNWIRED_PORT
        if group < 0 or group >= rules.classes:
            return i, True, NO_CLASS
        if group < ways[lowest, CLASS]:
            lowest = i
        room[i] = 0
        need = needs_escape if group < escape else needs_other
        if is_entering(in_port, in_group, port, group, escape, slot, rules, state):
            need *= 2
        first = slot * rules.lanes + port * rules.vcs + (first_group + group) * per_class
        for c in range(first, first + per_class):
            channel = channels[c]
            # A channel that another message holds cannot be allocated, however many credits it has.
            if there and channel.holder == NONE and channel.credit >= need:
                room[i] = max(room[i], channel.credit)
        some = some or room[i] > 0
    if not some:
        return lowest, True, 0
    # There is nothing to choose, so a user's rule is not called; it could only say what is known.
    if rules.eager and ways.shape[0] == 1:
        return lowest, False, 0
    way = choose(node, header, ways, seen, params)
    if way < -1 or way >= ways.shape[0]:
        return lowest, True, NOT_OFFERED
    # A rule may choose a full candidate: its message waits, and asks again with new credits.
    if way < 0 or room[way] == 0:
        return lowest, True, 0
    return way, False, 0


@part
def write_queues(slot, first, rules, state, seen):
    """Write the credits that a node's channels lack, port by port."""
    channels, links = state.channels, state.links
    for port in range(rules.ports):
        queued = np.int64(0)
        # Missing credits are flits in flight or buffered downstream, the usual local estimate of
        # congestion.
        if links[slot * rules.ports + port].owner >= 0:
            at = slot * rules.lanes + port * rules.vcs
            queued += rules.buffer * rules.vcs
            for c in range(at, at + rules.vcs):
                queued -= channels[c].credit
        seen[first + port] = queued


@phase
def look(rules, state, seen):
    """Write the queues of all ports of this rank's nodes, by the nodes' numbers."""
    nodes = state.nodes
    for slot in range(nodes.size):
        write_queues(slot, nodes[slot].number * rules.ports, rules, state, seen)


@kernel
def tell_queues(rules: Rules, state: State, seen: Ints) -> None:
    """Write the queues of this rank's nodes; those of the other ranks stay as they are."""
    look(rules, state, seen)
