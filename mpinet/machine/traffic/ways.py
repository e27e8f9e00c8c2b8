"""The ways of messages: output and class of a head, by the routing's rules.

A rule that errs is noted in the ledger, for kernels raise nothing: the step ends, and Python raises
the error on all ranks.
"""

import numpy as np

from mpinet.compiled import idiom, part
from mpinet.machine.traffic.choice import chosen_way, needed, offered
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
    SAF,
    UNWIRED_PORT,
    WORMHOLE,
    Routes,
)
from mpinet.machine.traffic.places import rank_of_lane
from mpinet.machine.traffic.sources import way_on
from mpinet.networks.adaptive import CLASS, PORT
from mpinet.networks.routing import STUCK

KNOWN = 2
"""Number that `Routes.known` adds to a decision."""


@idiom
def called(routes):
    """Return the routes with plain functions for their boxed rules, which phases cannot unbox."""
    return Routes(
        routes.neighbor.call, routes.wired, routes.decide.call, routes.start.call, routes.params,
        routes.header_words, routes.class_of.call, routes.class_params, routes.candidates.call,
        routes.choose.call, routes.escape, routes.dead, routes.cut, routes.known,
    )  # fmt: skip


@part
def ask(m, lane, at, slot, routes, rules, state, seen, scratch, ledger):
    """Ask the routing for output and class of a lane's front message; return whether it waits.

    Waiting is an adaptive routing's choice; other routings decide once, for the whole message.
    """
    message, ports, header = state.messages[m], rules.ports, scratch.header
    node = state.nodes[slot].number
    in_port = in_group = np.int64(NONE)
    # Messages of each priority have classes of their own, behind those of the ones before.
    first_group = np.int64(0)
    # Priorities have disjoint virtual channels: a blocked lower one cannot block a higher one.
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
    # The class breaks cycles of waiting: a head that crosses a dateline, for example, goes on in
    # the next class, and takes none but that class's virtual channels.
    if ledger.wrong == 0 and out >= 0:
        group = first_group
        if rules.classed:
            read_header(m, header, state.headers)
            group += routes.class_of(node, out, in_port, in_group, header, routes.class_params)
            if group < first_group or group >= first_group + rules.classes:
                complain(ledger, NO_CLASS, node, out, message.number)
    # A message without a way must leave the network: it would block the channels behind it for
    # ever.
    elif out == STUCK:
        group = np.int64(DRAINED)
    lane.out, lane.group = out if out >= 0 else ports, group
    return False


@part
def port_on(m, slot, header, routes, rules, state, ledger):
    """Return the port by which a message leaves a node, or `ARRIVED`, or `STUCK`."""
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
    # Errors are not remembered: each message that meets one has to report it.
    if known.size > 0 and ledger.wrong == 0:
        known[at] = out + KNOWN
    return out


@part
def read_header(m, header, headers):
    """Copy a message's header into the scratch one."""
    for j in range(header.size):
        header[j] = headers[m, j]


@part
def choose_way(
    m, lane, in_port, in_group, first_group, slot, header, ways, seen, routes, rules, state, ledger
):  # fmt: skip
    """Choose among the candidates of an adaptive routing; return whether the head waits.

    A head that has no choice is asked no more: `bid` looks whether its only way has room.
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
