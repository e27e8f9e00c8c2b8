"""The router's loops over messages: one moves messages, one settles arrivals, one merges arrivals.

A message is a row of 64-bit words: [place, number, words..]. Its *place* contains the current node
and the output port. Its *number* contains the message's number and the hops so far. The words are
the routing's header, then the payload. A rank's messages are rows of one array, in order of
service. Between ranks messages travel as the same rows. Hops are cheap mainly because they read one
sequential stream of memory: three words per message with a one-word header.

The loops share one long file because they share the layout of a row, and a step calls them one
after the other.
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
"""Columns of a message's row. The row of an ended message has `DELIVERED_HERE` or `LOST_HERE` in
place of the port, and contains no header.
"""

DELIVERED_HERE, LOST_HERE = 0, 1

# Two halves in one signed word: 39 bits for nodes and message numbers, 24 bits for ports and hops,
# enough for all networks here.
LOW_BITS = 24
"""Number of bits in a word's low half, which contains a port or a hop count."""

HIGH_MOST, LOW_MOST = (1 << 63 - LOW_BITS) - 1, (1 << LOW_BITS) - 1
"""Largest number in a word's high half (node, message number), and in its low half."""


@inlined
def joined(high_half, low_half):
    """Return the word with these high and low halves."""
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
"""Ways to grant channels: to all messages, first come first served, or by `Granting.granted`."""

NOBODY, CROSSING, EVERYBODY = range(3)
"""Kinds of hopping messages that leave the array: none (one rank), the messages that change rank,
or all (policy ``fifo``, in which every hop puts a message behind the waiting messages).
"""

UNWIRED_PORT, ENDLESS = 1, 2
"""Codes of routing errors: choice of an unwired port; hop limit reached."""

SEAL_MASK = (1 << 61) - 1


@inlined
def seal(number, node):
    """Return a 61-bit hash of a message's number and a node.

    Sums of seals over many messages are compared later. The hash is scrambled because a sum of
    plain products would not change if two messages swapped their targets.
    """
    # Each product is cut to its low 61 bits. Wraparound at 64 bits does not change these, so plain
    # Python and compiled code agree.
    word = (int(number) + 1) * 0x1E3779B97F4A7C15 & SEAL_MASK
    word = ((word ^ (word >> 29)) + int(node)) * 0x1F58476D1CE4E5B9 & SEAL_MASK
    return word ^ (word >> 30)


class StepLoops(NamedTuple):
    """The loops over messages, in the order of their calls in a step."""

    advance: Kernel
    settle: Kernel
    merge: Kernel


class HopRules(NamedTuple):
    """Rules of the network and the routing, with their parameters, and the faults.

    `header_words` is the length of the routing's header in words.
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

    The fields are the rule `place` with its parameters, and a flag for the identity mapping (1).
    Then come this rank's first position, its number of positions, and the division of positions
    among ranks.
    """

    place: PortRule
    params: Ints
    contiguous: int
    first: int
    hosted: int
    split: Ints


class Granting(NamedTuple):
    """Granting of channels: its kind (`IDEAL`, ..); with `CHOSEN`, a flag per message."""

    how: int
    granted: Flags


class Marks(NamedTuple):
    """Arrays for marks and counts of processors and ports during a step.

    The fields are the used ports (one bit each), the number of waiting messages per processor, and
    the load of every channel (empty if loads are not metered).
    """

    used: Counts
    waiting: Counts
    loads: Counts


class Leaving(NamedTuple):
    """The messages that leave the array.

    The fields are the kind of leaving messages, memory for their rows, and memory for their new
    ranks. The ranks are not written if only one rank is possible.
    """

    leavers: int
    rows: Table
    owners: Shorts


@kernel
def seal_all(numbers: Ints, nodes: Ints) -> int:
    """Return the sum of the seals of messages and their `nodes`."""
    total = 0
    for i in range(numbers.size):
        total += seal(numbers[i], nodes[i])
    return total & SEAL_MASK


INLINED = False
HEADER_WORDS = WIDTH = GRANTS = LEAVERS = FAULTY = OBSERVED = NODE_WORDS = 0
"""Constants replaced by `inlining`. Unreplaced, the loops over messages call the rules in their
arguments and read these numbers from their arguments. In a loop with compiled-in rules, `INLINED`
is True, and the rules replace the three stand-ins below. The seven numbers are then constants, and
LLVM drops the excluded branches. They are words of a header, words of a message, kind of granting,
kind of leaving messages, presence of faults, recording of loads or moves, and words of marks per
node. The corresponding arguments are still passed, but not read.
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
    """Return the `LOOPS` with a network, a routing, a mapping and the `numbers` compiled in.

    The compilation takes seconds, once for all these, and makes a hop cheaper by a tenth to two
    thirds.
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
    """Return the position of a node by the mapping's rule, called or compiled in."""
    if INLINED:
        return hosting_inlined(node, TO_POSITION, mapping)
    return node if contiguous != 0 else place(node, TO_POSITION, mapping)


@inlined
def next_port(decide, node, header, params, faulty, dead, cut, neighbor, wiring):
    """Return the output port of a message at a node, or `ARRIVED` or `STUCK`."""
    if faulty and dead.size > 0 and is_dead(node, dead):
        return STUCK
    # A static choice: `INLINED` is a constant, so compiled code contains one of the two calls.
    port = wayfinding_inlined(node, header, params) if INLINED else decide(node, header, params)
    if faulty and port >= 0 and is_cut(node, port, neighbor(node, port, wiring), dead, cut):
        return STUCK
    return port


@inlined
def leads(neighbor, node, port, wiring):
    """Return True if a processor has this port, and a link at the port."""
    return port < wiring[1] and neighbor(node, port, wiring) >= 0


@inlined
def put(rows, to, node, port, number, header, row, header_words, width):
    """Write the message of row `row`, now at a node with a new header, into row `to`.

    A port too large for its half of the word is replaced by `LOW_MOST`, which is also invalid.
    """
    # Row `to` is never behind `row`, so each row is read before being overwritten.
    rows[to, PLACE], rows[to, NUMBER] = joined(node, min(port, LOW_MOST)), number
    for j in range(header_words):
        rows[to, WORDS + j] = header[j]
    for j in range(WORDS + header_words, WORDS + width):
        rows[to, j] = rows[row, j]


@inlined
def put_away(away, to, node, number, rows, row, width):
    """Write the message of row `row`, on its way to a node, into row `to` of `away`."""
    away[to, PLACE], away[to, NUMBER] = joined(node, 0), number
    for j in range(WORDS, WORDS + width):
        away[to, j] = rows[row, j]


@inlined
def put_end(ends, to, node, answer, number, rows, row, header_words, width):
    """Write the message of row `row`, which has ended at a node, into row `to` of `ends`."""
    fate = DELIVERED_HERE if answer == ARRIVED else LOST_HERE
    ends[to, PLACE], ends[to, NUMBER] = joined(node, fate), number
    for j in range(width - header_words):
        ends[to, WORDS + j] = rows[row, WORDS + header_words + j]


class HopConstants(NamedTuple):
    """The numbers that are constants in loops with compiled-in rules (see `INLINED`)."""

    header_words: int
    width: int
    grants: int
    leavers: int
    faulty: bool
    observed: bool
    node_words: int


@inlined
def form_of(ways, rows, grants, leavers, observed):
    """Return a loop's settings (`HopConstants`): arguments, or compiled-in constants."""
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
    """Return `ways` with plain functions as rules, because phases cannot unbox boxed rules."""
    return HopRules(
        ways.neighbor.call, ways.links, ways.decide.call, ways.params, ways.header_words,
        ways.dead, ways.cut,
    )  # fmt: skip


@part
def takes_channel(m, slot, port, form, granted, marks, touched):
    """Return True if a message gets its channel, and mark the channel as used."""
    if form.grants == IDEAL:
        return True
    # The arbiter has already decided, for limits that involve several messages.
    if form.grants == CHOSEN:
        if touched.size > 0:
            touched[m] = slot * form.node_words
        return granted[m]
    # First come, first served: rows are in order of priority, so the first message to mark a
    # channel wins the channel.
    word, bit = slot * form.node_words + (port >> 5), np.uint32(1 << (port & 31))
    is_free = marks.used[word] & bit == 0
    marks.used[word] |= bit
    if touched.size > 0:
        touched[m] = word
    return is_free


@part
def stay(m, kept, slot, form, messages, marks, ledger):
    """Keep a message waiting at its processor, in row `kept`."""
    # `waiting` counts the waiting messages of each processor, for the longest queue.
    marks.waiting[slot] += np.uint32(1)
    if marks.waiting[slot] > ledger.queue_max:
        ledger.queue_max = int(marks.waiting[slot])
    # Until the first message leaves its place, rows are already in place and need no copy.
    if kept != m:
        for j in range(WORDS + form.width):
            messages[kept, j] = messages[m, j]


@part
def note_hop(moved, channel, hop, loads, moves):
    """Record a hop (node, port, next node, message) if loads or moves are recorded."""
    if loads.size > 0:
        loads[channel] += np.uint32(1)
    # The array has rows only during a recording: no separate flag is needed.
    if moves.shape[0] > 0:
        moves[moved, 0], moves[moved, 1], moves[moved, 2], moves[moved, 3] = hop


@part
def goes_on(row, to, end, node, number, form, ways, rows, ends, header, ledger):
    """Settle a row's message at its new node; return True if it goes on, False if it ended."""
    for j in range(form.header_words):
        header[j] = rows[row, WORDS + j]
    port = next_port(
        ways.decide, node, header, ways.params, form.faulty, ways.dead, ways.cut, ways.neighbor,
        ways.links,
    )  # fmt: skip
    if port < 0:
        put_end(ends, end, node, port, number, rows, row, form.header_words, form.width)
        return False
    # Without an arbiter, `advance` itself finds unwired ports.
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
    """Make one step of this rank's messages: every granted message hops.

    A message that keeps its place in the order is settled at once. A leaving message becomes a row
    of `leaving`, and `counts` gets the number of leaving messages per rank. An ended message
    becomes a row of `ends`. `moves` gets a record of every hop if the array has rows. The marks
    `used` and `waiting` and the counts must be zero before; the marks are zero again afterwards.
    """
    places = HostedPart(
        hosting.place.call, hosting.params, hosting.contiguous, hosting.first, hosting.hosted,
        hosting.split,
    )  # fmt: skip
    # With compiled-in rules these numbers are constants, and LLVM drops all excluded branches.
    form = form_of(
        ways, messages, granting.how, leaving.leavers, marks.loads.size + moves.size > 0
    )  # fmt: skip
    # Marks are reset after the step. If there are few messages per processor, only the touched
    # words are reset; for this, each message records its word.
    sparse = ledger.live < hosting.hosted // 8
    touched = np.empty(ledger.live if sparse else 0, np.int64)
    header = np.empty(form.header_words, np.int64)
    hop_all(
        called(ways), places, form, messages, granting.granted, marks, ends, leaving, counts, moves,
        header, touched, ledger,
    )  # fmt: skip
    # After an error the records of touched words are incomplete: all marks are reset.
    if ledger.wrong != 0 or form.grants != IDEAL:
        is_whole = ledger.wrong == 0
        wipe(marks.used, marks.waiting, touched, sparse and is_whole, form.node_words)


@sweep
def hop_all(
    ways, places, form, messages, granted, marks, ends, leaving, counts, moves, header, touched,
    ledger,
):  # fmt: skip
    """For every message: take its channel and hop, or wait; then go on, leave the array or end."""
    ports, first, behind = ways.links[1], places.first, places.first + places.hosted
    # A word's low half counts the hops, and must not overflow into the message's number.
    limit = min(hop_limit(ways.links[0]), LOW_MOST)
    # Rows are compacted in place: the message of row m goes to row `kept`, which is never behind m.
    kept = left = moved = ended = 0
    # Consecutive messages usually go to the same rank, and finding a position's rank takes
    # divisions. Leaving messages are therefore counted by runs: `owner` has the positions
    # start..end-1, and rows since..left-1 all go to `owner`. The first run, of rank 0, is empty.
    owner = start = end = since = 0
    ledger.step += 1
    for m in range(ledger.live):
        where, number = messages[m, PLACE], messages[m, NUMBER]
        u, p = high(where), low(where)
        # Kernels raise nothing: the ledger records an error, and Python raises it on all ranks.
        if p >= ports:
            ledger.wrong, ledger.wrong_message = UNWIRED_PORT, m
            return
        slot = position_of(u, places.place, places.contiguous, places.params) - first
        if not takes_channel(m, slot, p, form, granted, marks, touched):
            stay(m, kept, slot, form, messages, marks, ledger)
            kept += 1
            continue
        # The neighbour is looked up once per hop, for the check, the record and the owner.
        v = wiring_inlined(u, p, ways.links) if INLINED else ways.neighbor(u, p, ways.links)
        if v < 0 or low(number) >= limit:
            ledger.wrong = UNWIRED_PORT if v < 0 else ENDLESS
            ledger.wrong_message = m
            return
        number += 1  # one more hop
        if form.observed:
            note_hop(moved, slot * ports + p, (u, p, v, high(number)), marks.loads, moves)
        moved += 1
        if form.leavers != NOBODY:
            # The position, not the number, determines the rank: mappings may scatter neighbours
            # over ranks.
            position = position_of(v, places.place, places.contiguous, places.params)
            if form.leavers == EVERYBODY or position < first or position >= behind:
                put_away(leaving.rows, left, v, number, messages, m, form.width)
                if position < start or position >= end:  # another rank than the last message's
                    counts[owner] += left - since
                    owner, since = owner_of(position, places.split), left
                    start = start_of(owner, places.split)
                    end = start_of(owner + 1, places.split)
                if counts.size > 2 or form.leavers == EVERYBODY:  # otherwise all go to one rank
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
    """Find the next port of each arrival in `rows`; return the number of arrivals that go on.

    These become the first rows, in their order. Ended messages become rows of `ends`.
    """
    form = form_of(
        ways, rows, granting.how, NOBODY, False
    )  # fmt: skip
    header = np.empty(form.header_words, np.int64)
    return settle_all(called(ways), form, rows, ends, header, ledger)


@sweep
def settle_all(ways, form, rows, ends, header, ledger):
    """Settle all rows and compact the ones that go on; return their number."""
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
    """Count the messages ended in this step; `births` has rows (first number, step)."""
    total, hops_max, delivered = ledger.arrivals_seal, ledger.hops_max, 0
    for i in range(ledger.ended):
        if low(ends[i, PLACE]) == LOST_HERE:
            continue
        number = high(ends[i, NUMBER])
        # Batches are sorted by first number: a message belongs to the last batch that begins at or
        # below its number.
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
    """Make the rows of new messages, with the headers written by their sources.

    Returns the sum of the messages' seals, and the number of finished messages. The first
    unfinished message, if any, has a source that is not hosted here, or a target that does not
    exist.
    """
    # Three short passes: in a single pass the checks alone would take a third of the time.
    place, mapping, contiguous = hosting.place.call, hosting.params, hosting.contiguous
    first, hosted, size = hosting.first, hosting.hosted, mapping[0]
    done = 0
    for i in range(sources.size):
        # Checked before headers are written: start rules are undefined for nodes that do not exist.
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
    # The seal is computed at the source with the requested target: the header belongs to the
    # routing and may hide the target.
    seals = 0
    for i in range(done):
        seals += seal(first_number + numbers[i], targets[i])
    return seals & SEAL_MASK, done


@kernel
def deal(leaving: Table, owners: Shorts, places: Ints, dealt: Table) -> None:
    """Sort the leaving rows by their new ranks; `places` are the first row indices of each rank."""
    for i in range(leaving.shape[0]):
        # A counting sort: one pass, stable, so rows of one rank keep the order of their numbers.
        place = places[owners[i]]
        places[owners[i]] += 1
        for j in range(leaving.shape[1]):
            dealt[place, j] = leaving[i, j]


def dealt(rows: Ints, owners: Shorts, ranks: int) -> tuple[Ints, Ints]:
    """Return rows sorted by destination rank, and the number of rows for each rank."""
    counts = np.bincount(owners, minlength=ranks)
    if np.count_nonzero(counts) > 1:
        unsorted, rows = rows, np.empty_like(rows)
        deal(unsorted, owners, np.cumsum(counts) - counts, rows)
    return rows, counts


@kernel
def merge(messages: Table, residents: int, arrivals: Table) -> None:
    """Merge arrivals into the first `residents` messages, both in ascending number."""
    # From the back, where memory is free: each row is moved before being overwritten. After the
    # last arrival, the remaining residents are already in place.
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
