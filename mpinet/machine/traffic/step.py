"""The step of a machine with finite buffers: generate, grant, leave, exchange.

The loop over nodes stands in one function, though it is long: its phases share the node's bids, and
arrays that are handed on cost more than they do.
"""

import numpy as np

from mpinet.arguments import StartRule
from mpinet.arrays import Ints, Rows
from mpinet.compiled import idiom, kernel
from mpinet.draws import draw32
from mpinet.machine.hop import SEAL_MASK, Faulty, Wayfinding, Wiring
from mpinet.machine.traffic.choice import chosen_way, needed, offered
from mpinet.machine.traffic.layout import (
    ACCEPTED,
    ACCEPTED_FLITS,
    AWAY,
    BACKLOG,
    BACKLOG_AFTER,
    BACKLOG_BEFORE,
    BODY,
    BORN,
    BORN_IN,
    BUFFER,
    BURSTY,
    CAME,
    CAME_HERE,
    CLAIMED,
    CLAIMS,
    CLASS,
    CLASSES,
    CLOSED,
    CREDIT,
    CROSSED,
    DELAY,
    DELIVERED,
    DONE,
    DRAINED,
    ELSEWHERE,
    ENDED,
    ENDLESS,
    ENTERED_ALL,
    ENTERED_IN,
    FIFO,
    FILLED,
    FIRST,
    FLITS,
    FREE,
    GENERATED,
    GENERATED_FLITS,
    GENERATING,
    HEAD,
    HEADER,
    HOPS,
    HOPS_SUM,
    HOSTS,
    INCOMING,
    INSIDE,
    INSIDE_SUM,
    KIND_BITS,
    LANES_PER_WORD,
    LAST_MOVE,
    LENGTH,
    LIMIT,
    LONG_BELOW,
    LONG_FLITS,
    LOST,
    MARGIN,
    MOVED,
    MOVES,
    NO_CLASS,
    NODE_FLITS_MAX,
    NONE,
    NOW,
    NUMBER,
    NUMBERED,
    OFF_BELOW,
    ON_BELOW,
    ONE_EJECT,
    ONE_INPUT,
    OPEN,
    OPEN_EVERYWHERE,
    OUT,
    POLICY,
    QUIET,
    RANK,
    RANKS,
    ROTATING,
    SAF,
    SEAL,
    SEED,
    SENT,
    SOURCE,
    SOURCE_QUEUE_MAX,
    SWITCHING,
    TARGET,
    TENTHS,
    TRACED,
    UNDECIDED,
    UNDELIVERABLE,
    UNWIRED_PORT,
    VC,
    VCS,
    VCS_OF_CLASS,
    WANTS_ROOM,
    WARMUP,
    WINDOW_END,
    WITHDRAWN,
    WORMHOLE,
    WRONG,
    WRONG_NODE,
    WRONG_NUMBER,
    WRONG_PORT,
    Adapting,
    Books,
    Busses,
    Classing,
    Crossing,
    Links,
    Sources,
    State,
    Wires,
)
from mpinet.machine.traffic.sources import (
    comes,
    flits_of,
    following_birth,
    is_among,
    turned,
    way_on,
)
from mpinet.networks.adaptive import CLASS as CLASS_OF_WAY
from mpinet.networks.adaptive import PORT
from mpinet.networks.arithmetic import lowest_one
from mpinet.networks.routing import STUCK, hop_limit

ADAPTIVE = False
"""What `advance_adaptive` replaces: whether nodes choose among candidates."""


@kernel
def advance(
    wiring: Wiring,
    wayfinding: Wayfinding,
    start_rule: StartRule,
    classing: Classing,
    adapting: Adapting,
    faults: Faulty,
    links: Links,
    rules: Ints,
    sources: Sources,
    state: State,
    wires: Wires,
    busses: Busses,
    books: Books,
    crossing: Crossing,
    ledger: Ints,
    steps: int,
) -> None:
    """Make up to so many steps; the ledger says why there were fewer.

    What leaves for other ranks stands in `crossing`; with several ranks only one step is made. On
    busses a step is two calls: the first ends with the claims on busses, the second begins when
    `busses.won` says whose they are.
    """
    # Groups are taken apart here: in the loop every look into one would count its references.
    neighbor, wired = wiring.neighbor.call, wiring.params
    decide, params, header_words = (
        wayfinding.decide.call,
        wayfinding.params,
        wayfinding.header_words,
    )
    start = start_rule.call
    class_of, class_params = classing.rule.call, classing.params
    candidates, choose, escape = adapting.candidates.call, adapting.choose.call, adapting.escape
    dead, cut = faults.dead, faults.cut
    nodes, far_slots, far_ports, owners = links
    target_of, pattern = sources.target.call, sources.params
    dice, on, queued, first_born, taken = (
        sources.dice, sources.on, sources.queued, sources.first_born, sources.taken
    )  # fmt: skip
    trace, next_born, next_taken, ends = (
        sources.trace, sources.next_born, sources.next_taken, sources.ends
    )  # fmt: skip
    lanes, ring, occupied, credit, holder = (
        state.lanes, state.ring, state.occupied, state.credit, state.holder
    )  # fmt: skip
    held, pointer, waiting, inside = state.held, state.pointer, state.waiting, state.flits
    messages, free = state.messages, state.free
    wire_slots, wire_lanes, wire_messages, wire_credits, wire_counts = wires
    bus_of, leads, bus_keeper, won, bus_pointer, bus_numbers, granted, grants_of, claims = busses
    loads, entered, latencies, edges, batches = books
    words, word_owners = crossing

    vcs, per_class, classes, buffer = (
        rules[VCS], rules[VCS_OF_CLASS], rules[CLASSES], rules[BUFFER]
    )  # fmt: skip
    switching, policy, delay = rules[SWITCHING], rules[POLICY], rules[DELAY]
    one_input, one_eject = rules[ONE_INPUT] != 0, rules[ONE_EJECT] != 0
    warmup, window_end, seed = rules[WARMUP], rules[WINDOW_END], rules[SEED]
    generating, short, long = rules[GENERATING], rules[FLITS], rules[LONG_FLITS]
    long_below, bursty = rules[LONG_BELOW], rules[BURSTY] != 0
    on_below, off_below = rules[ON_BELOW], rules[OFF_BELOW]
    traced, hosts, rank, alone = rules[TRACED] != 0, rules[HOSTS], rules[RANK], rules[RANKS] == 1
    faulty, bussed = dead.size + cut.size > 0, bus_of.size > 0
    size, ports = wired[0], wired[1]
    hops_most = hop_limit(size)
    network_lanes = ports * vcs
    count = network_lanes + vcs
    words_per_node = (count + LANES_PER_WORD - 1) // LANES_PER_WORD
    header = np.empty(header_words, np.int64)
    numbered = rules[NUMBERED]
    ways = np.empty((ports * classes if ADAPTIVE else 1, 2), np.int64)
    room = np.empty(ways.shape[0], np.int64)
    bid_lane, bid_out, bid_vc, bid_message, bid_next, chosen = np.empty((6, count), np.int64)
    bids_of = np.full(ports + 1, NONE, np.int64)
    used_in, used_out = np.zeros((2, ports + 1), np.int64)
    stamp = 0

    for _ in range(steps):
        t = ledger[NOW]
        if ledger[FREE] < rules[MARGIN]:
            ledger[WANTS_ROOM] = 1
            return
        if ledger[CLOSED] < 0 and (
            t >= rules[LIMIT] or (t >= window_end and ledger[OPEN_EVERYWHERE] == 0)
        ):
            ledger[CLOSED] = t
            withdraw(lanes, occupied, queued, waiting, free, network_lanes, vcs, ledger)
        leaving = ledger[CLAIMED] != 0
        if t == warmup and not leaving:
            ledger[BACKLOG_BEFORE] = ledger[BACKLOG]
        sending, measuring = ledger[CLOSED] < 0 and not leaving, warmup <= t < window_end
        looked = 0 if leaving else words_per_node
        wire = t % delay
        flits_made = credits_made = moved = away = claimed = 0
        queue_max = ledger[SOURCE_QUEUE_MAX]
        turn = t % (ports + 1)
        for slot in range(nodes.size):
            node = nodes[slot]
            base = slot * count
            # Phase 1: generate, and fill the slots.
            if sending and node < hosts and not (faulty and is_among(node, dead)):
                births = 0
                if traced:
                    while next_born[slot] < ends[slot] and trace[next_born[slot], 0] == t:
                        book_birth(trace[next_born[slot], 2], measuring, ledger)
                        next_born[slot] += 1
                        births += 1
                else:
                    awake = True
                    if bursty:
                        awake = on[slot] = turned(on[slot], seed, node, t, on_below, off_below)
                    if awake and comes(np.int64(dice[slot]), t, generating):
                        length = flits_of(seed, node, t, short, long, long_below)
                        book_birth(length, measuring, ledger)
                        births = 1
                if births:
                    if queued[slot] == 0:
                        first_born[slot] = t
                    queued[slot] += births
                    waiting[slot] += births
                k = 0
                while queued[slot] > 0 and k < vcs:
                    lane = network_lanes + k
                    k += 1
                    place = slot * words_per_node + lane // LANES_PER_WORD
                    bit = 1 << lane % LANES_PER_WORD
                    if occupied[place] & bit:
                        continue
                    occupied[place] |= bit
                    ledger[FREE] -= 1
                    m = free[ledger[FREE]]
                    queued[slot] -= 1
                    if traced:
                        row = next_taken[slot]
                        next_taken[slot] += 1
                        born, target, length = trace[row, 0], trace[row, 1], trace[row, 2]
                        messages[m, NUMBER] = trace[row, 3]
                    else:
                        born = first_born[slot]
                        target = target_of(node, seed, taken[slot], born, pattern)
                        length = flits_of(seed, node, born, short, long, long_below)
                        messages[m, NUMBER] = born * size + node
                        taken[slot] += 1
                        if queued[slot] > 0:
                            first_born[slot] = following_birth(
                                born, np.int64(dice[slot]), generating, bursty, seed, node,
                                on_below, off_below,
                            )  # fmt: skip
                    messages[m, LENGTH], messages[m, BORN_IN] = length, born
                    messages[m, SOURCE], messages[m, TARGET] = node, target
                    messages[m, HOPS] = 0
                    header[:] = 0
                    if numbered:
                        header[header_words - 1] = messages[m, NUMBER]
                    start(node, target, header, params)
                    for j in range(header_words):
                        messages[m, HEADER + j] = header[j]
                    row = base + lane
                    lanes[row, INCOMING], lanes[row, SENT] = m, 0
                    lanes[row, CAME_HERE], lanes[row, OUT] = t, UNDECIDED
            # Phase 2: the lanes whose front flit can go.
            bids = 0
            for part in range(looked):
                bits = occupied[slot * words_per_node + part]
                while bits:
                    lane = part * LANES_PER_WORD + lowest_one(bits)
                    bits &= bits - 1
                    row = base + lane
                    in_network = lane < network_lanes
                    if in_network:
                        m = np.int64(ring[row * buffer + lanes[row, FIRST]])
                    else:
                        m = np.int64(lanes[row, INCOMING])
                    out = np.int64(lanes[row, OUT])
                    waits = False
                    if out == UNDECIDED or (ADAPTIVE and lanes[row, SENT] == 0):
                        in_port = in_class = np.int64(NONE)
                        if in_network:
                            lanes[row, CAME_HERE] = messages[m, CAME]
                            in_port = lane // vcs
                            in_class = (lane - in_port * vcs) // per_class
                        for j in range(header_words):
                            header[j] = messages[m, HEADER + j]
                        # References to arrays that are handed on are counted: only where needed.
                        if ADAPTIVE:
                            count_ways = offered(
                                candidates, node, in_port, in_class, header, params, ways, faulty,
                                dead, cut, neighbor, wired,
                            )  # fmt: skip
                            out = np.int64(0) if count_ways > 0 else count_ways
                        elif faulty:
                            out = way_on(decide, node, header, params, dead, cut, neighbor, wired)
                        else:
                            out = decide(node, header, params)
                        for j in range(header_words):
                            messages[m, HEADER + j] = header[j]
                        group = np.int64(NONE)
                        if out < 0:
                            if out == STUCK:
                                group = np.int64(DRAINED)
                            elif messages[m, TARGET] != node:
                                complain(ledger, ELSEWHERE, node, out, messages[m, NUMBER])
                                return
                            out = np.int64(ports)
                        elif ADAPTIVE:
                            length, keeps = messages[m, LENGTH], switching != WORMHOLE
                            whole = switching == SAF and in_network
                            way, waits, wrong = chosen_way(
                                choose, node, header, params, ways[:count_ways], room[:count_ways],
                                needed(length, buffer, keeps, False),
                                needed(length, buffer, keeps, True), escape,
                                not whole or lanes[row, FILLED] >= length, per_class, classes,
                                ports, vcs, holder, credit, base, owners, slot,
                            )  # fmt: skip
                            out, group = ways[way, PORT], ways[way, CLASS_OF_WAY]
                            if messages[m, HOPS] >= hops_most:
                                wrong = np.int64(ENDLESS)
                            if wrong != 0:
                                complain(ledger, wrong, node, out, messages[m, NUMBER])
                                return
                        elif out >= ports or owners[slot * ports + out] < 0:
                            complain(ledger, UNWIRED_PORT, node, out, messages[m, NUMBER])
                            return
                        elif messages[m, HOPS] >= hops_most:
                            complain(ledger, ENDLESS, node, out, messages[m, NUMBER])
                            return
                        else:
                            group = class_of(node, out, in_port, in_class, header, class_params)
                            if group < 0 or group >= classes:
                                complain(ledger, NO_CLASS, node, out, messages[m, NUMBER])
                                return
                        lanes[row, OUT], lanes[row, CLASS] = out, group
                        if ADAPTIVE and waits:
                            continue
                    v = np.int64(NONE)
                    if out < ports:
                        first_vc = base + out * vcs
                        if bussed:
                            keeper = bus_keeper[bus_of[slot * ports + out]]
                            if keeper != NONE and keeper != node * count + lane:
                                continue
                        if lanes[row, SENT] > 0:
                            v = np.int64(lanes[row, VC])
                            if credit[first_vc + v] == 0:
                                continue
                        else:
                            need = np.int64(1)
                            if ADAPTIVE:
                                escaping = lanes[row, CLASS] < escape
                                need = needed(
                                    messages[m, LENGTH], buffer, switching != WORMHOLE, escaping
                                )
                            elif switching != WORMHOLE:
                                need = messages[m, LENGTH]
                                if switching == SAF and in_network and lanes[row, FILLED] < need:
                                    continue
                            best = need - 1
                            group = lanes[row, CLASS] * per_class
                            for c in range(group, group + per_class):
                                if holder[first_vc + c] == NONE and credit[first_vc + c] > best:
                                    best, v = np.int64(credit[first_vc + c]), np.int64(c)
                            if v == NONE:
                                continue
                    bid_lane[bids], bid_out[bids], bid_vc[bids] = lane, out, v
                    bid_message[bids] = m
                    bids += 1
            if bids == 0 and not bussed:
                queue_max = max(queue_max, waiting[slot])
                continue
            # Grants: those of messages that have begun to cross first.
            stamp += 1
            grants = 0
            if switching != WORMHOLE:
                outs = slot * (ports + 1)
                for o in range(ports + 1):
                    if held[outs + o] != NONE:
                        to = np.int64(leads[slot * ports + o]) if bussed and o < ports else o
                        used_out[to] = used_in[held[outs + o] // vcs] = stamp
                for b in range(bids):
                    if held[outs + bid_out[b]] == bid_lane[b]:
                        chosen[grants] = b
                        grants += 1
            if policy == ROTATING:
                for b in range(bids - 1, -1, -1):
                    out = bid_out[b]
                    if switching != WORMHOLE and held[slot * (ports + 1) + out] == bid_lane[b]:
                        continue
                    bid_next[b] = bids_of[out]
                    bids_of[out] = b
                for i in range(ports + 1):
                    out = turn + i
                    if out > ports:
                        out -= ports + 1
                    if bids_of[out] == NONE:
                        continue
                    many = out == ports and not one_eject
                    at = slot * (ports + 1) + out
                    # The ports of a bus are one output: that of the lowest of them.
                    to = np.int64(leads[slot * ports + out]) if bussed and out < ports else out
                    while many or used_out[to] != stamp:
                        nearest, best, b = count, np.int64(NONE), bids_of[out]
                        while b != NONE:
                            lane = bid_lane[b]
                            if lane >= 0 and not (one_input and used_in[lane // vcs] == stamp):
                                distance = lane - pointer[at]
                                if distance < 0:
                                    distance += count
                                if distance < nearest:
                                    nearest, best = distance, b
                            b = bid_next[b]
                        if best == NONE:
                            break
                        lane = bid_lane[best]
                        used_out[to] = used_in[lane // vcs] = stamp
                        if not bussed or out == ports:
                            pointer[at] = lane + 1 if lane + 1 < count else 0
                        chosen[grants] = best
                        grants += 1
                        bid_lane[best] = NONE - lane - 1  # taken; what it was can be read back
                    bids_of[out] = NONE
                for i in range(grants):
                    if bid_lane[chosen[i]] < 0:
                        bid_lane[chosen[i]] = -2 - bid_lane[chosen[i]]
            else:
                for b in range(bids):
                    kept = held[slot * (ports + 1) + bid_out[b]] == bid_lane[b]
                    bid_next[b] = 1 if switching != WORMHOLE and kept else 0
                while True:
                    winner = NONE
                    came = number = 0
                    for b in range(bids):
                        if bid_next[b] != 0:
                            continue
                        when = 0
                        if policy == FIFO:
                            when = int(lanes[base + bid_lane[b], CAME_HERE])
                        which = messages[bid_message[b], NUMBER]
                        if winner == NONE or when < came or (when == came and which < number):
                            winner, came, number = b, when, which
                    if winner == NONE:
                        break
                    bid_next[winner] = 1
                    to, port = bid_out[winner], bid_lane[winner] // vcs
                    if bussed and to < ports:
                        to = np.int64(leads[slot * ports + to])
                    if used_out[to] == stamp and (to < ports or one_eject):
                        continue
                    if one_input and used_in[port] == stamp:
                        continue
                    used_out[to] = used_in[port] = stamp
                    chosen[grants] = winner
                    grants += 1
            if bussed and not leaving:
                # What is granted a port is a claim on its bus, and waits for the other members'.
                grants_of[slot] = grants
                for i in range(grants):
                    b = chosen[i]
                    lane, out, m = bid_lane[b], bid_out[b], bid_message[b]
                    granted[base + i, 0], granted[base + i, 1] = lane, out
                    granted[base + i, 2], granted[base + i, 3] = bid_vc[b], m
                    if out == ports:
                        continue
                    bus = bus_of[slot * ports + out]
                    claims[claimed, 0], claims[claimed, 1] = node, bus_numbers[bus]
                    claims[claimed, 2], claims[claimed, 3] = 0, messages[m, NUMBER]
                    if policy == ROTATING:
                        claims[claimed, 2], claims[claimed, 3] = node < bus_pointer[bus], node
                    elif policy == FIFO:
                        claims[claimed, 2] = lanes[base + lane, CAME_HERE]
                    tail = lanes[base + lane, SENT] + 1 == messages[m, LENGTH]
                    claims[claimed, 4] = node * count + lane
                    claims[claimed, 5] = switching != WORMHOLE and not tail
                    claimed += 1
                continue
            if leaving:
                for i in range(grants_of[slot]):
                    lane, out = granted[base + i, 0], granted[base + i, 1]
                    if out < ports:
                        if won[bus_of[slot * ports + out]] != node * count + lane:
                            continue
                        at = slot * (ports + 1) + out
                        if policy == ROTATING and (switching == WORMHOLE or held[at] != lane):
                            pointer[at] = lane + 1 if lane + 1 < count else 0
                    bid_lane[grants], bid_out[grants] = lane, out
                    bid_vc[grants], bid_message[grants] = granted[base + i, 2], granted[base + i, 3]
                    chosen[grants] = grants
                    grants += 1
            # Phase 3: granted flits leave.
            for i in range(grants):
                b = chosen[i]
                lane, out, v, m = bid_lane[b], bid_out[b], bid_vc[b], bid_message[b]
                row = base + lane
                sent = np.int64(lanes[row, SENT]) + 1
                head, tail = sent == 1, sent == messages[m, LENGTH]
                if lane < network_lanes:
                    first = lanes[row, FIRST] + 1
                    lanes[row, FIRST] = first if first < buffer else 0
                    lanes[row, FILLED] -= 1
                    inside[slot] -= 1
                    ledger[INSIDE] -= 1
                    if lanes[row, FILLED] == 0:
                        place = slot * words_per_node + lane // LANES_PER_WORD
                        occupied[place] &= ~(1 << lane % LANES_PER_WORD)
                    port = lane // vcs
                    link = slot * ports + port
                    there = far_slots[link] * count + far_ports[link] * vcs + lane - port * vcs
                    if alone or owners[link] == rank:
                        wire_credits[wire, credits_made] = there
                        credits_made += 1
                    else:
                        words[away, 0], word_owners[away] = (
                            there << KIND_BITS | CREDIT,
                            owners[link],
                        )
                        away += 1
                else:
                    if head:
                        messages[m, ENTERED_IN] = t
                        waiting[slot] -= 1
                        ledger[ENTERED_ALL] += 1
                        ledger[BACKLOG] -= messages[m, LENGTH]
                        if measuring:
                            entered[slot] += messages[m, LENGTH]
                    if tail:
                        place = slot * words_per_node + lane // LANES_PER_WORD
                        occupied[place] &= ~(1 << lane % LANES_PER_WORD)
                if switching != WORMHOLE and (out < ports or one_eject):
                    held[slot * (ports + 1) + out] = np.int64(NONE) if tail else lane
                if out < ports:
                    credit[base + out * vcs + v] -= 1
                    holder[base + out * vcs + v] = np.int64(NONE) if tail else lane
                    link = slot * ports + out
                    if measuring:
                        loads[link] += np.uint32(1)
                    if head:
                        messages[m, HOPS] += 1
                    to = far_ports[link] * vcs + v
                    if alone or owners[link] == rank:
                        wire_slots[wire, flits_made], wire_lanes[wire, flits_made] = (
                            far_slots[link],
                            to,
                        )
                        wire_messages[wire, flits_made] = m << 1 | head
                        flits_made += 1
                    else:
                        kind = HEAD if head else BODY
                        place = np.int64(far_slots[link]) * count + to
                        words[away, 0], word_owners[away] = place << KIND_BITS | kind, owners[link]
                        away += 1
                        if head:
                            ledger[CROSSED] += 1
                            for j in range(HEADER + header_words):
                                words[away, 0], word_owners[away] = messages[m, j], owners[link]
                                away += 1
                        if tail:
                            free[ledger[FREE]] = m
                            ledger[FREE] += 1
                elif tail:
                    lost = lanes[row, CLASS] == DRAINED
                    finish(
                        messages, m, t, lost, warmup, window_end, latencies, edges, batches, ledger
                    )
                    free[ledger[FREE]] = m
                    ledger[FREE] += 1
                if tail:
                    lanes[row, OUT], lanes[row, SENT] = UNDECIDED, 0
                else:
                    lanes[row, SENT], lanes[row, VC] = sent, v
            moved += grants
            queue_max = max(queue_max, waiting[slot])
        ledger[CLAIMED] = 0
        if bussed and not leaving:
            ledger[CLAIMED], ledger[CLAIMS] = 1, claimed
            return
        # Phase 4: what left D - 1 steps ago arrives.
        wire_counts[wire, 0], wire_counts[wire, 1] = flits_made, credits_made
        wire = (t + 1) % delay
        flits_max = ledger[NODE_FLITS_MAX]
        for i in range(wire_counts[wire, 0]):
            m, slot, lane = int(wire_messages[wire, i]), wire_slots[wire, i], wire_lanes[wire, i]
            if m & 1:
                messages[m >> 1, CAME] = t + 1
            row = int(slot) * count + lane
            filled = int(lanes[row, FILLED])
            seat = lanes[row, FIRST] + filled
            if seat >= buffer:
                seat -= buffer
            ring[row * buffer + seat] = m >> 1
            if filled == 0:
                at = int(slot) * words_per_node + lane // LANES_PER_WORD
                occupied[at] |= 1 << lane % LANES_PER_WORD
            lanes[row, FILLED] = filled + 1
            inside[slot] += 1
            flits_max = max(flits_max, inside[slot])
        ledger[NODE_FLITS_MAX] = flits_max
        for i in range(wire_counts[wire, 1]):
            credit[wire_credits[wire, i]] += 1
        ledger[INSIDE] += wire_counts[wire, 0]
        wire_counts[wire, 0] = wire_counts[wire, 1] = 0
        ledger[SOURCE_QUEUE_MAX] = queue_max
        ledger[MOVED], ledger[AWAY] = moved, away
        ledger[MOVES] += moved
        if t == window_end - 1:
            ledger[BACKLOG_AFTER] = ledger[BACKLOG]
        ledger[NOW] = t + 1
        if alone:
            ledger[OPEN_EVERYWHERE] = ledger[OPEN]
            ledger[QUIET] = 0 if moved else ledger[QUIET] + 1
            if moved:
                ledger[LAST_MOVE] = t
            elif ledger[QUIET] >= delay and (ledger[CLOSED] >= 0 or ledger[INSIDE] > 0):
                ledger[ENDED] = 1
                return


@idiom
def arrive(slot, lane, m, count, words_per_node, buffer, lanes, ring, occupied, inside, ledger):
    """Put a flit of message m into a lane."""
    row = slot * count + lane
    place = lanes[row, FIRST] + lanes[row, FILLED]
    if place >= buffer:
        place -= buffer
    ring[row * buffer + place] = m
    if lanes[row, FILLED] == 0:
        word = slot * words_per_node + lane // LANES_PER_WORD
        occupied[word] |= 1 << lane % LANES_PER_WORD
    lanes[row, FILLED] += 1
    inside[slot] += 1
    ledger[NODE_FLITS_MAX] = max(ledger[NODE_FLITS_MAX], inside[slot])


@idiom
def complain(ledger, what, node, port, number):
    """Note what a rule has done wrong."""
    ledger[WRONG], ledger[WRONG_NODE], ledger[WRONG_PORT] = what, node, port
    ledger[WRONG_NUMBER] = number


@idiom
def book_birth(length, measuring, ledger):
    """Book a message that is generated."""
    ledger[BORN] += 1
    ledger[BACKLOG] += length
    if measuring:
        ledger[GENERATED] += 1
        ledger[GENERATED_FLITS] += length
        ledger[OPEN] += 1


@idiom
def finish(messages, m, step, lost, warmup, window_end, latencies, edges, batches, ledger):
    """Book that a message's last flit is taken in a step."""
    born, measured = messages[m, BORN_IN], warmup <= messages[m, BORN_IN] < window_end
    if measured:
        ledger[OPEN] -= 1
    if lost:
        ledger[LOST] += 1
        if measured:
            ledger[UNDELIVERABLE] += 1
        return
    ledger[DONE] += 1
    entered, hops = messages[m, ENTERED_IN], messages[m, HOPS]
    word = draw32(step, born, messages[m, SOURCE], entered + hops)
    ledger[SEAL] = (ledger[SEAL] + word) & SEAL_MASK
    if warmup <= step < window_end:
        ledger[ACCEPTED] += 1
        ledger[ACCEPTED_FLITS] += messages[m, LENGTH]
    if not measured:
        return
    ledger[DELIVERED] += 1
    ledger[INSIDE_SUM] += step - entered
    ledger[HOPS_SUM] += hops
    latencies[step - born] += 1
    part = TENTHS - 1
    while edges[part] > born:
        part -= 1
    batches[part, 0] += 1
    batches[part, 1] += step - born


@idiom
def withdraw(lanes, occupied, queued, waiting, free, network_lanes, vcs, ledger):
    """Close the sources: what has not entered is taken back."""
    count = network_lanes + vcs
    words_per_node = (count + LANES_PER_WORD - 1) // LANES_PER_WORD
    for slot in range(queued.size):
        ledger[WITHDRAWN] += waiting[slot]
        queued[slot] = waiting[slot] = 0
        for lane in range(network_lanes, count):
            place = slot * words_per_node + lane // LANES_PER_WORD
            bit = 1 << lane % LANES_PER_WORD
            if occupied[place] & bit and lanes[slot * count + lane, SENT] == 0:
                occupied[place] &= ~bit
                free[ledger[FREE]] = lanes[slot * count + lane, INCOMING]
                ledger[FREE] += 1
    ledger[BACKLOG] = 0


@kernel
def take_in(
    words: Rows,
    header_words: int,
    rules: Ints,
    ports: int,
    state: State,
    ledger: Ints,
) -> None:
    """Let what other ranks' nodes have sent arrive."""
    lanes, ring, occupied, credit, inside, messages = (
        state.lanes, state.ring, state.occupied, state.credit, state.flits, state.messages
    )  # fmt: skip
    free = state.free
    vcs, buffer = rules[VCS], rules[BUFFER]
    count = (ports + 1) * vcs
    words_per_node = (count + LANES_PER_WORD - 1) // LANES_PER_WORD
    i = 0
    while i < words.shape[0]:
        row, kind = words[i, 0] >> KIND_BITS, words[i, 0] & (1 << KIND_BITS) - 1
        i += 1
        if kind == CREDIT:
            credit[row] += 1
            continue
        if kind == HEAD:
            ledger[FREE] -= 1
            m = np.int64(free[ledger[FREE]])
            for j in range(HEADER + header_words):
                messages[m, j] = words[i, 0]
                i += 1
            messages[m, CAME] = ledger[NOW]
            lanes[row, INCOMING] = m
        slot = row // count
        arrive(
            slot, row - slot * count, np.int64(lanes[row, INCOMING]), count, words_per_node, buffer,
            lanes, ring, occupied, inside, ledger,
        )  # fmt: skip
        ledger[INSIDE] += 1


@kernel
def count_tails(state: State, vcs: int, ports: int, buffer: int) -> int:
    """Messages whose last flit is here and whose first has entered."""
    lanes, ring, messages = state.lanes, state.ring, state.messages
    count = (ports + 1) * vcs
    tails = 0
    for row in range(lanes.shape[0]):
        if row % count >= ports * vcs:
            tails += lanes[row, SENT] > 0
            continue
        sent, place = np.int64(lanes[row, SENT]), np.int64(lanes[row, FIRST])
        for _ in range(lanes[row, FILLED]):
            sent += 1
            if sent == messages[ring[row * buffer + place], LENGTH]:
                tails, sent = tails + 1, np.int64(0)
            place += 1
            if place == buffer:
                place = np.int64(0)
    return tails


advance_adaptive = advance.bind("advance_adaptive", ADAPTIVE=True)
"""`advance` where nodes choose among candidates; compiled where one does."""
