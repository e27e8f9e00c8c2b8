"""Route computation: output and class of a head, by the routing's rules, deterministic or adaptive.

The ledger records errors of rules, because kernels cannot raise. The step then ends, and Python
raises the error on all ranks.

With an adaptive routing, a head takes a virtual channel of an escape class as with any routing. A
head takes a channel of another class only if the whole message fits, or if the buffer is empty.
Otherwise
the head could stop behind another message's flits, cut off from the escape, while its tail holds
escape channels. This is the condition of Duato (1993), widened by Ma, Jerger, Wang (2012).
"""

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import idiom, kernel, part, phase
from mpinet.machine.faults import is_cut
from mpinet.machine.traffic.counting import complain
from mpinet.machine.traffic.layout import (
    ADAPTIVE,
    DETAILED,
    DRAINED,
    ELSEWHERE,
    ENDLESS,
    FIXED,
    NO_CLASS,
    NONE,
    NOT_OFFERED,
    SAF,
    UNWIRED_PORT,
    WORMHOLE,
    RoutingRules,
    TrafficConstants,
    TrafficState,
)
from mpinet.machine.traffic.places import rank_of_lane
from mpinet.machine.traffic.sources import way_on
from mpinet.networks.adaptive import CLASS, PORT
from mpinet.networks.routing import STUCK

KNOWN = 2
"""Offset of the decisions in `RoutingRules.known`."""


@idiom
def called(routes):
    """Return `routes` with plain functions as rules, because phases cannot unbox boxed rules."""
    return RoutingRules(
        routes.neighbor.call, routes.wired, routes.decide.call, routes.start.call, routes.params,
        routes.header_words, routes.class_of.call, routes.class_params, routes.candidates.call,
        routes.choose.call, routes.escape, routes.dead, routes.cut, routes.known,
    )  # fmt: skip


@part
def offered(
    candidates, node, in_port, in_class, header, params, ways, faulty, dead, cut, neighbor, wired
):
    """Write the candidates without faults; return their number, `ARRIVED` or `STUCK`."""
    count = candidates(node, in_port, in_class, header, ways, params)
    # A routing without candidates has no way: the message is stuck, not arrived.
    if count < 0 or not faulty:
        return count if count != 0 else STUCK
    left = 0
    # Dead candidates are removed here: choice rules need not know about faults.
    for i in range(count):
        port = ways[i, PORT]
        if 0 <= port < wired[1] and is_cut(node, port, neighbor(node, port, wired), dead, cut):
            continue
        ways[left, PORT], ways[left, CLASS] = port, ways[i, CLASS]
        left += 1
    return left if left > 0 else STUCK


@part
def needed(length, buffer, whole, escaping):
    """Return the credits needed by a head: for the message, at most a buffer, or one flit."""
    # With buffers for whole messages, the head claims room for the whole message. This excludes
    # deadlocks across two buffers.
    if whole:
        return length
    return 1 if escaping else min(length, buffer)


@part
def is_entering(in_port, in_group, out, group, escape, slot, rules, state):
    """Return True if a head would enter a ring with a bubble, instead of continuing along it."""
    # The kernel's constants come first: plain kernels drop the whole function.
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

    A waiting head is reported as waiting for the first candidate of the lowest class. `there` is
    True if the lane contains enough of the message's flits for the head to leave.
    """
    channels, links, per_class = state.channels, state.links, rules.vcs_of_class
    lowest, some, room = 0, False, seen[rules.told :]
    # Every candidate is checked, even without room: a rule's error must not depend on the load.
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
            # A channel held by another message cannot be allocated, however many credits it has.
            if there and channel.holder == NONE and channel.credit >= need:
                room[i] = max(room[i], channel.credit)
        some = some or room[i] > 0
    if not some:
        return lowest, True, 0
    # There is no choice, so a user's rule is not called.
    if rules.eager and ways.shape[0] == 1:
        return lowest, False, 0
    way = choose(node, header, ways, seen, params)
    if way < -1 or way >= ways.shape[0]:
        return lowest, True, NOT_OFFERED
    # A rule may choose a full candidate: its message waits, and the rule is called again after new
    # credits.
    if way < 0 or room[way] == 0:
        return lowest, True, 0
    return way, False, 0


@part
def write_queues(slot, first, rules, state, seen):
    """Write the number of missing credits of a node's channels, port by port."""
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
    """Write the queue lengths of all ports of this rank's nodes, by node number."""
    nodes = state.nodes
    for slot in range(nodes.size):
        write_queues(slot, nodes[slot].number * rules.ports, rules, state, seen)


@kernel
def tell_queues(rules: TrafficConstants, state: TrafficState, seen: Ints) -> None:
    """Write the queue lengths of this rank's nodes; leave other ranks' entries unchanged."""
    look(rules, state, seen)


@part
def ask(m, lane, at, slot, routes, rules, state, seen, scratch, ledger):
    """Compute output and class of a lane's front message; return True if the message waits.

    Waiting is an adaptive routing's choice. Other routings decide once per node for the whole
    message.
    """
    message, ports, header = state.messages[m], rules.ports, scratch.header
    node = state.nodes[slot].number
    in_port = in_group = np.int64(NONE)
    # Messages of each priority have their own classes, after the classes of earlier priorities.
    first_group = np.int64(0)
    # Priorities have disjoint virtual channels: a blocked low priority cannot block a high one.
    if DETAILED and rules.priorities > 1:
        first_group += rules.classes * rank_of_lane(at, rules)
    if at < ports * rules.vcs:
        lane.came = message.came
        in_port, in_group = scratch.port_of[at], scratch.group_of[at] - first_group
    if ADAPTIVE:
        return choose_way(
            m, lane, in_port, in_group, first_group, slot, header, scratch.ways, seen, routes,
            rules, state, ledger,
        )  # fmt: skip
    out = port_on(m, slot, header, routes, rules, state, ledger)
    group = np.int64(NONE)
    # Classes break cycles of waiting. A head that crosses a dateline, for example, continues in the
    # next class, and uses only this class's virtual channels.
    if ledger.wrong == 0 and out >= 0:
        group = first_group
        if rules.classed:
            read_header(m, header, state.headers)
            group += routes.class_of(node, out, in_port, in_group, header, routes.class_params)
            if group < first_group or group >= first_group + rules.classes:
                complain(ledger, NO_CLASS, node, out, message.number)
    # A message without a way must leave the network: it would block the channels behind it forever.
    elif out == STUCK:
        group = np.int64(DRAINED)
    lane.out, lane.group = out if out >= 0 else ports, group
    return False


@part
def port_on(m, slot, header, routes, rules, state, ledger):
    """Return the output port of a message at a node, or `ARRIVED`, or `STUCK`."""
    message, headers, node = state.messages[m], state.headers, state.nodes[slot].number
    known = routes.known
    at = slot * rules.nodes + message.target if known.size > 0 else np.int64(0)
    # Deterministic routings decide by target alone. A byte per node and target saves the rule's
    # divisions.
    if known.size > 0 and known[at] > 0 and message.hops < rules.hops_most:
        return np.int64(known[at]) - KNOWN
    read_header(m, header, headers)
    if routes.dead.size + routes.cut.size > 0:
        out = way_on(
            routes.decide, node, header, routes.params, routes.dead, routes.cut,
            routes.neighbor, routes.wired,
        )  # fmt: skip
    else:
        out = routes.decide(node, header, routes.params)
    for j in range(header.size):
        headers[m, j] = header[j]
    if out < 0:
        if out != STUCK and message.target != node:
            complain(ledger, ELSEWHERE, node, out, message.number)
    elif out >= rules.ports or state.links[slot * rules.ports + out].owner < 0:
        complain(ledger, UNWIRED_PORT, node, out, message.number)
    elif message.hops >= rules.hops_most:
        complain(ledger, ENDLESS, node, out, message.number)
    # Errors are not remembered: each message with an error must report it.
    if known.size > 0 and ledger.wrong == 0:
        known[at] = out + KNOWN
    return out


@part
def read_header(m, header, headers):
    """Copy a message's header into the scratch header."""
    for j in range(header.size):
        header[j] = headers[m, j]


@part
def choose_way(
    m, lane, in_port, in_group, first_group, slot, header, ways, seen, routes, rules, state, ledger
):  # fmt: skip
    """Choose among the candidates of an adaptive routing; return True if the head waits.

    A head with a single candidate is decided once: later `bid` checks its only way for room.
    """
    message, headers, node = state.messages[m], state.headers, state.nodes[slot].number
    read_header(m, header, headers)
    many = offered(
        routes.candidates, node, in_port, in_group, header, routes.params, ways,
        routes.dead.size + routes.cut.size > 0, routes.dead, routes.cut, routes.neighbor,
        routes.wired,
    )  # fmt: skip
    for j in range(header.size):
        headers[m, j] = header[j]
    # A single candidate is final: asking again in each step could change nothing.
    lane.vc = FIXED if many < 0 or (many == 1 and rules.eager) else NONE
    if many < 0:
        if many != STUCK and message.target != node:
            complain(ledger, ELSEWHERE, node, many, message.number)
        lane.out, lane.group = rules.ports, DRAINED if many == STUCK else NONE
        return False
    keeps, length = rules.switching != WORMHOLE, message.length
    # Store and forward sends no flit before the whole message is in the lane.
    there = rules.switching != SAF or in_port == NONE or lane.filled >= length
    way, waits, wrong = chosen_way(
        routes.choose, node, header, routes.params, ways[:many], seen[: rules.told + many],
        needed(length, rules.buffer, keeps, False), needed(length, rules.buffer, keeps, True),
        routes.escape, in_port, in_group, first_group, there, slot, rules, state,
    )  # fmt: skip
    # Adaptive routings may misroute, so livelock is possible; this limit turns it into an error.
    if message.hops >= rules.hops_most:
        wrong = np.int64(ENDLESS)
    lane.out, lane.group = ways[way, PORT], ways[way, CLASS] + first_group
    if wrong != 0:
        complain(ledger, wrong, node, ways[way, PORT], message.number)
    return waits
