"""The router's loops over messages: one pass moves, one settles arrivals, one merges them in.

A message is a row of 64-bit words: [place, number, words..]. Its *place* holds the node where it is
and the port that it waits for; its *number* holds that number and the hops so far; the words are
the routing's header, then the payload. A rank's messages are rows of one array, the first in the
array = the first to be served; between ranks messages travel as the same rows. One stream through
memory, of three words per message with a one-word header, is most of what makes a hop cheap.

The loops stand in one file, though it is long: they share the layout of a row, and a step calls
them one after the other.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from mpinet.base.arguments import DecideRule, PortRule, StartRule
from mpinet.base.arrays import Counts, Flags, Ints, Shorts, Table
from mpinet.compiled import Kernel, Rule, bind_all, inlined, kernel
from mpinet.machine.faults import is_cut, is_dead
from mpinet.machine.ledger import Ledger
from mpinet.machine.placement import TO_POSITION, owner_of, start_of
from mpinet.machine.stepping import PORTS_PER_WORD
from mpinet.networks.routing import ARRIVED, STUCK, hop_limit

PLACE, NUMBER, WORDS = 0, 1, 2
"""Columns of a message's row. One that has ended leaves a row, too: instead of the port its place
holds `DELIVERED_HERE` or `LOST_HERE`, and no header stands before the payload."""

DELIVERED_HERE, LOST_HERE = 0, 1

LOW_BITS = 24
"""Bits of a word's low half: a port, or hops."""

HIGH_MOST, LOW_MOST = (1 << 63 - LOW_BITS) - 1, (1 << LOW_BITS) - 1
"""The largest number in a word's high half (a node, a message's number), and in its low half."""


@inlined
def joined(high_half, low_half):
    """Join two halves to a word."""
    return high_half << LOW_BITS | low_half


@inlined
def high(word):
    """Return the high half of a word."""
    return word >> LOW_BITS


@inlined
def low(word):
    """Return the low half of a word."""
    return word & LOW_MOST


IDEAL, QUEUED, CHOSEN = range(3)
"""Ways to grant channels: all at once, first come first served, or as `Granting.granted` says."""

NOBODY, CROSSING, EVERYBODY = range(3)
"""Messages that leave the array when they hop: none (there is one rank), those that change rank, or
all (with the policy ``fifo`` every hop puts a message behind those that wait).
"""

UNWIRED_PORT, ENDLESS = 1, 2
"""Codes of routing errors: an unwired port was chosen, or the limit of hops is reached."""

SEAL_MASK = (1 << 61) - 1


@inlined
def seal(number, node):
    """61 bits that show that a message belongs to a node.

    They are scrambled, so that the sum over many messages shows it, too: messages that exchange
    their ends would keep a sum of products.
    """
    word = (int(number) + 1) * 0x1E3779B97F4A7C15 & SEAL_MASK
    word = ((word ^ (word >> 29)) + int(node)) * 0x1F58476D1CE4E5B9 & SEAL_MASK
    return word ^ (word >> 30)


class Loops(NamedTuple):
    """The loops over messages, in the order in which a step makes them."""

    advance: Kernel
    settle: Kernel
    merge: Kernel


class Wiring(NamedTuple):
    """The network: its rule `neighbor`, with its parameters."""

    neighbor: PortRule
    params: Ints


class Wayfinding(NamedTuple):
    """The routing: its rule `decide`, with its parameters, and the words of its header."""

    decide: DecideRule
    params: Ints
    header_words: int


class Hosting(NamedTuple):
    """The mapping, and this rank's part of it.

    The rule `place` with its parameters, and 1 if it is the identity; the first position here, how
    many there are, and how positions are split among the ranks.
    """

    place: PortRule
    params: Ints
    contiguous: int
    first: int
    hosted: int
    split: Ints


class Granting(NamedTuple):
    """Granting of channels: its kind (`IDEAL`, ..); with `CHOSEN`, a flag per message that hops."""

    how: int
    granted: Flags


class Marks(NamedTuple):
    """Arrays in which a step marks and counts the use of processors and ports.

    The ports used in a step, a bit each; how many messages wait; the load of every channel (empty
    where it is not metered).
    """

    used: Counts
    waiting: Counts
    loads: Counts


class Faulty(NamedTuple):
    """The dead nodes and the cut links (see `Faults`)."""

    dead: Ints
    cut: Table


class Leaving(NamedTuple):
    """The messages that leave the array.

    Which do (`NOBODY`, ..); room for their rows and for the rank that each goes to, which is not
    written where all go to one.
    """

    leavers: int
    rows: Table
    owners: Shorts


@kernel
def seal_all(numbers: Ints, nodes: Ints) -> int:
    """Sum of the seals of messages that belong to `nodes`."""
    total = 0
    for i in range(numbers.size):
        total += seal(numbers[i], nodes[i])
    return total & SEAL_MASK


INLINED = False
HEADER_WORDS = WIDTH = GRANTS = LEAVERS = FAULTY = OBSERVED = NODE_WORDS = 0
"""Constants that `inlining` replaces. As they stand here, loops over messages call the rules that
they are given, and read the numbers from their arguments. In a loop with rules compiled in,
`INLINED` is True: the three stand-ins below are the rules themselves, and the seven numbers
(words of a header and of a message, how channels are granted, who leaves, whether there are
faults, whether loads or moves are written down, words of marks per node) are constants, so that
LLVM drops the branches that they rule out. Their arguments are still passed, and not read.
"""


@inlined
def wiring_inlined(node, port, params):
    """Stand-in for a network's rule `neighbor`."""
    return -1


@inlined
def wayfinding_inlined(node, header, params):
    """Stand-in for a routing's rule `decide`."""
    return STUCK


@inlined
def hosting_inlined(number, direction, params):
    """Stand-in for a mapping's rule."""
    return -1


@cache
def inlining(neighbor: Rule, decide: Rule, place: Rule, **numbers: int) -> Loops:
    """The `LOOPS` with a network, a routing, a mapping and the `numbers` compiled in.

    That takes seconds, once for all these, and makes a hop cheaper by a tenth to two thirds.
    """
    bound = bind_all(
        LOOPS,
        f"{neighbor.name}_{decide.name}_{place.name}",
        INLINED=True,
        wiring_inlined=neighbor,
        wayfinding_inlined=decide,
        hosting_inlined=place,
        **numbers,
    )
    return Loops(*bound)


@inlined
def position_of(node, place, contiguous, mapping):
    """Position of a node, by its mapping's rule, called or compiled in."""
    if INLINED:
        return hosting_inlined(node, TO_POSITION, mapping)
    return node if contiguous != 0 else place(node, TO_POSITION, mapping)


@inlined
def next_port(decide, node, header, params, faulty, dead, cut, neighbor, wiring):
    """Port that a message leaves by, or `ARRIVED` or `STUCK`."""
    if faulty and dead.size > 0 and is_dead(node, dead):
        return STUCK
    port = wayfinding_inlined(node, header, params) if INLINED else decide(node, header, params)
    if faulty and port >= 0 and is_cut(node, neighbor(node, port, wiring), dead, cut):
        return STUCK
    return port


@inlined
def leads(neighbor, node, port, wiring):
    """Tell if a processor has this port, and the port a link."""
    return port < wiring[1] and neighbor(node, port, wiring) >= 0


@inlined
def put(rows, to, node, port, number, header, row, header_words, width):
    """Put the message of a row, now at a node with a new header, into the row `to`.

    A port that is none of any network stays so where it does not fit.
    """
    rows[to, PLACE], rows[to, NUMBER] = joined(node, min(port, LOW_MOST)), number
    for j in range(header_words):
        rows[to, WORDS + j] = header[j]
    for j in range(WORDS + header_words, WORDS + width):
        rows[to, j] = rows[row, j]


@inlined
def put_end(ends, to, node, answer, number, rows, row, header_words, width):
    """Put the message of a row, which has ended at a node, into the row `to` of `ends`."""
    fate = DELIVERED_HERE if answer == ARRIVED else LOST_HERE
    ends[to, PLACE], ends[to, NUMBER] = joined(node, fate), number
    for j in range(width - header_words):
        ends[to, WORDS + j] = rows[row, WORDS + header_words + j]


@kernel
def advance(
    wiring: Wiring,
    wayfinding: Wayfinding,
    hosting: Hosting,
    messages: Table,
    granting: Granting,
    marks: Marks,
    faults: Faulty,
    ends: Table,
    leaving: Leaving,
    counts: Ints,
    moves: Table,
    ledger: Ledger,
) -> None:
    """Make one step of the messages of this rank: every granted message hops.

    A message that keeps its place in the order is settled at once; one that leaves becomes a row
    of `leaving`, and `counts` has how many go to each rank; one that ends becomes a row of `ends`.
    `moves` gets a record of every hop where it has room for them. The marks `used` and `waiting`
    and the counts are all zero before; the first two also after.
    """
    # Groups are taken apart here: in the loop every look into one would count its references.
    neighbor, links = wiring.neighbor.call, wiring.params
    decide, params = wayfinding.decide.call, wayfinding.params
    place, mapping, contiguous = hosting.place.call, hosting.params, hosting.contiguous
    first, count, split = hosting.first, hosting.hosted, hosting.split
    used, waiting, loads = marks.used, marks.waiting, marks.loads
    away, owners, dead, cut = leaving.rows, leaving.owners, faults.dead, faults.cut
    ports = links[1]
    words_per_node = (ports + PORTS_PER_WORD - 1) // PORTS_PER_WORD
    # Hops are counted in a word's low half, which must not run over into the message's number.
    limit = min(hop_limit(links[0]), LOW_MOST)
    header_words, width = wayfinding.header_words, messages.shape[1] - WORDS
    grants, granted, leavers = granting.how, granting.granted, leaving.leavers
    faulty, observed = dead.size + cut.size > 0, loads.size + moves.size > 0
    if INLINED:
        header_words, width, faulty = HEADER_WORDS, WIDTH, FAULTY != 0
        grants, leavers = GRANTS, LEAVERS
        observed, words_per_node = OBSERVED != 0, NODE_WORDS
    header = np.empty(header_words, np.int64)
    live, left, moved, ended = ledger.live, 0, 0, 0
    # Rows are closed up in place: the message of row m goes to row `kept`, which is never behind m.
    # Some places are unsigned: for a signed one Numba asks whether it counts from the end.
    kept, one = np.uint64(0), np.uint64(1)
    # Neighbours of neighbours mostly have one rank, and to find a position's rank takes divisions.
    # So those that leave are counted by runs: `owner` has the positions start..end-1, and rows
    # since..left-1 all go to it. The first run, of rank 0, is empty.
    owner = start = end = since = 0
    # Marks are wiped after the step. Where messages are few beside processors, that is done word by
    # word, which takes a note of the word that each message touched.
    sparse = live < count // 8
    touched = np.empty(live if sparse else 0, np.int64)
    ledger.step += 1
    for m in range(live):
        where, number = messages[m, PLACE], messages[m, NUMBER]
        u, p = high(where), low(where)
        # Kernels raise nothing: an error is noted in the ledger, and raised by Python on all ranks.
        if p >= ports:
            ledger.wrong, ledger.wrong_message = UNWIRED_PORT, m
            break
        slot = position_of(u, place, contiguous, mapping) - first
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
        # `waiting` counts the messages that stay at each processor, for the longest queue.
        if not go:
            seat = np.uint64(slot)
            waiting[seat] += np.uint32(1)
            if waiting[seat] > ledger.queue_max:
                ledger.queue_max = int(waiting[seat])
            if kept != np.uint64(m):
                for j in range(WORDS + width):
                    messages[kept, j] = messages[m, j]
            kept += one
            continue
        v = wiring_inlined(u, p, links) if INLINED else neighbor(u, p, links)
        if v < 0 or low(number) >= limit:
            ledger.wrong = UNWIRED_PORT if v < 0 else ENDLESS
            ledger.wrong_message = m
            break
        number += 1  # a hop more
        if observed and loads.size > 0:
            loads[slot * ports + p] += np.uint32(1)
        if observed and moves.shape[0] > 0:
            moves[moved, 0], moves[moved, 1] = u, p
            moves[moved, 2], moves[moved, 3] = v, high(number)
        moved += 1
        if leavers != NOBODY:
            position = position_of(v, place, contiguous, mapping)
            if leavers == EVERYBODY or position < first or position >= first + count:
                away[left, PLACE], away[left, NUMBER] = joined(v, 0), number
                for j in range(WORDS, WORDS + width):
                    away[left, j] = messages[m, j]
                if position < start or position >= end:  # not the last one's rank again
                    counts[owner] += left - since
                    owner, since = owner_of(position, split), left
                    start = start_of(owner, split)
                    end = start_of(owner + 1, split)
                if counts.size > 2 or leavers == EVERYBODY:  # otherwise all go to one
                    owners[left] = owner
                left += 1
                continue
        for j in range(header_words):
            header[j] = messages[m, WORDS + j]
        q = next_port(decide, v, header, params, faulty, dead, cut, neighbor, links)
        if q < 0:
            put_end(ends, ended, v, q, number, messages, m, header_words, width)
            ended += 1
            continue
        # Where channels are taken without asking others, `advance` finds unwired ports by itself.
        if grants == CHOSEN and not leads(neighbor, v, q, links):
            ledger.unwired = 1
        put(messages, kept, v, q, number, header, m, header_words, width)
        kept += one
    # The loop was broken off, so notes of what was touched are incomplete: wipe all marks.
    if ledger.wrong != 0:
        wipe(used, waiting, touched, False, words_per_node)
        return
    counts[owner] += left - since
    ledger.live, ledger.moved, ledger.leaving, ledger.ended = int(kept), moved, left, ended
    ledger.hops_total += moved
    if grants != IDEAL:
        wipe(used, waiting, touched, sparse, words_per_node)


@inlined
def wipe(used, waiting, touched, sparse, words_per_node):
    """Reset a step's marks to zero, one by one if only a few were touched."""
    if not sparse:
        used[:] = 0
        waiting[:] = 0
        return
    for i in range(touched.size):
        used[touched[i]] = 0
        waiting[touched[i] // words_per_node] = 0


@kernel
def settle(
    wiring: Wiring,
    wayfinding: Wayfinding,
    rows: Table,
    granting: Granting,
    faults: Faulty,
    ends: Table,
    ledger: Ledger,
) -> int:
    """Let the arrivals in `rows` decide on their next port; return how many go on.

    These become the first of the rows, in their order; those that end become rows of `ends`.
    """
    neighbor, links = wiring.neighbor.call, wiring.params
    decide, params = wayfinding.decide.call, wayfinding.params
    dead, cut = faults.dead, faults.cut
    header_words, width = wayfinding.header_words, rows.shape[1] - WORDS
    grants, faulty = granting.how, dead.size + cut.size > 0
    if INLINED:
        header_words, width, faulty = HEADER_WORDS, WIDTH, FAULTY != 0
        grants = GRANTS
    header = np.empty(header_words, np.int64)
    ended = 0
    kept, one = np.uint64(0), np.uint64(1)
    for r in range(rows.shape[0]):
        v, number = high(rows[r, PLACE]), rows[r, NUMBER]
        for j in range(header_words):
            header[j] = rows[r, WORDS + j]
        q = next_port(decide, v, header, params, faulty, dead, cut, neighbor, links)
        if q < 0:
            put_end(ends, ended, v, q, number, rows, r, header_words, width)
            ended += 1
            continue
        if grants == CHOSEN and not leads(neighbor, v, q, links):
            ledger.unwired = 1
        put(rows, kept, v, q, number, header, r, header_words, width)
        kept += one
    ledger.ended = ended
    return int(kept)


@kernel
def book_ends(ends: Table, births: Table, latency: Ints, ledger: Ledger) -> None:
    """Book the messages that have ended in this step; `births` has rows (first number, step)."""
    total, hops_max, delivered = ledger.arrivals_seal, ledger.hops_max, 0
    for i in range(ledger.ended):
        if low(ends[i, PLACE]) == LOST_HERE:
            continue
        number = high(ends[i, NUMBER])
        # Batches stand by first number: the message is of the last that begins at or below its own.
        batch = births.shape[0] - 1
        while births[batch, 0] > number:
            batch -= 1
        latency[ledger.step - births[batch, 1]] += 1
        delivered += 1
        total += seal(number, high(ends[i, PLACE]))
        hops_max = max(hops_max, low(ends[i, NUMBER]))
    ledger.arrivals_seal, ledger.hops_max = total & SEAL_MASK, hops_max
    ledger.delivered += delivered
    ledger.lost += ledger.ended - delivered


@kernel
def set_out(
    start: StartRule,
    params: Ints,
    header_words: int,
    hosting: Hosting,
    sources: Ints,
    targets: Ints,
    numbers: Ints,
    first_number: int,
    rows: Table,
) -> tuple[int, int]:
    """Make the rows of new messages, with the headers that their sources write.

    Returns the sum of their seals, and how many are done: the next one has a source that is not
    hosted here, or a target that there is not.
    """
    # Three passes, each over little: in one the checks alone take a third of the time.
    place, mapping, contiguous = hosting.place.call, hosting.params, hosting.contiguous
    first, hosted, size = hosting.first, hosting.hosted, mapping[0]
    done = 0
    for i in range(sources.size):
        if min(sources[i], targets[i]) < 0 or max(sources[i], targets[i]) >= size:
            break
        slot = position_of(sources[i], place, contiguous, mapping) - first
        if slot < 0 or slot >= hosted:
            break
        done += 1
    write, header = start.call, np.empty(header_words, np.int64)
    for i in range(done):
        source, number = sources[i], first_number + numbers[i]
        rows[i, PLACE], rows[i, NUMBER] = joined(source, 0), joined(number, 0)
        header[:] = 0
        write(source, targets[i], header, params)
        for j in range(header_words):
            rows[i, WORDS + j] = header[j]
    seals = 0
    for i in range(done):
        seals += seal(first_number + numbers[i], targets[i])
    return seals & SEAL_MASK, done


@kernel
def deal(leaving: Table, owners: Shorts, places: Ints, dealt: Table) -> None:
    """Sort the rows that leave by their new ranks; `places` has where each rank's rows begin."""
    for i in range(leaving.shape[0]):
        place = places[owners[i]]
        places[owners[i]] += 1
        for j in range(leaving.shape[1]):
            dealt[place, j] = leaving[i, j]


def dealt(rows: Ints, owners: Shorts, ranks: int) -> tuple[Ints, Ints]:
    """Return rows in the order of the ranks that they go to, and how many go to each rank."""
    counts = np.bincount(owners, minlength=ranks)
    if np.count_nonzero(counts) > 1:
        unsorted, rows = rows, np.empty_like(rows)
        deal(unsorted, owners, np.cumsum(counts) - counts, rows)
    return rows, counts


@kernel
def merge(messages: Table, residents: int, arrivals: Table) -> None:
    """Merge arrivals into the first `residents` messages, both in ascending number."""
    # From the back, where there is free room, so that no row is overwritten before it is moved.
    # When no arrival is left, the residents that remain are in their places.
    columns = WORDS + WIDTH if INLINED else messages.shape[1]
    i, j = residents - 1, arrivals.shape[0] - 1
    for k in range(residents + arrivals.shape[0] - 1, -1, -1):
        if j < 0:
            return
        if i >= 0 and messages[i, NUMBER] > arrivals[j, NUMBER]:
            for c in range(columns):
                messages[k, c] = messages[i, c]
            i -= 1
        else:
            for c in range(columns):
                messages[k, c] = arrivals[j, c]
            j -= 1


LOOPS = Loops(advance, settle, merge)
