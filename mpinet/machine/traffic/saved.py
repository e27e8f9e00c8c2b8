"""What a checkpoint holds of a run of open-loop traffic, so that any ranks can go on from it.

Everything is at one processor, and named by it, by its lanes and its ports, never by places in a
rank's memory:

* at its source: how many messages are not yet in a slot, since when, how many have been taken,
  whether a burst is on, how far a trace has been read. What is drawn depends on seed, processor and
  step alone, so that nothing else of it is kept;
* at the processor whose lane it is: what is known of the front of each lane, and the *parts* of
  messages in it, in order: how many flits there are, and the message's record. A lane in the middle
  of a message of which no flit is there has a part of none;
* at the sender of a channel: its credits and holders, who keeps an output, whose turn it is, how
  many flits it has carried; and credits under way to it;
* at the receiver: flits under way, with the steps in which they left; with a head its message's
  record;
* of a bus: who keeps it, and whose turn it is, at every port on it;
* where queues have no limit: each message at the channel that it waits for, or at the processor
  that it is under way to;
* counts as sums, and largest numbers as such.

A message that stands in several lanes has a part in each. Ranks give the parts that are joined by
links within one of them one record: that of the part in front, whose hops and header are those of
the head as far as this rank knows it. Parts are joined through the VC that one's lane has sent into
and still holds, and through which the last message of the other's lane has come; so nothing depends
on numbers, and a message that visits a rank, or a lane, twice has two of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from mpinet.arrays import Array, Ints, Rows, Shorts
from mpinet.compiled import idiom, kernel
from mpinet.machine import state as frames
from mpinet.machine.hop import SEAL_MASK
from mpinet.machine.machine import Machine
from mpinet.machine.state import Fields, Held, Largest, Total
from mpinet.machine.traffic import layout
from mpinet.machine.traffic.layout import (
    BUFFER,
    FILLED,
    FIRST,
    FREE,
    HEAD,
    INCOMING,
    KIND_BITS,
    LANES_PER_WORD,
    LENGTH,
    NONE,
    NOW,
    PENDING,
    RANK,
    SENT,
    SLOT,
    VCS,
    Books,
    Busses,
    Links,
    Sources,
    State,
    Wires,
)
from mpinet.machine.traffic.unlimited import Queues, melded

SAME = {
    "now": layout.NOW,
    "closed": layout.CLOSED,
    "ended": layout.ENDED,
    "quiet": layout.QUIET,
    "open_everywhere": layout.OPEN_EVERYWHERE,
}
"""What all ranks count alike."""

TOTALS = [
    layout.OPEN,
    layout.INSIDE,
    layout.BACKLOG,
    layout.BACKLOG_BEFORE,
    layout.BACKLOG_AFTER,
    layout.BORN,
    layout.ENTERED_ALL,
    layout.WITHDRAWN,
    layout.DONE,
    layout.LOST,
    layout.GENERATED,
    layout.GENERATED_FLITS,
    layout.ACCEPTED,
    layout.ACCEPTED_FLITS,
    layout.DELIVERED,
    layout.UNDELIVERABLE,
    layout.INSIDE_SUM,
    layout.HOPS_SUM,
    layout.MOVES,
    layout.SEAL,
    layout.CROSSED,
]
"""Of what the sum over all ranks matters."""

LARGEST = {
    "last_move": layout.LAST_MOVE,
    "source_queue_max": layout.SOURCE_QUEUE_MAX,
    "node_flits_max": layout.NODE_FLITS_MAX,
}
"""Of what the largest of all ranks matters."""

FRONT = [layout.OUT, layout.VC, layout.CAME_HERE, layout.SENT, layout.CLASS]
"""What is kept of a lane; the rest follows from its parts."""

NODE, LANE, ORDER, FLITS, RECORD = range(5)
"""Columns of a part: the processor, the lane, which one of the lane's it is, how many of its flits
are there; behind them the message."""

LEFT_IN, IS_HEAD = ORDER, FLITS
"""Columns of a flit under way, beside `NODE`, `LANE` (of the receiver) and `RECORD`: the step in
which it left, and whether it is a head; others bear no message. Of a credit under way, whose lane
is that of the sender's channel, there is no more than the step."""

PORT, ARRIVES, QUEUED = range(1, 4)
"""Columns of a message in queues without limit, beside `NODE`: the port that it waits for, or the
step in which it will have come to the node; behind them the message."""


def counts(ledger: Ints, books: Books) -> Fields:
    """What ranks have counted."""
    return {
        **{name: int(ledger[place]) for name, place in SAME.items()},
        **{name: Largest(int(ledger[place])) for name, place in LARGEST.items()},
        "totals": Total(ledger[TOTALS]),
        "latencies": Total(books.latencies),
        "tenths": Total(books.batches),
    }


def restore_counts(ledger: Ints, books: Books, found: Mapping[str, Any]) -> Books:
    """Go on counting; the books, with the latencies that were found."""
    for name, place in {**SAME, **LARGEST}.items():
        ledger[place] = found[name]
    ledger[TOTALS] = found["totals"]
    ledger[layout.SEAL] &= SEAL_MASK
    books.batches[:] = found["tenths"]
    return books._replace(latencies=np.ascontiguousarray(found["latencies"]))


def processors(
    machine: Machine, sources: Sources, begins: Ints, waiting: Ints, books: Books, busses: Busses
) -> Fields:
    """What is kept of processors and their ports, however links hold flits.

    Parameters
    ----------
    begins : ndarray of int64, shape (hosted,)
        Where each one's rows of a trace begin.
    waiting : ndarray of int64, shape (hosted,)
        Messages that have not entered.
    """
    shape = machine.placement.count, machine.topology.ports
    own = (
        sources.on.astype(np.int64),
        sources.queued,
        sources.first_born,
        sources.taken,
        sources.next_born - begins,
        sources.next_taken - begins,
        waiting,
        books.entered,
    )
    fields = {
        "processors": Held(np.stack(own, axis=1), machine.nodes),
        "loads": Held(books.loads.reshape(shape), machine.nodes),
    }
    if len(busses.of_ports):
        bus = busses.of_ports[:-1]
        known = np.stack([busses.kept[bus], busses.pointer[bus]], axis=1)
        known[bus == NONE] = NONE
        fields["busses"] = Held(known.reshape(*shape, 2), machine.nodes)
    return fields


def restore_processors(
    sources: Sources,
    begins: Ints,
    waiting: Ints,
    books: Books,
    busses: Busses,
    found: Mapping[str, Any],
) -> None:
    """Let processors go on from what `processors` gave."""
    on, queued, first_born, taken, next_born, next_taken, not_entered, entered = found[
        "processors"
    ].T
    sources.on[:] = on != 0
    sources.queued[:], sources.first_born[:], sources.taken[:] = queued, first_born, taken
    sources.next_born[:], sources.next_taken[:] = begins + next_born, begins + next_taken
    waiting[:], books.entered[:] = not_entered, entered
    books.loads[:] = found["loads"].reshape(-1)
    if len(busses.of_ports):
        bus = busses.of_ports[:-1]
        known = found["busses"].reshape(-1, 2)[bus != NONE]
        busses.kept[bus[bus != NONE]], busses.pointer[bus[bus != NONE]] = known.T


def lanes(
    machine: Machine,
    links: Links,
    rules: Ints,
    state: State,
    wires: Wires,
    late: Iterable[Ints],
    now: int,
) -> Fields:
    """What is kept of lanes, and of what is under way between them.

    Parameters
    ----------
    late : sequence of ndarray
        Words of other ranks in the last steps that have not come yet.
    now : int
        The next step.
    """
    hosted, ports = machine.placement.count, machine.topology.ports
    vcs, delay = int(rules[VCS]), int(rules[layout.DELAY])
    count = (ports + 1) * vcs
    flights, credits, next_flits = _under_way(links, rules, ports, state, wires, late, now)
    if delay == 1:
        next_flits = next_flits[:0]
    parts = np.empty((0, RECORD + state.messages.shape[1]), np.int64)
    there = note_parts(links, rules, ports, state, next_flits, parts)
    parts = np.empty((there, parts.shape[1]), np.int64)
    note_parts(links, rules, ports, state, next_flits, parts)
    front = np.empty((hosted, count, len(FRONT) + 2), np.int32)
    front[..., : len(FRONT)] = state.lanes[:, FRONT].reshape(hosted, count, -1)
    front[..., -2] = state.credit.reshape(hosted, count)
    front[..., -1] = state.holder.reshape(hosted, count)
    outputs = np.stack([state.held, state.pointer], axis=1).reshape(hosted, ports + 1, 2)
    return {
        "lanes": Held(front, machine.nodes),
        "outputs": Held(outputs, machine.nodes),
        "parts": frames.Rows(parts),
        "flights": frames.Rows(flights),
        "credits": frames.Rows(credits),
    }


def _under_way(
    links: Links,
    rules: Ints,
    ports: int,
    state: State,
    wires: Wires,
    late: Iterable[Ints],
    now: int,
) -> tuple[Ints, Ints, Shorts]:
    """Flits and credits under way, and by lane the message of the first flit on this rank's wires.

    Without any, and in lanes to which there is none, that is `NONE`.
    """
    count = (ports + 1) * int(rules[VCS])
    delay, record = int(rules[layout.DELAY]), state.messages.shape[1]
    steps = range(now - delay + 1, now)
    first = np.full(len(state.lanes) if delay > 1 else 0, NONE, np.int32)
    flights = [np.empty((0, RECORD + record), np.int64)]
    credits = [np.empty((0, LEFT_IN + 1), np.int64)]

    def note(to: Ints, step: int, head: Array, messages: Ints) -> None:
        """Flits to these lanes; heads' messages."""
        noted = np.zeros((len(to), RECORD + record), np.int64)
        noted[:, NODE], noted[:, LANE] = links.nodes[to // count], to % count
        noted[:, LEFT_IN], noted[:, IS_HEAD] = step, head
        noted[head, RECORD:] = messages
        flights.append(noted)

    def note_credits(to: Ints, step: int) -> None:
        """Credits for these channels."""
        credits.append(np.stack([links.nodes[to // count], to % count, 0 * to + step], axis=1))

    for step in reversed(steps):
        row = step % delay
        made, returned = wires.counts[row].tolist()
        to = wires.slots[row, :made].astype(np.int64) * count + wires.lanes[row, :made]
        message = wires.messages[row, :made]
        first[to] = message >> 1
        note(to, step, message & 1 == 1, state.messages[message[message & 1 == 1] >> 1])
        note_credits(wires.credits[row, :returned].astype(np.int64), step)
    for step, words in zip(steps, late, strict=True):
        places = np.empty(len(words), np.int64)
        places = places[: find_words(words, record, places)]
        to, kind = words[places, 0] >> KIND_BITS, words[places, 0] & (1 << KIND_BITS) - 1
        note_credits(to[kind == layout.CREDIT], step)
        flit = kind != layout.CREDIT
        of_heads = places[kind == HEAD][:, np.newaxis] + 1 + np.arange(record)
        note(to[flit], step, kind[flit] == HEAD, words[of_heads, 0])
    return np.concatenate(flights), np.concatenate(credits), first


def restore_lanes(
    machine: Machine,
    links: Links,
    rules: Ints,
    state: State,
    found: Mapping[str, Any],
    ledger: Ints,
) -> tuple[State, Wires]:
    """Let lanes go on from what `lanes` gave; the state and the wires.

    The wires have room for what comes from other ranks, too: what was under way to this one.
    """
    ports, vcs = machine.topology.ports, int(rules[VCS])
    count = (ports + 1) * vcs
    front, outputs = found["lanes"].reshape(len(state.lanes), -1), found["outputs"].reshape(-1, 2)
    parts, into = _by_lane(machine, found["parts"], count)
    flights, flying = _by_lane(machine, found["flights"], count)
    state.lanes[:] = 0
    state.lanes[:, FRONT] = front[:, : len(FRONT)]
    state.credit[:], state.holder[:] = front[:, -2], front[:, -1]
    state.held[:], state.pointer[:] = outputs.T
    flits = parts[:, FLITS]
    filled = np.bincount(into, flits, len(state.lanes)).astype(np.int64)
    state.lanes[:, FILLED] = filled
    by_node = filled.reshape(-1, count)
    state.flits[:] = by_node.sum(axis=1)
    _mark_occupied(state, np.unique(into[(flits > 0) | (into % count >= ports * vcs)]), count)
    # Parts are numbered in order, heads under way behind them; `flown`: the part of each flit.
    head = flights[:, IS_HEAD] == 1
    numbers = len(parts) + np.cumsum(head) - 1
    first, last = np.full((2, len(state.lanes)), NONE, np.int64)
    first[into[::-1]] = np.arange(len(parts))[::-1]
    last[into] = np.arange(len(parts))
    before = np.maximum.accumulate(np.where(head, np.arange(len(flights)), NONE))
    behind = (before != NONE) & (flying[before] == flying) if len(flights) else head
    flown = np.where(behind, numbers[before], last[flying])
    last[flying[head]] = numbers[head]
    following = _following(links, rules, ports, state, first, last, len(parts) + int(head.sum()))
    ends, of = np.unique(following, return_inverse=True)
    records = np.concatenate([parts[:, RECORD:], flights[head, RECORD:]])
    # Now that messages have their places, lanes and wires name them.
    begins = np.cumsum(filled) - filled
    rows = np.repeat(into, flits)
    seats = np.arange(len(rows)) - begins[rows]
    state.ring[rows * int(rules[BUFFER]) + seats] = np.repeat(of[: len(parts)], flits)
    known = np.flatnonzero(last != NONE)
    state.lanes[known, INCOMING] = of[last[known]]
    ledger[FREE] = 0
    messages = np.ascontiguousarray(records[ends])
    state = state._replace(messages=messages, free=np.empty(0, np.int32))
    wires = _wires(rules, int((links.owners != NONE).sum()))
    _fill_wires(wires, flights, flying, of[flown], count)
    credits, returning = _by_lane(machine, found["credits"], count)
    for row in range(len(wires.counts)):
        there = returning[credits[:, LEFT_IN] % len(wires.counts) == row]
        wires.credits[row, : len(there)] = there
        wires.counts[row, 1] = len(there)
    return state, wires


def _by_lane(machine: Machine, rows: Ints, count: int) -> tuple[Ints, Ints]:
    """Rows in order of their lanes, and then their own; and the places of their lanes here."""
    places = machine.slots(np.ascontiguousarray(rows[:, NODE])) * count + rows[:, LANE]
    order = np.lexsort((rows[:, ORDER], places))
    return rows[order], places[order]


def _mark_occupied(state: State, rows: Ints, count: int) -> None:
    """Mark these lanes, and no others, as those in which something is."""
    parts = -(-count // LANES_PER_WORD)
    lane = rows % count
    state.occupied[:] = 0
    words = rows // count * parts + lane // LANES_PER_WORD
    np.bitwise_or.at(state.occupied, words, np.int64(1) << lane % LANES_PER_WORD)


def _following(
    links: Links, rules: Ints, ports: int, state: State, first: Ints, last: Ints, parts: int
) -> Ints:
    """Of every part the foremost of those that it is joined to on this rank.

    Parameters
    ----------
    first, last : ndarray of int64, shape (lanes,)
        The first part of every lane, and the last one that has come or is under way to it.
    """
    vcs = int(rules[VCS])
    count = (ports + 1) * vcs
    begun = np.flatnonzero((state.lanes[:, SENT] > 0) & (state.lanes[:, layout.OUT] < ports))
    link = begun // count * ports + state.lanes[begun, layout.OUT]
    here = links.owners[link] == rules[RANK]
    begun, link = begun[here], link[here]
    to = (links.far_slots[link].astype(np.int64) * (ports + 1) + links.far_ports[link]) * vcs
    following = np.arange(parts)
    following[first[begun]] = last[to + state.lanes[begun, layout.VC]]
    while not np.array_equal(further := following[following], following):
        following = further
    return following


def _wires(rules: Ints, wired: int) -> Wires:
    """Wires with nothing on them, for so many links."""
    delay, vcs = int(rules[layout.DELAY]), int(rules[VCS])
    slots, to, messages = np.zeros((3, delay, wired + 1), np.int32)
    credits = np.zeros((delay, wired * vcs + 1), np.int32)
    return Wires(slots, to, messages, credits, np.zeros((delay, 2), np.int64))


def _fill_wires(wires: Wires, flights: Ints, flying: Ints, messages: Ints, count: int) -> None:
    """Put flits, to these lanes and of these messages, on the wires."""
    for row in range(len(wires.counts)):
        there = np.flatnonzero(flights[:, LEFT_IN] % len(wires.counts) == row)
        made = len(there)
        wires.slots[row, :made] = flying[there] // count
        wires.lanes[row, :made] = flying[there] % count
        wires.messages[row, :made] = messages[there] << 1 | flights[there, IS_HEAD]
        wires.counts[row, 0] = made


@kernel
def find_words(words: Rows, record: int, places: Ints) -> int:
    """Write where words to a rank begin, each with what follows it; how many there are."""
    i = found = 0
    while i < words.shape[0]:
        places[found] = i
        found += 1
        i += 1
        if words[i - 1, 0] & (1 << KIND_BITS) - 1 == HEAD:
            i += record
    return found


@idiom
def message_behind(
    row, links_far_slots, links_far_ports, owners, rank, ports, vcs, buffer, lanes, ring, holder,
    next_flits,
):  # fmt: skip
    """The message that a lane is in the middle of, without a flit of it: that of the lane behind.

    Where that one is another rank's, it has said which message comes in.
    """
    count = (ports + 1) * vcs
    while True:
        slot = row // count
        lane = row - slot * count
        if lane >= ports * vcs:
            return np.int64(lanes[row, INCOMING])
        if lanes[row, FILLED] > 0:
            return np.int64(ring[row * buffer + lanes[row, FIRST]])
        if next_flits.size > 0 and next_flits[row] != NONE:
            return np.int64(next_flits[row])
        link = slot * ports + lane // vcs
        if owners[link] != rank:
            return np.int64(lanes[row, INCOMING])
        behind = np.int64(links_far_slots[link]) * count
        row = behind + holder[behind + links_far_ports[link] * vcs + lane % vcs]


@kernel
def note_parts(
    links: Links, rules: Ints, ports: int, state: State, next_flits: Shorts, rows: Rows
) -> int:
    """Write the parts of messages in lanes, as many as there is room for; how many there are."""
    nodes, far_slots, far_ports, owners = links
    lanes, ring, occupied, holder, messages = (
        state.lanes, state.ring, state.occupied, state.holder, state.messages
    )  # fmt: skip
    vcs, buffer, rank = rules[VCS], rules[BUFFER], rules[RANK]
    count = (ports + 1) * vcs
    words_per_node = (count + LANES_PER_WORD - 1) // LANES_PER_WORD
    parts = 0
    for row in range(lanes.shape[0]):
        slot = row // count
        lane = row - slot * count
        in_slot = lane >= ports * vcs
        word = slot * words_per_node + lane // LANES_PER_WORD
        left, sent = np.int64(lanes[row, FILLED]), np.int64(lanes[row, SENT])
        place, order = np.int64(lanes[row, FIRST]), 0
        some = occupied[word] & 1 << lane % LANES_PER_WORD != 0 if in_slot else left + sent > 0
        while some:
            if in_slot:
                m, flits = np.int64(lanes[row, INCOMING]), np.int64(0)
            elif left == 0:
                flits = np.int64(0)
                m = message_behind(
                    row, far_slots, far_ports, owners, rank, ports, vcs, buffer, lanes, ring,
                    holder, next_flits,
                )  # fmt: skip
            else:
                m = np.int64(ring[row * buffer + place])
                flits = min(left, messages[m, LENGTH] - sent)
            if parts < rows.shape[0]:
                rows[parts, NODE], rows[parts, LANE] = nodes[slot], lane
                rows[parts, ORDER], rows[parts, FLITS] = order, flits
                for j in range(messages.shape[1]):
                    rows[parts, RECORD + j] = messages[m, j]
            parts += 1
            order += 1
            left, sent = left - flits, np.int64(0)
            place += flits
            if place >= buffer:
                place -= buffer
            some = left > 0
    return parts


def queues(machine: Machine, links: Links, queues: Queues, ledger: Ints) -> Fields:
    """What is kept of queues without limit, and of what is under way between them."""
    live = len(queues.messages) - int(ledger[FREE])
    places = np.empty((live, QUEUED + 1), np.int64)
    note_queued(links, queues, int(ledger[NOW]), machine.topology.ports, places)
    rows = np.concatenate([places[:, :QUEUED], queues.messages[places[:, QUEUED]]], axis=1)
    shape = machine.placement.count, machine.topology.ports
    return {
        "busy": Held(queues.busy.reshape(shape), machine.nodes),
        "queues": frames.Rows(rows),
    }


def restore_queues(
    machine: Machine, queues: Queues, fifo: bool, found: Mapping[str, Any], ledger: Ints
) -> Queues:
    """Let queues go on from what `queues` gave."""
    rows = found["queues"]
    queues.busy[:] = found["busy"].reshape(-1)
    queues.roots[:] = queues.due[:] = NONE
    queues.occupied[:] = 0
    left, right = np.full((2, len(rows)), NONE, np.int32)
    queues = queues._replace(
        messages=np.ascontiguousarray(rows[:, QUEUED:]),
        free=np.empty(0, np.int32),
        left=left,
        right=right,
    )
    queues.messages[:, SLOT] = machine.slots(np.ascontiguousarray(rows[:, NODE]))
    places = np.ascontiguousarray(rows[:, :QUEUED])
    ledger[FREE] = 0
    ledger[PENDING] = int((rows[:, PORT] == NONE).sum())
    queue_up(places, queues, fifo, machine.topology.ports)
    return queues


@kernel
def note_queued(links: Links, queues: Queues, now: int, ports: int, places: Rows) -> None:
    """Write of every message where it waits or when it will have come, and which it is."""
    roots, left, right, due, messages = (
        queues.roots, queues.left, queues.right, queues.due, queues.messages
    )  # fmt: skip
    stack = np.empty(places.shape[0] + 1, np.int64)
    noted = 0
    for channel in range(roots.size):
        stack[0], high = roots[channel], 1 if roots[channel] != NONE else 0
        while high > 0:
            high -= 1
            m = stack[high]
            places[noted, NODE] = links.nodes[channel // ports]
            places[noted, PORT] = channel % ports
            places[noted, ARRIVES], places[noted, QUEUED] = NONE, m
            noted += 1
            if left[m] != NONE:
                stack[high] = left[m]
                high += 1
            if right[m] != NONE:
                stack[high] = right[m]
                high += 1
    for ahead in range(due.size):
        m = np.int64(due[(now + ahead) % due.size])
        while m != NONE:
            places[noted, NODE], places[noted, PORT] = links.nodes[messages[m, SLOT]], NONE
            places[noted, ARRIVES], places[noted, QUEUED] = now + ahead, m
            noted += 1
            m = np.int64(left[m])


@kernel
def queue_up(places: Rows, queues: Queues, fifo: bool, ports: int) -> None:
    """Let all messages wait where `places` says, or be under way."""
    roots, left, right, due, messages, occupied = (
        queues.roots, queues.left, queues.right, queues.due, queues.messages, queues.occupied
    )  # fmt: skip
    words_per_node = (ports + LANES_PER_WORD - 1) // LANES_PER_WORD
    for m in range(places.shape[0]):
        slot, out = messages[m, SLOT], places[m, PORT]
        if out == NONE:
            row = places[m, ARRIVES] % due.size
            left[m] = due[row]
            due[row] = m
            continue
        channel = slot * ports + out
        root = np.int64(roots[channel])
        roots[channel] = melded(root, np.int64(m), left, right, messages, fifo)
        occupied[slot * words_per_node + out // LANES_PER_WORD] |= 1 << out % LANES_PER_WORD
