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
from mpinet.compiled import Kernel, Rule, bind_all, idiom, inlined, kernel, part, sweep
from mpinet.machine.faults import is_cut, is_dead
from mpinet.machine.ledger import Ledger
from mpinet.machine.placement import TO_POSITION, owner_of, start_of
from mpinet.machine.stepping import PORTS_PER_WORD
from mpinet.networks.routing import ARRIVED, STUCK, hop_limit

PLACE, NUMBER, WORDS = 0, 1, 2
"""Columns of a message's row. One that has ended leaves a row, too: instead of the port its place
holds `DELIVERED_HERE` or `LOST_HERE`, and no header stands before the payload."""

DELIVERED_HERE, LOST_HERE = 0, 1

# Two halves in one signed word: 39 bits for nodes and message numbers, 24 for ports and hops, which
# no network here exceeds.
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
    # Each product is cut to its low 61 bits, which wraparound at 64 bits leaves intact: plain
    # Python and compiled code agree.
    word = (int(number) + 1) * 0x1E3779B97F4A7C15 & SEAL_MASK
    word = ((word ^ (word >> 29)) + int(node)) * 0x1F58476D1CE4E5B9 & SEAL_MASK
    return word ^ (word >> 30)


class StepLoops(NamedTuple):
    """The loops over messages, in the order in which a step makes them."""

    advance: Kernel
    settle: Kernel
    merge: Kernel


class HopRules(NamedTuple):
    """The ways of messages: rules of network and routing, with their parameters, and the faults.

    `header_words` are those of the routing's header.
    """

    neighbor: PortRule
    links: Ints
    decide: DecideRule
    params: Ints
    header_words: int
    dead: Ints
    cut: Table


class HostedPart(NamedTuple):
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
def inlining(neighbor: Rule, decide: Rule, place: Rule, **numbers: int) -> StepLoops:
    """The `LOOPS` with a network, a routing, a mapping and the `numbers` compiled in.

    That takes seconds, once for all these, and makes a hop cheaper by a tenth to two thirds.
    """
    # Specialization by partial evaluation: the rules and all constants of a run become part of the
    # loop.
    bound = bind_all(
        LOOPS,
        f"{neighbor.name}_{decide.name}_{place.name}",
        INLINED=True,
        wiring_inlined=neighbor,
        wayfinding_inlined=decide,
        hosting_inlined=place,
        **numbers,
    )
    return StepLoops(*bound)


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
    # A static choice: `INLINED` is a constant, so compiled code has one of the two calls.
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
    # Row `to` is never behind `row`, so nothing is overwritten before it is read.
    rows[to, PLACE], rows[to, NUMBER] = joined(node, min(port, LOW_MOST)), number
    for j in range(header_words):
        rows[to, WORDS + j] = header[j]
    for j in range(WORDS + header_words, WORDS + width):
        rows[to, j] = rows[row, j]


@inlined
def put_away(away, to, node, number, rows, row, width):
    """Put the message of a row, on its way to a node, into the row `to` of `away`."""
    away[to, PLACE], away[to, NUMBER] = joined(node, 0), number
    for j in range(WORDS, WORDS + width):
        away[to, j] = rows[row, j]


@inlined
def put_end(ends, to, node, answer, number, rows, row, header_words, width):
    """Put the message of a row, which has ended at a node, into the row `to` of `ends`."""
    fate = DELIVERED_HERE if answer == ARRIVED else LOST_HERE
    ends[to, PLACE], ends[to, NUMBER] = joined(node, fate), number
    for j in range(width - header_words):
        ends[to, WORDS + j] = rows[row, WORDS + header_words + j]


class HopConstants(NamedTuple):
    """The numbers that loops with rules compiled in have as constants (see `INLINED`)."""

    header_words: int
    width: int
    grants: int
    leavers: int
    faulty: bool
    observed: bool
    node_words: int


@inlined
def form_of(ways, rows, grants, leavers, observed):
    """Return these numbers, or the constants that are compiled in for them."""
    header_words, width = ways.header_words, rows.shape[1] - WORDS
    faulty = ways.dead.size + ways.cut.size > 0
    node_words = (ways.links[1] + PORTS_PER_WORD - 1) // PORTS_PER_WORD
    if INLINED:
        header_words, width, faulty = HEADER_WORDS, WIDTH, FAULTY != 0
        grants, leavers = GRANTS, LEAVERS
        observed, node_words = OBSERVED != 0, NODE_WORDS
    return HopConstants(header_words, width, grants, leavers, faulty, observed, node_words)


@idiom
def called(ways):
    """Return the ways with plain functions for their boxed rules, which phases cannot unbox."""
    return HopRules(
        ways.neighbor.call, ways.links, ways.decide.call, ways.params, ways.header_words,
        ways.dead, ways.cut,
    )  # fmt: skip


@part
def takes_channel(m, slot, port, form, granted, marks, touched):
    """Tell if a message gets the channel that it waits for, and mark the channel as taken."""
    if form.grants == IDEAL:
        return True
    # The arbiter has decided already, for limits that one message cannot see by itself.
    if form.grants == CHOSEN:
        if touched.size > 0:
            touched[m] = slot * form.node_words
        return granted[m]
    # First come, first served: rows are in order of priority, so the first one to mark a channel
    # wins it.
    word, bit = slot * form.node_words + (port >> 5), np.uint32(1 << (port & 31))
    is_free = marks.used[word] & bit == 0
    marks.used[word] |= bit
    if touched.size > 0:
        touched[m] = word
    return is_free


@part
def stay(m, kept, slot, form, messages, marks, ledger):
    """Let a message wait at its processor, in the row `kept`."""
    # `waiting` counts the messages that stay at each processor, for the longest queue.
    marks.waiting[slot] += np.uint32(1)
    if marks.waiting[slot] > ledger.queue_max:
        ledger.queue_max = int(marks.waiting[slot])
    # Until the first message leaves its place, rows stand where they belong and need no copy.
    if kept != m:
        for j in range(WORDS + form.width):
            messages[kept, j] = messages[m, j]


@part
def note_hop(moved, channel, hop, loads, moves):
    """Write a hop down, (node, port, next node, message), where loads or moves are wanted."""
    if loads.size > 0:
        loads[channel] += np.uint32(1)
    # The array has no rows unless a recording is wanted: one test replaces a flag of its own.
    if moves.shape[0] > 0:
        moves[moved, 0], moves[moved, 1], moves[moved, 2], moves[moved, 3] = hop


@part
def goes_on(row, to, end, node, number, form, ways, rows, ends, header, ledger):
    """Let the message of a row decide at its new node; return whether it goes on, or has ended."""
    for j in range(form.header_words):
        header[j] = rows[row, WORDS + j]
    port = next_port(
        ways.decide, node, header, ways.params, form.faulty, ways.dead, ways.cut, ways.neighbor,
        ways.links,
    )  # fmt: skip
    if port < 0:
        put_end(ends, end, node, port, number, rows, row, form.header_words, form.width)
        return False
    # Where channels are taken without asking others, `advance` finds unwired ports by itself.
    if form.grants == CHOSEN and not leads(ways.neighbor, node, port, ways.links):
        ledger.unwired = 1
    put(rows, to, node, port, number, header, row, form.header_words, form.width)
    return True


@kernel
def advance(
    ways: HopRules,
    hosting: HostedPart,
    messages: Table,
    granting: Granting,
    marks: Marks,
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
    places = HostedPart(
        hosting.place.call, hosting.params, hosting.contiguous, hosting.first, hosting.hosted,
        hosting.split,
    )  # fmt: skip
    # Numbers first: with compiled-in rules they are constants, and LLVM drops all branches that
    # they exclude.
    form = form_of(
        ways, messages, granting.how, leaving.leavers, marks.loads.size + moves.size > 0
    )  # fmt: skip
    # Marks are wiped after the step. Where messages are few beside processors, that is done word by
    # word, which takes a note of the word that each message touched.
    sparse = ledger.live < hosting.hosted // 8
    touched = np.empty(ledger.live if sparse else 0, np.int64)
    header = np.empty(form.header_words, np.int64)
    hop_all(
        called(ways), places, form, messages, granting.granted, marks, ends, leaving, counts, moves,
        header, touched, ledger,
    )  # fmt: skip
    # A loop that was broken off has incomplete notes of what was touched: all marks are wiped.
    if ledger.wrong != 0 or form.grants != IDEAL:
        is_whole = ledger.wrong == 0
        wipe(marks.used, marks.waiting, touched, sparse and is_whole, form.node_words)


@sweep
def hop_all(
    ways, places, form, messages, granted, marks, ends, leaving, counts, moves, header, touched,
    ledger,
):  # fmt: skip
    """Let every message take its channel and hop, wait, leave the array or end."""
    ports, first, behind = ways.links[1], places.first, places.first + places.hosted
    # Hops are counted in a word's low half, which must not run over into the message's number.
    limit = min(hop_limit(ways.links[0]), LOW_MOST)
    # Rows are closed up in place: the message of row m goes to row `kept`, which is never behind m.
    kept = left = moved = ended = 0
    # Neighbours of neighbours mostly have one rank, and to find a position's rank takes divisions.
    # So those that leave are counted by runs: `owner` has the positions start..end-1, and rows
    # since..left-1 all go to it. The first run, of rank 0, is empty.
    owner = start = end = since = 0
    ledger.step += 1
    for m in range(ledger.live):
        where, number = messages[m, PLACE], messages[m, NUMBER]
        u, p = high(where), low(where)
        # Kernels raise nothing: an error is noted in the ledger, and raised by Python on all ranks.
        if p >= ports:
            ledger.wrong, ledger.wrong_message = UNWIRED_PORT, m
            return
        slot = position_of(u, places.place, places.contiguous, places.params) - first
        if not takes_channel(m, slot, p, form, granted, marks, touched):
            stay(m, kept, slot, form, messages, marks, ledger)
            kept += 1
            continue
        # The neighbour is looked up once per hop, and its result serves the check, the record and
        # the owner.
        v = wiring_inlined(u, p, ways.links) if INLINED else ways.neighbor(u, p, ways.links)
        if v < 0 or low(number) >= limit:
            ledger.wrong = UNWIRED_PORT if v < 0 else ENDLESS
            ledger.wrong_message = m
            return
        number += 1  # a hop more
        if form.observed:
            note_hop(moved, slot * ports + p, (u, p, v, high(number)), marks.loads, moves)
        moved += 1
        if form.leavers != NOBODY:
            # Ownership is a question of position, not of number: mappings may scatter neighbours
            # over ranks.
            position = position_of(v, places.place, places.contiguous, places.params)
            if form.leavers == EVERYBODY or position < first or position >= behind:
                put_away(leaving.rows, left, v, number, messages, m, form.width)
                if position < start or position >= end:  # not the last one's rank again
                    counts[owner] += left - since
                    owner, since = owner_of(position, places.split), left
                    start = start_of(owner, places.split)
                    end = start_of(owner + 1, places.split)
                if counts.size > 2 or form.leavers == EVERYBODY:  # otherwise all go to one
                    leaving.owners[left] = owner
                left += 1
                continue
        if goes_on(m, kept, ended, v, number, form, ways, messages, ends, header, ledger):
            kept += 1
        else:
            ended += 1
    counts[owner] += left - since
    ledger.live, ledger.moved, ledger.leaving, ledger.ended = kept, moved, left, ended
    ledger.hops_total += moved


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
    ways: HopRules,
    rows: Table,
    granting: Granting,
    ends: Table,
    ledger: Ledger,
) -> int:
    """Let the arrivals in `rows` decide on their next port; return how many go on.

    These become the first of the rows, in their order; those that end become rows of `ends`.
    """
    form = form_of(
        ways, rows, granting.how, NOBODY, False
    )  # fmt: skip
    header = np.empty(form.header_words, np.int64)
    return settle_all(called(ways), form, rows, ends, header, ledger)


@sweep
def settle_all(ways, form, rows, ends, header, ledger):
    """Let all rows decide, and close up those that go on; return how many these are."""
    kept = ended = 0
    for r in range(rows.shape[0]):
        node, number = high(rows[r, PLACE]), rows[r, NUMBER]
        if goes_on(r, kept, ended, node, number, form, ways, rows, ends, header, ledger):
            kept += 1
        else:
            ended += 1
    ledger.ended = ended
    return kept


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
    hosting: HostedPart,
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
        # Checked before headers are written: a start rule is undefined for nodes that do not exist.
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
    # Sealed at the source, with the target that was asked for: the header is the routing's own and
    # may hide it.
    seals = 0
    for i in range(done):
        seals += seal(first_number + numbers[i], targets[i])
    return seals & SEAL_MASK, done


@kernel
def deal(leaving: Table, owners: Shorts, places: Ints, dealt: Table) -> None:
    """Sort the rows that leave by their new ranks; `places` has where each rank's rows begin."""
    for i in range(leaving.shape[0]):
        # A counting sort: one pass, stable, so rows of one rank keep the order of their numbers.
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


LOOPS = StepLoops(advance, settle, merge)
