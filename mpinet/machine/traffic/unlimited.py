"""The step of a machine whose channels have queues without limit.

A channel's queue is a skew heap of messages, with the one to be served first at its root: what is
taken out never depends on the heap's shape, and to put in or take out takes a few looks.
"""

from typing import NamedTuple

import numpy as np

from mpinet.arguments import StartRule
from mpinet.arrays import Ints, Rows, Shorts
from mpinet.compiled import idiom, kernel
from mpinet.machine.hop import Faulty, Wayfinding, Wiring
from mpinet.machine.traffic.layout import (
    AWAY,
    BACKLOG,
    BACKLOG_AFTER,
    BACKLOG_BEFORE,
    BORN_IN,
    BURSTY,
    CAME,
    CLAIMED,
    CLAIMS,
    CLOSED,
    CROSSED,
    ELSEWHERE,
    ENDED,
    ENDLESS,
    ENTERED_ALL,
    ENTERED_IN,
    FIFO,
    FLITS,
    FREE,
    GENERATING,
    HEAD,
    HEADER,
    HOPS,
    HOSTS,
    KIND_BITS,
    LANES_PER_WORD,
    LAST_MOVE,
    LENGTH,
    LIMIT,
    LONG_BELOW,
    LONG_FLITS,
    MARGIN,
    MOVED,
    MOVES,
    NONE,
    NOW,
    NUMBER,
    NUMBERED,
    OFF_BELOW,
    ON_BELOW,
    OPEN,
    OPEN_EVERYWHERE,
    PENDING,
    POLICY,
    RANK,
    RANKS,
    SAF,
    SEED,
    SLOT,
    SOURCE,
    SOURCE_QUEUE_MAX,
    SWITCHING,
    TARGET,
    TRACED,
    UNWIRED_PORT,
    WANTS_ROOM,
    WARMUP,
    WINDOW_END,
    WITHDRAWN,
    Books,
    Busses,
    Crossing,
    Links,
    Sources,
)
from mpinet.machine.traffic.sources import comes, flits_of, is_among, turned, way_on
from mpinet.machine.traffic.step import book_birth, complain, finish
from mpinet.networks.arithmetic import lowest_one
from mpinet.networks.routing import STUCK, hop_limit


class Queues(NamedTuple):
    """The queues of the hosted nodes, and the messages in them.

    Of channels, by (slot, port): the roots of their heaps, and when they are free again. Of nodes:
    the ports that have a heap, as bits, and how many messages have not entered. Of messages: the
    branches of the heaps; `left` also leads to the next that arrives in the same step, from `due`.
    """

    roots: Shorts
    busy: Ints
    occupied: Ints
    waiting: Ints
    left: Shorts
    right: Shorts
    due: Shorts
    messages: Rows
    free: Shorts


@kernel
def advance_unlimited(
    wiring: Wiring,
    wayfinding: Wayfinding,
    start_rule: StartRule,
    faults: Faulty,
    links: Links,
    rules: Ints,
    sources: Sources,
    queues: Queues,
    busses: Busses,
    books: Books,
    crossing: Crossing,
    ledger: Ints,
    steps: int,
) -> None:
    """Make up to so many steps, as `step.advance` does."""
    neighbor, wired = wiring.neighbor.call, wiring.params
    decide, params = wayfinding.decide.call, wayfinding.params
    header_words, start = wayfinding.header_words, start_rule.call
    dead, cut = faults.dead, faults.cut
    nodes, far_slots, _, owners = links
    target_of, pattern = sources.target.call, sources.params
    dice, on, taken = sources.dice, sources.on, sources.taken
    trace, next_born, ends = sources.trace, sources.next_born, sources.ends
    roots, busy, occupied, waiting, left, right, due, messages, free = queues
    bus_of, _, bus_busy, won, _, bus_numbers, _, _, claims = busses
    loads, entered, latencies, edges, batches = books
    words, word_owners = crossing
    saf, fifo = rules[SWITCHING] == SAF, rules[POLICY] == FIFO
    warmup, window_end, seed = rules[WARMUP], rules[WINDOW_END], rules[SEED]
    generating, short, long = rules[GENERATING], rules[FLITS], rules[LONG_FLITS]
    long_below, bursty = rules[LONG_BELOW], rules[BURSTY] != 0
    on_below, off_below = rules[ON_BELOW], rules[OFF_BELOW]
    traced, hosts, rank, alone = rules[TRACED] != 0, rules[HOSTS], rules[RANK], rules[RANKS] == 1
    faulty, bussed = dead.size + cut.size > 0, bus_of.size > 0
    size, ports = wired[0], wired[1]
    hops_most = hop_limit(size)
    words_per_node = (ports + LANES_PER_WORD - 1) // LANES_PER_WORD
    header = np.empty(header_words, np.int64)

    for _ in range(steps):
        t = ledger[NOW]
        if ledger[FREE] < rules[MARGIN]:
            ledger[WANTS_ROOM] = 1
            return
        if ledger[CLOSED] < 0 and (
            t >= rules[LIMIT] or (t >= window_end and ledger[OPEN_EVERYWHERE] == 0)
        ):
            ledger[CLOSED] = t
            withdraw_waiting(
                queues.roots,
                occupied,
                waiting,
                left,
                right,
                messages,
                free,
                fifo,
                ports,
                words_per_node,
                ledger,
            )
        leaving = ledger[CLAIMED] != 0
        if t == warmup and not leaving:
            ledger[BACKLOG_BEFORE] = ledger[BACKLOG]
        measuring = warmup <= t < window_end
        away = claimed = 0
        # What arrives, then what is born, joins the queues. One loop, for both do the same.
        row = t % due.size
        arriving = np.int64(due[row])
        due[row] = NONE
        slot, births_left = -1, 0
        born_here = ledger[CLOSED] < 0 and not leaving
        while True:
            if arriving != NONE:
                m = arriving
                arriving = np.int64(left[m])
                at = messages[m, SLOT]
                ledger[PENDING] -= 1
            else:
                if not born_here:
                    break
                if births_left == 0:
                    slot += 1
                    if slot == nodes.size:
                        break
                    node = nodes[slot]
                    if node >= hosts or (faulty and is_among(node, dead)):
                        continue
                    if traced:
                        while (
                            next_born[slot] + births_left < ends[slot]
                            and trace[next_born[slot] + births_left, 0] == t
                        ):
                            births_left += 1
                    else:
                        awake = True
                        if bursty:
                            awake = on[slot] = turned(on[slot], seed, node, t, on_below, off_below)
                        if awake and comes(np.int64(dice[slot]), t, generating):
                            births_left = 1
                    if births_left == 0:
                        continue
                births_left -= 1
                node, at = nodes[slot], slot
                ledger[FREE] -= 1
                m = np.int64(free[ledger[FREE]])
                if traced:
                    line = next_born[slot]
                    next_born[slot] += 1
                    target, length = trace[line, 1], trace[line, 2]
                    messages[m, NUMBER] = trace[line, 3]
                else:
                    target = target_of(node, seed, taken[slot], t, pattern)
                    length = flits_of(seed, node, t, short, long, long_below)
                    messages[m, NUMBER] = t * size + node
                    taken[slot] += 1
                book_birth(length, measuring, ledger)
                waiting[slot] += 1
                messages[m, LENGTH], messages[m, BORN_IN] = length, t
                messages[m, SOURCE], messages[m, TARGET] = node, target
                messages[m, HOPS] = 0
                header[:] = 0
                if rules[NUMBERED]:
                    header[header_words - 1] = messages[m, NUMBER]
                start(node, target, header, params)
                for j in range(header_words):
                    messages[m, HEADER + j] = header[j]
            # The message has come to the node at slot `at`.
            node = nodes[at]
            messages[m, CAME] = t
            for j in range(header_words):
                header[j] = messages[m, HEADER + j]
            # Arrays that are handed on have their references counted: only where needed.
            if faulty:
                out = way_on(decide, node, header, params, dead, cut, neighbor, wired)
            else:
                out = decide(node, header, params)
            for j in range(header_words):
                messages[m, HEADER + j] = header[j]
            if out < 0:
                if out != STUCK and messages[m, TARGET] != node:
                    complain(ledger, ELSEWHERE, node, out, messages[m, NUMBER])
                    return
                first = messages[m, HOPS] == 0
                if first:
                    enter(messages, m, t, at, measuring, waiting, entered, ledger)
                last = t if saf and not first else t + messages[m, LENGTH] - 1
                finish(
                    messages, m, last, out == STUCK, warmup, window_end, latencies, edges, batches,
                    ledger,
                )  # fmt: skip
                free[ledger[FREE]] = m
                ledger[FREE] += 1
                continue
            if out >= ports or owners[at * ports + out] < 0:
                complain(ledger, UNWIRED_PORT, node, out, messages[m, NUMBER])
                return
            if messages[m, HOPS] >= hops_most:
                complain(ledger, ENDLESS, node, out, messages[m, NUMBER])
                return
            channel = at * ports + out
            left[m] = right[m] = NONE
            root = np.int64(roots[channel])
            if root == NONE:
                roots[channel] = m
            else:
                roots[channel] = melded(root, m, left, right, messages, fifo)
            occupied[at * words_per_node + out // LANES_PER_WORD] |= 1 << out % LANES_PER_WORD
        # Free channels take the first of their queues.
        queue_max = ledger[SOURCE_QUEUE_MAX]
        made = 0
        for slot in range(nodes.size):
            node = nodes[slot]
            for part in range(words_per_node):
                bits = occupied[slot * words_per_node + part]
                while bits:
                    out = part * LANES_PER_WORD + lowest_one(bits)
                    bit = bits & -bits
                    bits &= bits - 1
                    channel = slot * ports + out
                    if busy[channel] > t:
                        continue
                    m = np.int64(roots[channel])
                    if bussed and leaving:
                        if won[bus_of[channel]] != node * ports + out:
                            continue
                    elif bussed:
                        bus = bus_of[channel]
                        if bus_busy[bus] > t:
                            continue
                        claims[claimed, 0], claims[claimed, 1] = node, bus_numbers[bus]
                        claims[claimed, 2] = messages[m, CAME] if fifo else 0
                        claims[claimed, 3] = messages[m, NUMBER]
                        claims[claimed, 4] = node * ports + out
                        claims[claimed, 5] = messages[m, LENGTH]
                        claimed += 1
                        continue
                    root = np.int64(left[m])
                    if right[m] != NONE:
                        root = melded(root, np.int64(right[m]), left, right, messages, fifo)
                    roots[channel] = root
                    if root == NONE:
                        occupied[slot * words_per_node + part] &= ~bit
                    length = messages[m, LENGTH]
                    if messages[m, HOPS] == 0:
                        enter(messages, m, t, slot, measuring, waiting, entered, ledger)
                    messages[m, HOPS] += 1
                    busy[channel] = t + length
                    ledger[LAST_MOVE] = max(ledger[LAST_MOVE], t + length - 1)
                    ledger[MOVES] += length
                    within = min(t + length, window_end) - max(t, warmup)
                    if within > 0:
                        loads[channel] += np.uint32(within)
                    made += 1
                    if alone or owners[channel] == rank:
                        messages[m, SLOT] = far_slots[channel]
                        row = (t + (length if saf else 1)) % due.size
                        left[m] = due[row]
                        due[row] = m
                        ledger[PENDING] += 1
                        continue
                    words[away, 0] = np.int64(far_slots[channel]) << KIND_BITS | HEAD
                    word_owners[away] = owners[channel]
                    away += 1
                    ledger[CROSSED] += 1
                    for j in range(HEADER + header_words):
                        words[away, 0], word_owners[away] = messages[m, j], owners[channel]
                        away += 1
                    free[ledger[FREE]] = m
                    ledger[FREE] += 1
            queue_max = max(queue_max, waiting[slot])
        ledger[CLAIMED] = 0
        if bussed and not leaving:
            ledger[CLAIMED], ledger[CLAIMS] = 1, claimed
            return
        ledger[SOURCE_QUEUE_MAX] = queue_max
        if t == window_end - 1:
            ledger[BACKLOG_AFTER] = ledger[BACKLOG]
        moving = made > 0 or ledger[LAST_MOVE] >= t or ledger[PENDING] > 0
        ledger[MOVED], ledger[AWAY] = np.int64(moving), away
        ledger[NOW] = t + 1
        if alone:
            ledger[OPEN_EVERYWHERE] = ledger[OPEN]
            if ledger[CLOSED] >= 0 and not moving:
                ledger[ENDED] = 1
                return


@idiom
def enter(messages, m, step, slot, measuring, waiting, entered, ledger):
    """Book that a message leaves its source."""
    messages[m, ENTERED_IN] = step
    waiting[slot] -= 1
    ledger[ENTERED_ALL] += 1
    ledger[BACKLOG] -= messages[m, LENGTH]
    if measuring:
        entered[slot] += messages[m, LENGTH]


@idiom
def goes_first(a, b, messages, fifo):
    """Whether message a is served before b."""
    if fifo and messages[a, CAME] != messages[b, CAME]:
        return messages[a, CAME] < messages[b, CAME]
    return messages[a, NUMBER] < messages[b, NUMBER]


@idiom
def melded(a, b, left, right, messages, fifo):
    """One heap of two (Sleator, Tarjan 1986); its root."""
    if a == NONE:
        return b
    if b == NONE:
        return a
    if goes_first(b, a, messages, fifo):
        a, b = b, a
    root = a
    while True:
        other = np.int64(right[a])
        right[a] = left[a]
        if other == NONE:
            left[a] = b
            return root
        if goes_first(b, other, messages, fifo):
            other, b = b, other
        left[a] = other
        a = other


@idiom
def withdraw_waiting(
    roots, occupied, waiting, left, right, messages, free, fifo, ports, words_per_node, ledger
):
    """Close the sources: what waits for a channel at its source is taken back."""
    for channel in range(roots.size):
        rest, kept = np.int64(roots[channel]), np.int64(NONE)
        while rest != NONE:
            m = rest
            rest = melded(np.int64(left[m]), np.int64(right[m]), left, right, messages, fifo)
            if messages[m, HOPS] > 0:
                left[m] = right[m] = NONE
                kept = melded(kept, m, left, right, messages, fifo)
                continue
            slot = channel // ports
            waiting[slot] -= 1
            ledger[WITHDRAWN] += 1
            ledger[BACKLOG] -= messages[m, LENGTH]
            free[ledger[FREE]] = m
            ledger[FREE] += 1
        roots[channel] = kept
        if kept == NONE:
            slot = channel // ports
            out = channel - slot * ports
            place = slot * words_per_node + out // LANES_PER_WORD
            occupied[place] &= ~(1 << out % LANES_PER_WORD)


@kernel
def take_in_unlimited(
    words: Rows, header_words: int, rules: Ints, queues: Queues, ledger: Ints
) -> None:
    """Note when what other ranks' nodes have sent will have come."""
    left, due, messages, free = queues.left, queues.due, queues.messages, queues.free
    i = 0
    while i < words.shape[0]:
        slot = words[i, 0] >> KIND_BITS
        i += 1
        ledger[FREE] -= 1
        m = np.int64(free[ledger[FREE]])
        for j in range(HEADER + header_words):
            messages[m, j] = words[i, 0]
            i += 1
        messages[m, SLOT] = slot
        length = messages[m, LENGTH] if rules[SWITCHING] == SAF else 1
        row = (ledger[NOW] - 1 + length) % due.size
        left[m] = due[row]
        due[row] = m
        ledger[PENDING] += 1
