"""The router's loops over messages: one pass moves, one settles arrivals, one merges them in.

A rank's messages are a struct of arrays, first in the array = first to be served. A message has a
``node`` where it is, a ``port`` that it waits for, a ``number``, its ``hops`` so far, and
``words``: the routing's header, then the payload. Between ranks it is a row [node, number, hops,
words..].
"""

from functools import cache

import numpy as np

from mpinet.compiled import Compiled, Kernel, Rule, inlined, kernel
from mpinet.machine.faults import is_cut, is_dead
from mpinet.machine.placement import TO_POSITION, owner_of
from mpinet.machine.step import PORTS_PER_WORD
from mpinet.networks.routing import ARRIVED, STUCK, hop_limit

NODE, NUMBER, HOPS, WORDS = 0, 1, 2, 3
"""Columns of a message's row between ranks."""

END_NUMBER, END_NODE, END_HOPS, END_STATUS, END_STEP, END_PAYLOAD = range(6)
"""Columns of the row that a message leaves where it ends, delivered or stuck."""

(
    LIVE,
    STEP,
    MOVED,
    ENDED,
    DELIVERED,
    LOST,
    HOPS_TOTAL,
    HOPS_MAX,
    QUEUE_MAX,
    LEAVING,
    WRONG,
    WRONG_PLACE,
    ARRIVALS_SEAL,
    FIELDS,
) = range(14)
"""The fields of a router's ledger: messages here, steps made; moves and ends in the last pass;
messages delivered and lost here; hops of all moves, most hops of a delivered message, most messages
that waited at a processor in a step; rows in `leaving`; a routing error, and who made it; the sum
of the `seal`s of the delivered messages."""

IDEAL, QUEUED, CHOSEN = range(3)
"""How channels are granted: all at once, first come first served, or as `granted` says."""

UNWIRED_PORT, ENDLESS = 1, 2
"""Routing errors."""

SEAL_MASK = (1 << 61) - 1


@inlined
def seal(total, number, node):
    """Add what shows that a message belongs to a node: swapped ends would change the sum."""
    return (total + ((number + 1) * (node + 1) & SEAL_MASK)) & SEAL_MASK


INLINED = False
"""Whether `advance` has the two rules below compiled in and does not call those it is given."""

HEADER_WORDS = WIDTH = 0
"""The words of a header and of a message, where `advance` has these compiled in, too."""


@inlined
def wiring_inlined(node, port, params):
    """Stand-in for a network's rule `neighbor`."""
    return -1


@inlined
def wayfinding_inlined(node, header, params):
    """Stand-in for a routing's rule `decide`."""
    return STUCK


@cache
def inlining(neighbor: Rule, decide: Rule, header_words: int, width: int) -> tuple[Kernel, Kernel]:
    """`advance` and `settle` with a network, a routing and messages' lengths compiled into them.

    That takes seconds, once for all these, and makes a hop cheaper by a third.
    """
    name = f"{neighbor.name}_{decide.name}_{header_words}_{width}"
    parts: dict[str, Compiled | int] = {
        "INLINED": True,
        "HEADER_WORDS": header_words,
        "WIDTH": width,
        "wiring_inlined": neighbor,
        "wayfinding_inlined": decide,
    }
    return advance.bind(f"advance_{name}", **parts), settle.bind(f"settle_{name}", **parts)


@inlined
def next_port(decide, node, header, params, dead, cut, neighbor, wiring):
    """The port that a message leaves by, or `ARRIVED` or `STUCK`."""
    if dead.size > 0 and is_dead(node, dead):
        return STUCK
    port = decide(node, header, params)
    if port >= 0 and dead.size + cut.size > 0:
        other = neighbor(node, port, wiring)
        if is_cut(node, other, dead, cut):
            return STUCK
    return port


@kernel(
    "void(port_rule, decide_rule, port_rule, int64[::1], int64[::1], int64[::1], "
    "int64[::1], int32[::1], int64[::1], int32[::1], int64[:, ::1], "
    "int64, int64, int64, int64, int64, int64[::1], int64, boolean[::1], "
    "uint32[::1], uint32[::1], uint32[::1], int64[::1], int64[:, ::1], "
    "int64, int64[:, ::1], int64[:, ::1], int64[::1], int64[:, ::1], int64[::1])"
)
def advance(
    neighbor_rule,
    decide_rule,
    place_rule,
    wiring,
    wayfinding,
    mapping,
    node,
    port,
    number,
    hops,
    words,
    header_words,
    contiguous,
    first,
    count,
    rank,
    split,
    grants,
    granted,
    used,
    waiting,
    loads,
    dead,
    cut,
    requeue,
    ends,
    leaving,
    owners,
    moves,
    ledger,
):
    """Make one step of the messages of this rank: every granted message hops.

    A message that stays on this rank is settled at once and keeps its place in the order; one that
    leaves it (with `requeue`: every one that moves) becomes a row of `leaving`, its new rank in
    `owners`; one that ends becomes a row of `ends`. `moves` gets a record of every hop where it has
    room for them. `used` (a bit a port) and `waiting` (a count a processor) are all zero before and
    after.

    Some places are unsigned numbers: for a signed one Numba asks whether it counts from the end.
    """
    neighbor, decide, place = neighbor_rule.call, decide_rule.call, place_rule.call
    ports = wiring[1]
    words_per_node = (ports + PORTS_PER_WORD - 1) // PORTS_PER_WORD
    limit = hop_limit(wiring[0])
    faulty = dead.size + cut.size > 0
    width = words.shape[1]
    if INLINED:
        header_words, width = HEADER_WORDS, WIDTH
    header = np.empty(header_words, np.int64)
    live, left, moved, ended = ledger[LIVE], 0, 0, 0
    kept, one = np.uint64(0), np.uint64(1)
    sparse = live < count // 8
    touched = np.empty(live if sparse else 0, np.int64)
    ledger[STEP] += 1
    for m in range(live):
        u, p = node[m], np.int64(port[m])
        if p >= ports:
            ledger[WRONG], ledger[WRONG_PLACE] = UNWIRED_PORT, m
            break
        slot = (u if contiguous != 0 else place(u, TO_POSITION, mapping)) - first
        go = True
        if grants == QUEUED:
            word = np.uint64(slot * words_per_node + (p >> 5))
            bit = np.uint32(1 << (p & 31))
            go = used[word] & bit == 0
            used[word] |= bit
            if sparse:
                touched[m] = np.int64(word)
        elif grants == CHOSEN:
            go = granted[m]
            if sparse:
                touched[m] = slot * words_per_node
        if not go:
            seat = np.uint64(slot)
            waiting[seat] += np.uint32(1)
            ledger[QUEUE_MAX] = max(ledger[QUEUE_MAX], np.int64(waiting[seat]))
            if kept != np.uint64(m):
                node[kept], port[kept], number[kept], hops[kept] = u, p, number[m], hops[m]
                for j in range(width):
                    words[kept, j] = words[m, j]
            kept += one
            continue
        v = wiring_inlined(u, p, wiring) if INLINED else neighbor(u, p, wiring)
        if v < 0 or hops[m] >= limit:
            ledger[WRONG] = UNWIRED_PORT if v < 0 else ENDLESS
            ledger[WRONG_PLACE] = m
            break
        if loads.size > 0:
            loads[slot * ports + p] += np.uint32(1)
        if moves.shape[0] > 0:
            moves[moved, 0], moves[moved, 1] = u, p
            moves[moved, 2], moves[moved, 3] = v, number[m]
        moved += 1
        position = v if contiguous != 0 else place(v, TO_POSITION, mapping)
        if position < first or position >= first + count or requeue != 0:
            leaving[left, NODE], leaving[left, NUMBER] = v, number[m]
            leaving[left, HOPS] = hops[m] + 1
            for j in range(width):
                leaving[left, WORDS + j] = words[m, j]
            owners[left] = owner_of(position, split)
            left += 1
            continue
        for j in range(header_words):
            header[j] = words[m, j]
        if faulty:
            q = next_port(decide, v, header, wayfinding, dead, cut, neighbor, wiring)
        elif INLINED:
            q = wayfinding_inlined(v, header, wayfinding)
        else:
            q = decide(v, header, wayfinding)
        if q < 0:
            ends[ended, END_NUMBER], ends[ended, END_NODE] = number[m], v
            ends[ended, END_HOPS], ends[ended, END_STATUS] = hops[m] + 1, q
            for j in range(END_PAYLOAD, ends.shape[1]):
                ends[ended, j] = words[m, header_words + j - END_PAYLOAD]
            ended += 1
            continue
        node[kept], port[kept] = v, q
        if kept != np.uint64(m):
            number[kept] = number[m]
            for j in range(header_words, width):
                words[kept, j] = words[m, j]
        hops[kept] = hops[m] + 1
        for j in range(header_words):
            words[kept, j] = header[j]
        kept += one
    if ledger[WRONG] != 0:
        wipe(used, waiting, touched, False, words_per_node)
        return
    ledger[LIVE], ledger[MOVED], ledger[LEAVING], ledger[ENDED] = np.int64(kept), moved, left, ended
    ledger[HOPS_TOTAL] += moved
    if grants != IDEAL:
        wipe(used, waiting, touched, sparse, words_per_node)


@inlined
def wipe(used, waiting, touched, sparse, words_per_node):
    """Set a step's marks back to zero: one by one where there are few."""
    if not sparse:
        used[:] = 0
        waiting[:] = 0
        return
    for i in range(touched.size):
        used[touched[i]] = 0
        waiting[touched[i] // words_per_node] = 0


@kernel(
    "void(port_rule, decide_rule, int64[::1], int64[::1], int64, int64[:, ::1], int64[::1], "
    "int64[::1], int32[::1], int64[::1], int32[::1], int64[:, ::1], int64, "
    "int64[::1], int64[:, ::1], int64[:, ::1], int64[::1])"
)
def settle(
    neighbor_rule,
    decide_rule,
    wiring,
    wayfinding,
    header_words,
    rows,
    order,
    node,
    port,
    number,
    hops,
    words,
    begin,
    dead,
    cut,
    ends,
    ledger,
):
    """Let the arrivals decide on their next port, in `order`; those that go on fill the arrays.

    They are written from place `begin` on; ledger[LIVE] is set to where they end. Those that end
    become rows of `ends`.
    """
    neighbor, decide = neighbor_rule.call, decide_rule.call
    width = words.shape[1]
    if INLINED:
        header_words, width = HEADER_WORDS, WIDTH
    header = np.empty(header_words, np.int64)
    faulty = dead.size + cut.size > 0
    kept, ended = begin, 0
    for i in range(order.size):
        r = order[i]
        v = rows[r, NODE]
        for j in range(header_words):
            header[j] = rows[r, WORDS + j]
        if INLINED and not faulty:
            q = wayfinding_inlined(v, header, wayfinding)
        else:
            q = next_port(decide, v, header, wayfinding, dead, cut, neighbor, wiring)
        if q < 0:
            ends[ended, END_NUMBER], ends[ended, END_NODE] = rows[r, NUMBER], v
            ends[ended, END_HOPS], ends[ended, END_STATUS] = rows[r, HOPS], q
            for j in range(END_PAYLOAD, ends.shape[1]):
                ends[ended, j] = rows[r, WORDS + header_words + j - END_PAYLOAD]
            ended += 1
            continue
        node[kept], port[kept] = v, q
        number[kept], hops[kept] = rows[r, NUMBER], rows[r, HOPS]
        for j in range(header_words):
            words[kept, j] = header[j]
        for j in range(header_words, width):
            words[kept, j] = rows[r, WORDS + j]
        kept += 1
    ledger[LIVE], ledger[ENDED] = kept, ended


@kernel("void(int64[:, ::1], int64[:, ::1], int64[::1], int64[::1])")
def book_ends(ends, births, latency, ledger):
    """Book the messages that have ended in this step; `births` has rows (first number, step)."""
    for i in range(ledger[ENDED]):
        ends[i, END_STEP] = ledger[STEP]
        if ends[i, END_STATUS] != ARRIVED:
            ledger[LOST] += 1
            continue
        batch = births.shape[0] - 1
        while births[batch, 0] > ends[i, END_NUMBER]:
            batch -= 1
        latency[ledger[STEP] - births[batch, 1]] += 1
        ledger[DELIVERED] += 1
        ledger[ARRIVALS_SEAL] = seal(ledger[ARRIVALS_SEAL], ends[i, END_NUMBER], ends[i, END_NODE])
        ledger[HOPS_MAX] = max(ledger[HOPS_MAX], ends[i, END_HOPS])


@kernel("int64(start_rule, int64[::1], int64[::1], int64[::1], int64, int64[:, ::1])")
def write_headers(start_rule, params, sources, targets, header_words, rows):
    """Let every source write its message's header into the message's row; the sum of the seals."""
    start = start_rule.call
    header = np.empty(header_words, np.int64)
    total = 0
    for i in range(sources.size):
        header[:] = 0
        start(sources[i], targets[i], header, params)
        for j in range(header_words):
            rows[i, WORDS + j] = header[j]
        total = seal(total, rows[i, NUMBER], targets[i])
    return total


@kernel("void(int64[::1], int32[::1], int64[::1], int32[::1], int64[:, ::1], int64, int64, int64)")
def merge(node, port, number, hops, words, first, second, end):
    """Merge the messages first..second-1 and second..end-1, each in ascending number, in place."""
    late, width = end - second, words.shape[1]
    late_node, late_port = np.empty(late, np.int64), np.empty(late, np.int32)
    late_number, late_hops = np.empty(late, np.int64), np.empty(late, np.int32)
    late_words = np.empty((late, width), np.int64)
    for i in range(late):
        late_node[i], late_port[i] = node[second + i], port[second + i]
        late_number[i], late_hops[i] = number[second + i], hops[second + i]
        for c in range(width):
            late_words[i, c] = words[second + i, c]
    i, j = second - 1, late - 1
    for k in range(end - 1, first - 1, -1):
        if j < 0:
            return
        if i >= first and number[i] > late_number[j]:
            node[k], port[k], number[k], hops[k] = node[i], port[i], number[i], hops[i]
            for c in range(width):
                words[k, c] = words[i, c]
            i -= 1
        else:
            node[k], port[k] = late_node[j], late_port[j]
            number[k], hops[k] = late_number[j], late_hops[j]
            for c in range(width):
                words[k, c] = late_words[j, c]
            j -= 1
