"""The step of a machine under open-loop traffic: generate, bid, grant, leave, arrive.

Each phase is a loop over all hosted nodes. No node sees in a step what another does in it, because
a flit that leaves is on a wire until it arrives: so the order of nodes, and the ranks that host
them, make no difference. Phases are functions that take whole groups of arrays and unpack them
once, before their loops, because each access to a group counts references. Functions that are
called within a loop take records, which cost no more than a pointer.

Unlimited queues are the same step with other lanes. There a lane is the queue of a channel: a
message chooses its output when it joins a queue, bids for that queue's channel alone, and leaves in
one piece, which keeps the channel busy for as many steps as the message has flits.
"""

import numpy as np

from mpinet.base.arrays import Table
from mpinet.compiled import idiom, kernel, part, phase
from mpinet.draws import draw32
from mpinet.machine.hop import SEAL_MASK
from mpinet.machine.traffic.choice import chosen_way, needed, offered
from mpinet.machine.traffic.layout import (
    BODY,
    CREDIT,
    DRAINED,
    ELSEWHERE,
    ENDLESS,
    FIFO,
    FOREVER,
    HEAD,
    KIND_BITS,
    LANES_PER_WORD,
    MESSAGE_WORDS,
    NO_CLASS,
    NONE,
    ROTATING,
    SAF,
    TENTHS,
    UNDECIDED,
    UNWIRED_PORT,
    WORMHOLE,
    Bidding,
    Books,
    Busses,
    Crossing,
    Ledger,
    Routes,
    Rules,
    Scratch,
    Sources,
    State,
    Wires,
)
from mpinet.machine.traffic.queues import joined, without_first
from mpinet.machine.traffic.sources import (
    comes,
    flits_of,
    following_birth,
    is_among,
    turned,
    way_on,
)
from mpinet.networks.adaptive import CLASS, PORT
from mpinet.networks.arithmetic import lowest_one
from mpinet.networks.routing import STUCK

ADAPTIVE = False
"""Constant that `advance_adaptive` replaces by true: nodes choose among candidates."""

UNLIMITED = False
"""Constant that `advance_unlimited` replaces by true: queues have no limit."""


@kernel
def advance(
    routes: Routes,
    rules: Rules,
    sources: Sources,
    state: State,
    wires: Wires,
    busses: Busses,
    bidding: Bidding,
    books: Books,
    crossing: Crossing,
    ledger: Ledger,
    steps: int,
) -> None:
    """Make up to `steps` steps; the ledger says why there were fewer.

    Words for other ranks are appended to `crossing`, so with several ranks make one step per call.
    On busses a call ends with the claims on busses, halfway through a step, and the next call needs
    the winners in `Bus.won` to finish that step.
    """
    bussed = busses.of_ports.size > 0
    calls = called(routes)
    targets = Sources(sources.target.call, sources.params, sources.trace)
    scratch = make_scratch(routes, rules)
    for _ in range(steps):
        if ledger.free < rules.margin:
            ledger.wants_room = 1
            return
        if ledger.claimed == 0:
            begin(rules, state, ledger)
            generate(calls, rules, targets, state, books, scratch, ledger)
            bids = bid(calls, rules, state, busses, bidding, scratch, ledger)
            if ledger.wrong != 0:
                return
            ledger.granted = grant(bids, rules, state, busses, bidding, scratch, ledger)
            # Members of a bus may be on other ranks: Python compares all claims between the calls.
            if bussed:
                claim(rules, state, busses, bidding, ledger)
                return
        else:
            keep_winners(rules, state, busses, bidding, ledger)
        leave(rules, state, wires, bidding, books, crossing, ledger)
        note_end(rules, ledger)
        arrive(calls, rules, state, wires, books, scratch, ledger)
        # Of several ranks none can tell alone: there `OpenLoop` decides after the exchange.
        if rules.ranks == 1 and is_over(rules, ledger):
            return


@idiom
def called(routes):
    """Return the routes with plain functions for their boxed rules, which phases cannot unbox."""
    return Routes(
        routes.neighbor.call, routes.wired, routes.decide.call, routes.start.call, routes.params,
        routes.header_words, routes.class_of.call, routes.class_params, routes.candidates.call,
        routes.choose.call, routes.escape, routes.dead, routes.cut,
    )  # fmt: skip


@idiom
def make_scratch(routes, rules):
    """Allocate a step's scratch arrays, once per call: phases cannot allocate."""
    ways = np.empty((rules.ports * rules.classes if ADAPTIVE else 1, 2), np.int64)
    return Scratch(
        np.empty(routes.header_words, np.int64),
        ways,
        np.empty(ways.shape[0], np.int64),
        np.full(rules.ports + 1, NONE, np.int64),
        np.empty(rules.ports + 1, np.int64),
        np.empty(rules.ports + 1, np.int64),
    )


@phase
def begin(rules, state, ledger):
    """Close the sources, once the window's messages are done or the limit of steps is reached.

    Messages that have not entered by then are withdrawn.
    """
    t = ledger.now
    if ledger.closed < 0 and (
        t >= rules.limit or (t >= rules.window_end and ledger.open_everywhere == 0)
    ):
        ledger.closed = t
        withdraw(rules, state, ledger)
    if t == rules.warmup:
        ledger.backlog_before = ledger.backlog


@part
def withdraw(rules, state, ledger):
    """Withdraw the messages that still wait at their sources."""
    nodes, lanes, queues, occupied, messages, free = (
        state.nodes, state.lanes, state.queues, state.occupied, state.messages, state.free
    )  # fmt: skip
    network_lanes = rules.ports * rules.vcs
    for slot in range(nodes.size):
        node, base = nodes[slot], slot * rules.lanes
        ledger.withdrawn += node.waiting
        ledger.source_queue_max = max(ledger.source_queue_max, np.int64(node.waiting))
        node.queued = node.waiting = 0
        if UNLIMITED:
            for at in range(network_lanes):
                queue = queues[base + at]
                kept, rest = np.int64(NONE), np.int64(queue.root)
                while rest != NONE:
                    m = rest
                    rest = without_first(rest, messages, rules.policy == FIFO)
                    if messages[m].hops > 0:
                        kept = joined(kept, m, messages, rules.policy == FIFO)
                    else:
                        give_back(m, free, ledger)
                queue.root = kept
                if kept == NONE:
                    clear(occupied, slot, at, rules.words)
            continue
        for at in range(network_lanes, rules.lanes):
            lane = lanes[base + at]
            if is_set(occupied, slot, at, rules.words) and lane.sent == 0:
                clear(occupied, slot, at, rules.words)
                give_back(lane.incoming, free, ledger)
    ledger.backlog = 0


@phase
def generate(routes, rules, sources, state, books, scratch, ledger):
    """Phase 1: generate messages and let them take slots of their sources, or unlimited queues."""
    nodes, occupied, lanes, messages, headers = (
        state.nodes, state.occupied, state.lanes, state.messages, state.headers
    )  # fmt: skip
    trace, target_of, pattern, start = (
        sources.trace, sources.target, sources.params, routes.start
    )  # fmt: skip
    params, dead = routes.params, routes.dead
    t, hosts, generating, bursty = ledger.now, rules.hosts, rules.generating, rules.bursty
    vcs, network_lanes = rules.vcs, rules.ports * rules.vcs
    traced, faulty, seed = rules.traced, dead.size > 0, rules.seed
    header = scratch.header
    if ledger.closed >= 0:
        return
    queue_max = ledger.source_queue_max
    for slot in range(nodes.size):
        node = nodes[slot]
        if node.number >= hosts or (faulty and is_among(node.number, dead)):
            continue
        # The backlog that the last step left: this loop visits every node anyway.
        queue_max = max(queue_max, np.int64(node.waiting))
        births = 0
        if traced:
            while node.next_born < node.end and trace[node.next_born, 0] == t:
                book_birth(trace[node.next_born, 2], rules, ledger)
                node.next_born += 1
                births += 1
        else:
            if bursty:
                on = node.on != 0
                node.on = turned(on, seed, node.number, t, rules.on_below, rules.off_below)
            if (not bursty or node.on != 0) and comes(np.int64(node.dice), t, generating):
                book_birth(length_of(node, t, rules), rules, ledger)
                births = 1
        if births:
            if node.queued == 0:
                node.first_born = t
            node.queued += births
            node.waiting += births
        k = 0
        while node.queued > 0 and (UNLIMITED or k < vcs):
            at = network_lanes + k
            k += 1
            if not UNLIMITED:
                if is_set(occupied, slot, at, rules.words):
                    continue
                set_bit(occupied, slot, at, rules.words)
            m = taken_from(state.free, ledger)
            message = messages[m]
            draw_message(node, message, trace, target_of, pattern, rules)
            header[:] = 0
            if rules.numbered:
                header[header.size - 1] = message.number
            start(node.number, message.target, header, params)
            for j in range(header.size):
                headers[m, j] = header[j]
            if UNLIMITED:
                join(m, slot, header, routes, rules, state, books, ledger)
            else:
                lane = lanes[slot * rules.lanes + at]
                lane.incoming, lane.sent, lane.came, lane.out = m, 0, t, UNDECIDED
    ledger.source_queue_max = queue_max


@part
def length_of(node, step, rules):
    """Length, in flits, of the message that a source generates in a step."""
    return flits_of(rules.seed, node.number, step, rules.flits, rules.long_flits, rules.long_below)


@part
def draw_message(node, message, trace, target_of, pattern, rules):
    """Fill in a message record with the first message that waits at a source."""
    node.queued -= 1
    if rules.traced:
        row = node.next_taken
        node.next_taken += 1
        message.born, message.target, message.length = trace[row, 0], trace[row, 1], trace[row, 2]
        message.number = trace[row, 3]
    else:
        born = np.int64(node.first_born)
        message.born = born
        message.target = target_of(node.number, rules.seed, np.int64(node.taken), born, pattern)
        message.length = length_of(node, born, rules)
        message.number = born * rules.nodes + node.number
        node.taken += 1
        if node.queued > 0:
            node.first_born = following_birth(
                born, np.int64(node.dice), rules.generating, rules.bursty, rules.seed,
                node.number, rules.on_below, rules.off_below,
            )  # fmt: skip
    message.source, message.hops = node.number, 0


@phase
def bid(routes, rules, state, busses, bidding, scratch, ledger):
    """Phase 2: let every lane whose front flit can go bid for an output; return the bids' number.

    The bids of a node lie side by side, by ascending lane: `grant` relies on both.
    """
    nodes, occupied, lanes, queues, ring, channels, messages = (
        state.nodes, state.occupied, state.lanes, state.queues, state.ring, state.channels,
        state.messages,
    )  # fmt: skip
    bids, of_ports, bus_rows = bidding.bids, busses.of_ports, busses.rows
    t, ports, vcs, count, words = ledger.now, rules.ports, rules.vcs, rules.lanes, rules.words
    network_lanes, buffer, bussed = ports * vcs, rules.buffer, of_ports.size > 0
    header, ways, room = scratch.header, scratch.ways, scratch.room
    many = 0
    for slot in range(nodes.size):
        number, base = nodes[slot].number, slot * count
        for word in range(words):
            bits = occupied[slot * words + word]
            while bits:
                at = word * LANES_PER_WORD + lowest_one(bits)
                bits &= bits - 1
                v = np.int64(NONE)
                if UNLIMITED:
                    queue = queues[base + at]
                    if queue.until > t:
                        continue
                    m, out = np.int64(queue.root), at
                else:
                    lane = lanes[base + at]
                    if at < network_lanes:
                        m = np.int64(ring[(base + at) * buffer + lane.first])
                    else:
                        m = np.int64(lane.incoming)
                    # A waiting head of an adaptive routing asks anew in every step: credits change.
                    if lane.out == UNDECIDED or (ADAPTIVE and lane.sent == 0):
                        waits = ask(
                            m, lane, at, slot, header, ways, room, routes, rules, state, ledger
                        )
                        if ledger.wrong != 0:
                            return many
                        if waits:
                            continue
                    out = np.int64(lane.out)
                if bussed and out < ports:
                    bus = bus_rows[of_ports[slot * ports + out]]
                    # A message that keeps a bus until its tail is the only one to bid for it.
                    if bus.until > t and bus.claimant != number * count + at:
                        continue
                if out < ports and not UNLIMITED:
                    v = free_channel(
                        lane, messages[m], at < network_lanes, base + out * vcs, channels, rules,
                        routes.escape,
                    )  # fmt: skip
                    if v == NONE:
                        continue
                each = bids[many]
                each.slot, each.lane, each.out, each.vc, each.message = slot, at, out, v, m
                many += 1
    return many


@part
def ask(m, lane, at, slot, header, ways, room, routes, rules, state, ledger):
    """Ask the routing for output and class of a lane's front message; return whether it waits.

    Waiting is an adaptive routing's choice; other routings decide once, for the whole message.
    """
    message, ports = state.messages[m], rules.ports
    node = state.nodes[slot].number
    in_port = in_group = np.int64(NONE)
    if at < ports * rules.vcs:
        lane.came = message.came
        in_port = at // rules.vcs
        in_group = (at - in_port * rules.vcs) // rules.vcs_of_class
    if ADAPTIVE:
        return choose_way(
            m, lane, in_port, in_group, slot, header, ways, room, routes, rules, state, ledger
        )
    out = port_on(m, slot, header, routes, rules, state, ledger)
    group = np.int64(NONE)
    # The class breaks cycles of waiting: a head that crosses a dateline, for example, goes on in
    # the next class, and takes none but that class's virtual channels.
    if ledger.wrong == 0 and out >= 0:
        group = routes.class_of(node, out, in_port, in_group, header, routes.class_params)
        if group < 0 or group >= rules.classes:
            complain(ledger, NO_CLASS, node, out, message.number)
    elif out == STUCK:
        group = np.int64(DRAINED)
    lane.out, lane.group = out if out >= 0 else ports, group
    return False


@part
def port_on(m, slot, header, routes, rules, state, ledger):
    """Return the port by which a message leaves a node, or `ARRIVED`, or `STUCK`."""
    message, headers, node = state.messages[m], state.headers, state.nodes[slot].number
    for j in range(header.size):
        header[j] = headers[m, j]
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
    return out


@part
def choose_way(
    m, lane, in_port, in_group, slot, header, ways, room, routes, rules, state, ledger
):  # fmt: skip
    """Choose among the candidates of an adaptive routing; return whether the head waits."""
    message, headers, node = state.messages[m], state.headers, state.nodes[slot].number
    for j in range(header.size):
        header[j] = headers[m, j]
    many = offered(
        routes.candidates, node, in_port, in_group, header, routes.params, ways,
        routes.dead.size + routes.cut.size > 0, routes.dead, routes.cut, routes.neighbor,
        routes.wired,
    )  # fmt: skip
    for j in range(header.size):
        headers[m, j] = header[j]
    if many < 0:
        if many != STUCK and message.target != node:
            complain(ledger, ELSEWHERE, node, many, message.number)
        lane.out, lane.group = rules.ports, DRAINED if many == STUCK else NONE
        return False
    keeps, length = rules.switching != WORMHOLE, message.length
    # Store and forward sends no flit before the whole message is in the lane.
    there = rules.switching != SAF or in_port == NONE or lane.filled >= length
    way, waits, wrong = chosen_way(
        routes.choose, node, header, routes.params, ways[:many], room[:many],
        needed(length, rules.buffer, keeps, False), needed(length, rules.buffer, keeps, True),
        routes.escape, there, slot, rules, state,
    )  # fmt: skip
    if message.hops >= rules.hops_most:
        wrong = np.int64(ENDLESS)
    lane.out, lane.group = ways[way, PORT], ways[way, CLASS]
    if wrong != 0:
        complain(ledger, wrong, node, ways[way, PORT], message.number)
    return waits


@part
def free_channel(lane, message, in_network, first, channels, rules, escape):
    """Return the virtual channel that a lane's front flit can take, or `NONE`.

    Among the free channels of its class a head takes the one with most credits, then the lowest.
    """
    if lane.sent > 0:
        # Flits follow their head through the channel that it holds until the tail has left.
        return np.int64(lane.vc) if channels[first + lane.vc].credit > 0 else np.int64(NONE)
    need = np.int64(1)
    if ADAPTIVE:
        need = needed(
            message.length, rules.buffer, rules.switching != WORMHOLE, lane.group < escape
        )
    elif rules.switching != WORMHOLE:
        # The next buffer must take the whole message, so that it never stands in two channels.
        need = message.length
        if rules.switching == SAF and in_network and lane.filled < need:
            return np.int64(NONE)
    best, found = need - 1, np.int64(NONE)
    group = lane.group * rules.vcs_of_class
    for c in range(group, group + rules.vcs_of_class):
        channel = channels[first + c]
        if channel.holder == NONE and channel.credit > best:
            best, found = np.int64(channel.credit), np.int64(c)
    return found


@phase
def grant(many, rules, state, busses, bidding, scratch, ledger):
    """Choose among the bids: write the places of those granted, and return their number."""
    bids, chosen = bidding.bids, bidding.chosen
    if UNLIMITED:
        # Nobody else bids for a queue's channel, and there is no crossbar.
        for b in range(many):
            chosen[b] = b
        return many
    outputs, lanes, messages, leads = state.outputs, state.lanes, state.messages, busses.leads
    ports, policy, switching = rules.ports, rules.policy, rules.switching
    # By output the first bid for it; by output and input the last node (slot) in which it was
    # taken. A node compares these stamps with its own slot, so that no node has to clear them.
    asked, used_out, used_in = scratch.asked, scratch.used_out, scratch.used_in
    used_out[:] = NONE
    used_in[:] = NONE
    granted = first = 0
    while first < many:
        slot, last = bids[first].slot, first + 1
        while last < many and bids[last].slot == slot:
            last += 1
        if switching != WORMHOLE:
            granted = grant_begun(
                first, last, granted, slot, used_out, used_in, rules, bids, chosen, outputs, leads
            )
        if last == first + 1:
            granted = grant_alone(
                first, granted, slot, used_out, used_in, rules, bids, chosen, outputs, leads
            )
        elif policy == ROTATING:
            granted = grant_in_turn(
                first, last, granted, slot, asked, used_out, used_in, ledger.now % (ports + 1),
                rules, bids, chosen, outputs, leads,
            )  # fmt: skip
        else:
            granted = grant_in_order(
                first, last, granted, slot, used_out, used_in, rules, bids, chosen, lanes, messages,
                leads,
            )  # fmt: skip
        first = last
    return granted


@part
def lead(leads, slot, out, ports):
    """Return the output that a bid takes: all ports of a node on one bus count as the lowest."""
    return np.int64(leads[slot * ports + out]) if leads.size > 0 and out < ports else np.int64(out)


@part
def grant_begun(
    first, last, granted, slot, used_out, used_in, rules, bids, chosen, outputs, leads
):  # fmt: skip
    """Grant the bids of messages that have begun to cross, which keep output and input.

    Only wormhole switching shares an output among messages, flit by flit. Where the keeper has no
    bid in this step its output stays idle.
    """
    ports = rules.ports
    for o in range(ports + 1):
        keeper = outputs[slot * (ports + 1) + o].keeper
        if keeper != NONE:
            used_out[lead(leads, slot, o, ports)] = used_in[keeper // rules.vcs] = slot
    for b in range(first, last):
        each = bids[b]
        each.granted = outputs[slot * (ports + 1) + each.out].keeper == each.lane
        if each.granted != 0:
            chosen[granted] = b
            granted += 1
    return granted


@part
def pass_turn(output, lane, count):
    """Let an output's next search begin behind the lane that was served."""
    output.pointer = lane + 1 if lane + 1 < count else 0


@part
def grant_alone(first, granted, slot, used_out, used_in, rules, bids, chosen, outputs, leads):
    """Grant the only bid of a node, unless a message that crosses keeps its output or input.

    Most nodes have one bid at low load: this is `grant_in_turn` and `grant_in_order` without their
    searches.
    """
    each, ports = bids[first], rules.ports
    if rules.switching != WORMHOLE:
        if each.granted != 0 or (rules.one_input and used_in[each.lane // rules.vcs] == slot):
            return granted
        many = each.out == ports and not rules.one_eject
        if used_out[lead(leads, slot, each.out, ports)] == slot and not many:
            return granted
    if rules.policy == ROTATING and (leads.size == 0 or each.out == ports):
        pass_turn(outputs[slot * (ports + 1) + each.out], each.lane, rules.lanes)
    chosen[granted] = first
    return granted + 1


@part
def grant_in_turn(
    first, last, granted, slot, asked, used_out, used_in, turn, rules, bids, chosen, outputs, leads
):  # fmt: skip
    """Let each output grant the next lane in turn, starting at another output in every step.

    The rotating start matters where an input port sends one flit per step: the first output to
    choose finds all inputs free.
    """
    ports, vcs, count = rules.ports, rules.vcs, rules.lanes
    # Chain the bids for each output; backwards, so that chains ascend by lane.
    for b in range(last - 1, first - 1, -1):
        each = bids[b]
        if rules.switching == WORMHOLE:
            each.granted = 0
        if each.granted == 0:
            each.next = asked[each.out]
            asked[each.out] = b
    for i in range(ports + 1):
        out = turn + i
        if out > ports:
            out -= ports + 1
        if asked[out] == NONE:
            continue
        output, to = outputs[slot * (ports + 1) + out], lead(leads, slot, out, ports)
        many = out == ports and not rules.one_eject
        while many or used_out[to] != slot:
            nearest, best, b = count, np.int64(NONE), asked[out]
            while b != NONE:
                each = bids[b]
                taken = rules.one_input and used_in[each.lane // vcs] == slot
                if each.granted == 0 and not taken:
                    distance = each.lane - output.pointer
                    if distance < 0:
                        distance += count
                    if distance < nearest:
                        nearest, best = distance, np.int64(b)
                b = int(each.next)
            if best == NONE:
                break
            each = bids[best]
            each.granted = 1
            used_out[to] = used_in[each.lane // vcs] = slot
            if leads.size == 0 or out == ports:
                # A port on a bus passes its turn on when it has won the bus: see `keep_winners`.
                pass_turn(output, each.lane, count)
            chosen[granted] = best
            granted += 1
        asked[out] = NONE
    return granted


@part
def grant_in_order(
    first, last, granted, slot, used_out, used_in, rules, bids, chosen, lanes, messages, leads
):  # fmt: skip
    """Grant bids as outputs and inputs allow, the oldest message first (`fifo`: first come).

    A message's number grows with its birth, so that the least number is the oldest; no two are
    equal. Each round takes the best bid that is left, and drops it where output or input are taken.
    """
    ports, base = rules.ports, slot * rules.lanes
    if rules.switching == WORMHOLE:
        for b in range(first, last):
            bids[b].granted = 0
    while True:
        winner = NONE
        came = number = 0
        for b in range(first, last):
            each = bids[b]
            if each.granted != 0:
                continue
            when = 0
            if rules.policy == FIFO:
                when = int(lanes[base + each.lane].came)
            which = messages[each.message].number
            if winner == NONE or when < came or (when == came and which < number):
                winner, came, number = b, when, which
        if winner == NONE:
            return granted
        each = bids[winner]
        each.granted = 1
        to, port = lead(leads, slot, each.out, ports), each.lane // rules.vcs
        if used_out[to] == slot and (to < ports or rules.one_eject):
            continue
        if rules.one_input and used_in[port] == slot:
            continue
        used_out[to] = used_in[port] = slot
        chosen[granted] = winner
        granted += 1


@phase
def claim(rules, state, busses, bidding, ledger):
    """Write a claim on a bus for every bid that was granted a port on one.

    `sharing.settle` compares them with the claims of the bus's other members.
    """
    nodes, lanes, messages = state.nodes, state.lanes, state.messages
    of_ports, rows, claims, bids, chosen = (
        busses.of_ports, busses.rows, busses.claims, bidding.bids, bidding.chosen
    )  # fmt: skip
    claimed = 0
    for i in range(ledger.granted):
        each = bids[chosen[i]]
        if each.out == rules.ports:
            continue
        message = messages[each.message]
        node, bus = nodes[each.slot].number, rows[of_ports[each.slot * rules.ports + each.out]]
        own = claims[claimed]
        claimed += 1
        own.node, own.bus, own.claimant = node, bus.number, node * rules.lanes + each.lane
        own.first_key, own.second_key = 0, message.number
        if UNLIMITED:
            own.first_key = message.came if rules.policy == FIFO else 0
            own.until = ledger.now + message.length
            continue
        lane = lanes[each.slot * rules.lanes + each.lane]
        if rules.policy == ROTATING:
            own.first_key, own.second_key = node < bus.pointer, node
        elif rules.policy == FIFO:
            own.first_key = lane.came
        # As `Output.keeper` keeps an output, the message keeps the bus until its tail claims it.
        keeps = rules.switching != WORMHOLE and lane.sent + 1 < message.length
        own.until = FOREVER if keeps else 0
    ledger.claims, ledger.claimed = claimed, 1


@phase
def keep_winners(rules, state, busses, bidding, ledger):
    """Drop the granted bids that lost their bus; pass the turn of those that won."""
    nodes, outputs, bids, chosen = state.nodes, state.outputs, bidding.bids, bidding.chosen
    of_ports, rows, ports = busses.of_ports, busses.rows, rules.ports
    kept = 0
    for i in range(ledger.granted):
        each = bids[chosen[i]]
        if each.out < ports:
            claimant = nodes[each.slot].number * rules.lanes + each.lane
            if rows[of_ports[each.slot * ports + each.out]].won != claimant:
                continue
            output = outputs[each.slot * (ports + 1) + each.out]
            if rules.policy == ROTATING and (
                rules.switching == WORMHOLE or output.keeper != each.lane
            ):
                pass_turn(output, each.lane, rules.lanes)
        chosen[kept] = chosen[i]
        kept += 1
    ledger.granted, ledger.claimed = kept, 0


@phase
def leave(rules, state, wires, bidding, books, crossing, ledger):
    """Phase 3: move each granted flit from its lane onto a wire, or eject it.

    Each flit that leaves a buffer returns a credit to the channel behind that buffer. Flits and
    credits for nodes of other ranks become words in `crossing`.
    """
    nodes, lanes, queues, channels, outputs, links, messages, free = (
        state.nodes, state.lanes, state.queues, state.channels, state.outputs, state.links,
        state.messages, state.free,
    )  # fmt: skip
    occupied, due, headers, bids, chosen, loads, words, owners = (
        state.occupied, state.due, state.headers, bidding.bids, bidding.chosen, books.loads,
        crossing.words, crossing.owners,
    )  # fmt: skip
    latencies, edges, batches = books.latencies, books.edges, books.batches
    row = ledger.now % rules.delay
    flits, credits, wire = wires.flits, wires.credits, wires.counts[row]
    t, ports, vcs, network_lanes = ledger.now, rules.ports, rules.vcs, rules.ports * rules.vcs
    measuring = rules.warmup <= t < rules.window_end
    made = returned = gone = moved = ledger.away = 0
    for i in range(ledger.granted):
        each = bids[chosen[i]]
        slot, out, m = np.int64(each.slot), np.int64(each.out), np.int64(each.message)
        at, v, base = np.int64(each.lane), np.int64(each.vc), slot * rules.lanes
        node, message = nodes[slot], messages[m]
        if UNLIMITED:
            moved += message.length
            leave_whole(
                m, at, slot, node, queues[base + at], links[slot * ports + at], rules, messages,
                headers, occupied, free, due, loads, words, owners, ledger,
            )  # fmt: skip
            continue
        lane = lanes[base + at]
        lane.sent += 1
        head, tail = lane.sent == 1, lane.sent == message.length
        moved += 1
        if at < network_lanes:
            gone += 1
            node.flits -= 1
            lane.filled -= 1
            lane.first = lane.first + 1 if lane.first + 1 < rules.buffer else 0
            port = at // vcs
            behind, place = links[slot * ports + port], at - port * vcs
            if behind.owner == rules.rank:
                credits[row, returned] = behind.lane + place
                returned += 1
            else:
                send(
                    (behind.lane + place) << KIND_BITS | CREDIT, behind.owner, words, owners, ledger
                )
        elif head:
            enter(node, message, rules, ledger)
        if lane.filled == 0 if at < network_lanes else tail:
            clear(occupied, slot, at, rules.words)
        if rules.switching != WORMHOLE and (out < ports or rules.one_eject):
            outputs[slot * (ports + 1) + out].keeper = NONE if tail else at
        if out < ports:
            channel, link = channels[base + out * vcs + v], links[slot * ports + out]
            channel.credit -= 1
            # Held: the message has the channel from its head to its tail, so that flits
            # of two messages never mix in a lane, and a body flit needs no name.
            channel.holder = NONE if tail else at
            message.hops += head
            if measuring:
                loads[slot * ports + out] += np.uint32(1)
            if link.owner == rules.rank:
                flit = flits[row, made]
                made += 1
                flit.lane, flit.slot, flit.message = link.lane + v, link.slot, m << 1 | head
            else:
                send_flit(
                    m, head, link.lane + v, link.owner, messages, headers, words, owners, ledger
                )
        elif tail:
            finish(message, t, lane.group == DRAINED, rules, latencies, edges, batches, ledger)
        if tail:
            lane.out, lane.sent = UNDECIDED, 0
            # Beyond the last lane on this rank nobody here needs the message's record.
            if out == ports or links[slot * ports + out].owner != rules.rank:
                give_back(m, free, ledger)
        else:
            lane.vc = v
    wire.flits, wire.credits = made, returned
    ledger.moves += moved
    ledger.inside -= gone
    if moved and not UNLIMITED:
        ledger.last_move = t


@part
def leave_whole(
    m, at, slot, node, queue, link, rules, messages, headers, occupied, free, due, loads, words,
    owners, ledger,
):  # fmt: skip
    """Send the first message of an unlimited queue; its channel is busy one step per flit."""
    message, t = messages[m], ledger.now
    queue.root, queue.until = without_first(m, messages, rules.policy == FIFO), t + message.length
    if queue.root == NONE:
        clear(occupied, slot, at, rules.words)
    if message.hops == 0:
        enter(node, message, rules, ledger)
    message.hops += 1
    ledger.last_move = max(ledger.last_move, t + message.length - 1)
    within = min(t + message.length, rules.window_end) - max(t, rules.warmup)
    if within > 0:
        loads[slot * rules.ports + at] += np.uint32(within)
    if link.owner == rules.rank:
        put_due(m, link.slot, t + steps_of(message, rules), messages, due)
    else:
        send_flit(m, True, link.slot, link.owner, messages, headers, words, owners, ledger)
        give_back(m, free, ledger)


@part
def steps_of(message, rules):
    """Steps until a message can leave the next node: its length if stored there, else 1."""
    return message.length if rules.switching == SAF else 1


@part
def put_due(m, slot, step, messages, due):
    """Put a whole message on its way to a node, to arrive in `step`."""
    message, row = messages[m], step % due.size
    message.slot, message.left = slot, due[row]
    due[row] = m


@part
def send(word, owner, words, owners, ledger):
    """Append a word for another rank."""
    words[ledger.away, 0], owners[ledger.away] = word, owner
    ledger.away += 1


@part
def send_flit(m, head, to, owner, messages, headers, words, owners, ledger):
    """Append a flit for another rank: the lane (or slot) it goes to; after a head, its message.

    A body flit is one word: the receiver knows from the head which message comes into the lane.
    """
    send(np.int64(to) << KIND_BITS | (HEAD if head else BODY), owner, words, owners, ledger)
    if not head:
        return
    message = messages[m]
    ledger.crossed += 1
    for word in (
        message.number, message.length, message.born, message.source, message.target,
        message.entered, message.hops,
    ):  # fmt: skip
        send(word, owner, words, owners, ledger)
    for j in range(headers.shape[1]):
        send(headers[m, j], owner, words, owners, ledger)


@phase
def note_end(rules, ledger):
    """Count the step, and note what ranks tell each other of it, before arrivals change it."""
    if ledger.now == rules.window_end - 1:
        ledger.backlog_after = ledger.backlog
    ledger.moving = ledger.last_move >= ledger.now
    ledger.open_told = ledger.open
    ledger.now += 1


@phase
def arrive(routes, rules, state, wires, books, scratch, ledger):
    """Phase 4: let flits and credits arrive that left D - 1 steps ago (D: the link delay)."""
    lanes, ring, occupied, nodes, channels, messages, due = (
        state.lanes, state.ring, state.occupied, state.nodes, state.channels, state.messages,
        state.due,
    )  # fmt: skip
    if UNLIMITED:
        # Messages that arrive in one step are a list, chained by `Message.left`.
        header = scratch.header
        row = ledger.now % due.size
        m = np.int64(due[row])
        due[row] = NONE
        while m != NONE:
            following = np.int64(messages[m].left)
            join(m, np.int64(messages[m].slot), header, routes, rules, state, books, ledger)
            m = following
        return
    row = ledger.now % rules.delay
    # `note_end` has counted the step: this row is the oldest, and `leave` fills it next.
    flits, credits, wire = wires.flits, wires.credits, wires.counts[row]
    flits_max = ledger.node_flits_max
    for i in range(wire.flits):
        flit = flits[row, i]
        m, slot = np.int64(flit.message) >> 1, np.int64(flit.slot)
        if flit.message & 1:
            messages[m].came = ledger.now
        put_in(m, np.int64(flit.lane), slot, rules, lanes, ring, occupied, nodes)
        flits_max = max(flits_max, np.int64(nodes[slot].flits))
    for i in range(wire.credits):
        channels[credits[row, i]].credit += 1
    ledger.inside += wire.flits
    ledger.node_flits_max = flits_max
    wire.flits = wire.credits = 0


@part
def put_in(m, to, slot, rules, lanes, ring, occupied, nodes):
    """Append a flit of a message to a lane."""
    lane, node = lanes[to], nodes[slot]
    seat = lane.first + lane.filled
    if seat >= rules.buffer:
        seat -= rules.buffer
    ring[to * rules.buffer + seat] = m
    if lane.filled == 0:
        set_bit(occupied, slot, to - slot * rules.lanes, rules.words)
    lane.filled += 1
    node.flits += 1


@part
def join(m, slot, header, routes, rules, state, books, ledger):
    """Queue a message, arrived or just born, for its next channel, or finish it at its target."""
    message, messages = state.messages[m], state.messages
    message.came = ledger.now
    out = port_on(m, slot, header, routes, rules, state, ledger)
    if ledger.wrong != 0:
        return
    if out >= 0:
        queue = state.queues[slot * rules.lanes + out]
        queue.root = joined(np.int64(queue.root), m, messages, rules.policy == FIFO)
        set_bit(state.occupied, slot, out, rules.words)
        return
    last = ledger.now + message.length - 1
    if message.hops == 0:
        enter(state.nodes[slot], message, rules, ledger)
    elif rules.switching == SAF:
        last = ledger.now
    finish(message, last, out == STUCK, rules, books.latencies, books.edges, books.batches, ledger)
    give_back(m, state.free, ledger)


@phase
def is_over(rules, ledger):
    """Count the steps without a move; return whether the run is over (one rank).

    After D such steps no wire carries anything: nothing moves again once sources are closed, and
    flits that stand in lanes even before are in a deadlock.
    """
    ledger.open_everywhere = ledger.open_told
    if ledger.moving != 0:
        ledger.quiet = 0
        return False
    ledger.quiet += 1
    if ledger.quiet >= rules.delay and (ledger.closed >= 0 or ledger.inside > 0):
        ledger.ended = 1
    return ledger.ended != 0


@part
def complain(ledger, what, node, port, number):
    """Note which error a rule made, where, and with which message."""
    ledger.wrong, ledger.wrong_node, ledger.wrong_port = what, node, port
    ledger.wrong_number = number


@part
def is_set(occupied, slot, at, words):
    """Whether a lane is marked as occupied."""
    return occupied[slot * words + at // LANES_PER_WORD] & 1 << at % LANES_PER_WORD != 0


@part
def set_bit(occupied, slot, at, words):
    """Mark a lane as occupied."""
    occupied[slot * words + at // LANES_PER_WORD] |= 1 << at % LANES_PER_WORD


@part
def clear(occupied, slot, at, words):
    """Mark a lane as empty."""
    occupied[slot * words + at // LANES_PER_WORD] &= ~(1 << at % LANES_PER_WORD)


@part
def taken_from(free, ledger):
    """Take a free row for a new message, and return it."""
    ledger.free -= 1
    return np.int64(free[ledger.free])


@part
def give_back(m, free, ledger):
    """Return the row of a message to the free ones."""
    free[ledger.free] = m
    ledger.free += 1


@part
def book_birth(length, rules, ledger):
    """Count a message that is generated."""
    ledger.born += 1
    ledger.backlog += length
    if rules.warmup <= ledger.now < rules.window_end:
        ledger.generated += 1
        ledger.generated_flits += length
        ledger.open += 1


@part
def enter(node, message, rules, ledger):
    """Count a message that leaves its source and enters the network."""
    message.entered = ledger.now
    node.waiting -= 1
    ledger.entered += 1
    ledger.backlog -= message.length
    if rules.warmup <= ledger.now < rules.window_end:
        node.entered += message.length


@part
def finish(message, step, lost, rules, latencies, edges, batches, ledger):
    """Count a message whose last flit is taken in `step`, and add it to the latencies.

    `lost` says that the routing knew no way, so that a dead end drained it.
    """
    born, measured = message.born, rules.warmup <= message.born < rules.window_end
    if measured:
        ledger.open -= 1
    if lost:
        ledger.lost += 1
        if measured:
            ledger.undeliverable += 1
        return
    ledger.done += 1
    # The seal is a sum, so that it is the same in whatever order ranks finish messages.
    word = draw32(step, born, message.source, message.entered + message.hops)
    ledger.seal = (ledger.seal + word) & SEAL_MASK
    if rules.warmup <= step < rules.window_end:
        ledger.accepted += 1
        ledger.accepted_flits += message.length
    if not measured:
        return
    ledger.delivered += 1
    ledger.inside_sum += step - message.entered
    ledger.hops_sum += message.hops
    latencies[step - born] += 1
    part = TENTHS - 1
    while edges[part] > born:
        part -= 1
    batches[part, 0] += 1
    batches[part, 1] += step - born


@kernel
def take_in(
    words: Table,
    routes: Routes,
    rules: Rules,
    state: State,
    books: Books,
    ledger: Ledger,
) -> None:
    """Let the flits and credits that other ranks have sent arrive.

    Words of one rank come in the order in which they were sent: a message's flits behind its head.
    """
    messages, headers, lanes, channels = (
        state.messages, state.headers, state.lanes, state.channels
    )  # fmt: skip
    header, routes = np.empty(routes.header_words, np.int64), called(routes)
    i = m = 0
    while i < words.shape[0]:
        to, kind = words[i, 0] >> KIND_BITS, words[i, 0] & (1 << KIND_BITS) - 1
        i += 1
        if kind == CREDIT:
            channels[to].credit += 1
            continue
        if kind == HEAD:
            m = taken_from(state.free, ledger)
            message = messages[m]
            message.number, message.length = words[i, 0], words[i + 1, 0]
            message.born, message.source = words[i + 2, 0], words[i + 3, 0]
            message.target, message.entered = words[i + 4, 0], words[i + 5, 0]
            message.hops, message.came = words[i + 6, 0], ledger.now
            i += MESSAGE_WORDS
            for j in range(headers.shape[1]):
                headers[m, j] = words[i, 0]
                i += 1
        if UNLIMITED:
            comes_in = ledger.now - 1 + steps_of(messages[m], rules)
            if comes_in > ledger.now:
                put_due(m, to, comes_in, messages, state.due)
            else:
                join(m, to, header, routes, rules, state, books, ledger)
            continue
        lane = lanes[to]
        # The sender holds the lane's channel for this message until its tail.
        if kind == HEAD:
            lane.incoming = m
        slot = to // rules.lanes
        put_in(
            np.int64(lane.incoming), to, slot, rules, lanes, state.ring, state.occupied, state.nodes
        )
        ledger.inside += 1
        ledger.node_flits_max = max(ledger.node_flits_max, int(state.nodes[slot].flits))


@kernel
def count_tails(rules: Rules, state: State) -> int:
    """Number of messages that have entered and whose tail is on this rank."""
    lanes, ring, messages = state.lanes, state.ring, state.messages
    tails = 0
    for row in range(lanes.size):
        lane = lanes[row]
        if row % rules.lanes >= rules.ports * rules.vcs:
            tails += lane.sent > 0
            continue
        sent, place = np.int64(lane.sent), np.int64(lane.first)
        for _ in range(lane.filled):
            sent += 1
            if sent == messages[ring[row * rules.buffer + place]].length:
                tails, sent = tails + 1, np.int64(0)
            place += 1
            if place == rules.buffer:
                place = np.int64(0)
    return tails


advance_adaptive = advance.bind("advance_adaptive", ADAPTIVE=True)
"""`advance` for routings whose nodes choose among candidates; compiled at first use."""

advance_unlimited = advance.bind("advance_unlimited", UNLIMITED=True)
take_in_unlimited = take_in.bind("take_in_unlimited", UNLIMITED=True)
"""`advance` and `take_in` for unlimited queues."""
