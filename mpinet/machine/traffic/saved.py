"""Checkpoints of a run of open-loop traffic, for a restart on any number of ranks.

Every item of a checkpoint belongs to one processor. Items are named by processor, lane and port,
never by a place in a rank's memory.

Source
    The number of messages without a slot, the birth step of the first of them, the number of
    messages already taken, the state of its burst, and the rows read of a trace. Draws depend on
    seed, processor and step alone, so no generator's state is kept.
Lane (at its processor)
    The state of its front message, and the *parts* of messages in the lane, in order. Each part has
    its number of flits and the message's record. A lane in the middle of a message, but without any
    of its flits, has a part of zero flits.
Channel (at its sender)
    Credits and holder, the keeper of its output, the lane with the turn, the carried flits, and
    credits in flight to the channel.
Flit in flight (at its receiver)
    The first step in which the flit is usable, and for a head the record of its message.
Bus (at every port on the bus)
    Its keeper, and the member with the turn.
Unlimited queue
    Each message, at its next channel, or at the processor it is in flight to.
Counts
    Sums over the ranks, or maxima.

A message in several lanes has a part in each. Linked parts within one rank share one record, the
record of the foremost part. Its hops and header are those of the head, as far as this rank knows
them. The link between two parts is a virtual channel. The rear lane has sent into this channel and
still holds it, and the last message in the lane behind the channel came through the channel. Links
therefore do not depend on message numbers. A message that visits a rank or a lane twice has two
records.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mpinet.base.arrays import Array, Ints, Shorts, Table
from mpinet.base.records import columns, put_columns
from mpinet.compiled import kernel, part
from mpinet.machine import state as frames
from mpinet.machine.heaps import listed
from mpinet.machine.hop import SEAL_MASK
from mpinet.machine.ledger import restore, state_of
from mpinet.machine.machine import Machine
from mpinet.machine.state import Fields, Numbered, Total
from mpinet.machine.traffic.layout import (
    FIFO,
    LANES_PER_WORD,
    NONE,
    Books,
    Bus,
    Channel,
    ChannelQueue,
    Flit,
    FlitMessage,
    HostedBusses,
    Lane,
    MessageSource,
    OutputPort,
    Side,
    SourceQueue,
    TrafficConstants,
    TrafficLedger,
    TrafficState,
    Wire,
    Wires,
)
from mpinet.machine.traffic.places import is_set, set_bit
from mpinet.machine.traffic.queues import joined

NODE, LANE, ORDER, FLITS, RECORD = range(5)
"""Columns of a part: processor, lane, index in the lane's order, flits; then the message."""

ARRIVES_IN, IS_HEAD = ORDER, FLITS
"""Columns of a flit in flight, besides `NODE`, `LANE` (of the receiver) and `RECORD`. They are the
first step in which the flit is usable, and 1 for a head (only heads have a record). A credit in
flight has only the sender's node and channel, and the step.
"""

POSTED = 2
"""First column of the message of a waiting reply, after processor and place in line."""

PORT, ARRIVES, QUEUED = range(1, 4)
"""Columns of a message in unlimited queues, besides `NODE`: the port the message waits for, or the
step of its arrival at the node; then the message.
"""


def counts(ledger: TrafficLedger, books: Books) -> Fields:
    """Return the fields of the ranks' counts."""
    return {
        **state_of(ledger, TrafficLedger),
        "latencies": Total(np.ascontiguousarray(books.latencies.T)),
        "begun": frames.Same(books.begun),
        "tenths": Total(books.batches),
        "shares": Total(books.shares),
    }


def restore_counts(ledger: TrafficLedger, books: Books, found: Mapping[str, Any]) -> Books:
    """Restore the counts; return the books with the saved latencies."""
    restore(ledger, TrafficLedger, found)
    ledger.seal &= SEAL_MASK
    books.batches[:] = found["tenths"]
    books.shares[:] = found["shares"]
    books.begun[:] = found["begun"]
    return books._replace(latencies=np.ascontiguousarray(found["latencies"].T))


def processors(machine: Machine, state: TrafficState, books: Books, busses: HostedBusses) -> Fields:
    """Return the fields of processors, ports and busses, for limited and unlimited queues."""
    nodes = state.nodes.copy()
    for each in ("next_born", "next_taken"):
        nodes[each] -= nodes["begin"]
    shape = machine.placement.count, machine.topology.ports
    fields = {
        "processors": Numbered(columns(nodes, MessageSource.kept), machine.nodes),
        "loads": Numbered(books.loads.reshape(shape), machine.nodes),
    }
    if len(state.lines):
        fields["lines"] = Numbered(
            columns(state.lines, SourceQueue.kept).reshape(shape[0], -1), machine.nodes
        )
    if len(busses.of_ports):
        bus = busses.of_ports[:-1]
        known = columns(busses.rows[bus], Bus.kept)
        known[bus == NONE] = NONE
        fields["busses"] = Numbered(known.reshape(*shape, -1), machine.nodes)
    return fields


def restore_processors(
    state: TrafficState, books: Books, busses: HostedBusses, found: Mapping[str, Any]
) -> None:
    """Restore processors, ports and busses from the fields of `processors`."""
    nodes = state.nodes
    put_columns(nodes, MessageSource.kept, found["processors"])
    for each in ("next_born", "next_taken"):
        nodes[each] += nodes["begin"]
    books.loads[:] = found["loads"].reshape(-1)
    if len(state.lines):
        put_columns(state.lines, SourceQueue.kept, found["lines"])
    if len(busses.of_ports):
        bus = busses.of_ports[:-1]
        wired = bus != NONE
        rows = busses.rows[bus[wired]]
        put_columns(rows, Bus.kept, found["busses"].reshape(len(bus), -1)[wired])
        busses.rows[bus[wired]] = rows


def lanes(
    machine: Machine, rules: TrafficConstants, state: TrafficState, wires: Wires, now: int
) -> Fields:
    """Return the fields of lanes, and of flits and credits in flight; `now` is the next step."""
    hosted, nodes = machine.placement.count, machine.nodes
    flights, credits, next_flits = _under_way(rules, state, wires, now)
    if rules.delay == 1:
        next_flits = next_flits[:0]
    # Called twice: the first call only counts, because the number of parts is not known in advance.
    there = note_parts(rules, state, next_flits, np.empty((0, RECORD + 1), np.int64))
    parts = np.empty((there, RECORD + 1), np.int64)
    note_parts(rules, state, next_flits, parts)
    front = np.concatenate(
        [columns(state.lanes, Lane.kept), columns(state.channels, Channel.kept)], axis=1
    )
    found = {
        "lanes": Numbered(front.reshape(hosted, int(rules.lanes), -1), nodes),
        "outputs": Numbered(
            columns(state.outputs, OutputPort.kept).reshape(hosted, -1, 2), machine.nodes
        ),
        "parts": frames.Located(_with_messages(parts, state)),
        "flights": frames.Located(flights),
        "credits": frames.Located(credits),
        "posted": frames.Located(_with_messages(_posted(rules, state), state)),
    }
    if len(state.sides):
        found["sides"] = Numbered(
            columns(state.sides, Side.kept).reshape(hosted, -1, 2), machine.nodes
        )
    return found


def _posted(rules: TrafficConstants, state: TrafficState) -> Ints:
    """Return the replies waiting at their sources: processor, place in line and message."""
    waiting = int(state.nodes["waiting"].sum()) if rules.replying else 0
    rows = np.empty((waiting, POSTED + 1), np.int64)
    return rows[: note_posted(state, rows)] if waiting else rows


RECORDED = ("number", "length", "born", "source", "target", "entered", "hops", "came")
"""Saved fields of a message, before its header."""


def _records(state: TrafficState, places: Ints) -> Ints:
    """Return the saved fields and headers of messages, one row per message."""
    fields = columns(state.messages[places], RECORDED, np.int64)
    return np.concatenate([fields, state.headers[places]], axis=1)


def _with_messages(rows: Ints, state: TrafficState) -> Ints:
    """Replace the last column, rows of messages, by the messages' records."""
    return np.concatenate([rows[:, :-1], _records(state, rows[:, -1])], axis=1)


def _with_records(state: TrafficState, records: Ints, ledger: TrafficLedger) -> TrafficState:
    """Return the state with exactly these messages, and no free rows."""
    messages = FlitMessage.array(len(records))
    put_columns(messages, RECORDED, records[:, : len(RECORDED)])
    ledger.free = 0
    return state._replace(
        messages=messages,
        headers=np.ascontiguousarray(records[:, len(RECORDED) :]),
        free=np.empty(len(records), np.int32),
    )


def _under_way(
    rules: TrafficConstants, state: TrafficState, wires: Wires, now: int
) -> tuple[Ints, Ints, Shorts]:
    """Return flits and credits in flight, and by lane the message of the next flit to arrive.

    Lanes without flits in flight have `NONE`.
    """
    count, delay, numbers = int(rules.lanes), int(rules.delay), state.nodes["number"]
    record = len(RECORDED) + state.headers.shape[1]
    first = np.full(len(state.lanes) if delay > 1 else 0, NONE, np.int32)
    flights = [np.empty((0, RECORD + record), np.int64)]
    credits = [np.empty((0, ARRIVES_IN + 1), np.int64)]

    def note(to: Ints, step: int, head: Array, messages: Ints) -> None:
        """Record flits to these lanes, with the records of the heads among them."""
        noted = np.zeros((len(to), RECORD + record), np.int64)
        noted[:, NODE], noted[:, LANE] = numbers[to // count], to % count
        noted[:, ARRIVES_IN], noted[:, IS_HEAD] = step, head
        noted[head, RECORD:] = messages
        flights.append(noted)

    def note_credits(to: Ints, step: int) -> None:
        """Record credits for these channels."""
        credits.append(np.stack([numbers[to // count], to % count, 0 * to + step], axis=1))

    # The first flit to arrive in a lane is recorded last.
    for step in range(now + delay - 1, now, -1):
        row = step % delay
        made, returned = wires.counts[row].tolist()
        sent = wires.flits[row, :made]
        to, head, message = sent["lane"].astype(np.int64), sent["message"] & 1, sent["message"] >> 1
        first[to] = message
        note(to, step, head == 1, _records(state, message[head == 1]))
        note_credits(wires.credits[row, :returned].astype(np.int64), step)
    return np.concatenate(flights), np.concatenate(credits), first


def restore_lanes(
    machine: Machine,
    rules: TrafficConstants,
    state: TrafficState,
    found: Mapping[str, Any],
    ledger: TrafficLedger,
) -> tuple[TrafficState, Wires]:
    """Restore lanes from the fields of `lanes`; return the state and the wires."""
    count, network_lanes = int(rules.lanes), int(rules.ports * rules.vcs)
    front = found["lanes"].reshape(len(state.lanes), -1)
    parts, into = _by_lane(machine, found["parts"], count)
    flights, flying = _by_lane(machine, found["flights"], count)
    state.lanes[:] = np.zeros(1, Lane.dtype)
    put_columns(state.lanes, Lane.kept, front[:, : len(Lane.kept)])
    put_columns(state.channels, Channel.kept, front[:, len(Lane.kept) :])
    put_columns(state.outputs, OutputPort.kept, found["outputs"])
    if len(state.sides):
        put_columns(state.sides, Side.kept, found["sides"])
    flits = parts[:, FLITS]
    filled = np.bincount(into, flits, len(state.lanes)).astype(np.int64)
    state.lanes["filled"] = filled
    by_node = filled.reshape(-1, count)
    state.nodes["flits"] = by_node.sum(axis=1)
    _mark_occupied(state, np.unique(into[(flits > 0) | (into % count >= network_lanes)]), count)
    # Parts are numbered in order, followed by heads in flight. `flown` is the part of each flit. A
    # body flit in flight belongs to the last head before it on its way to the same lane, or, if
    # this head has arrived, to the lane's last part.
    head = flights[:, IS_HEAD] == 1
    numbers = len(parts) + np.cumsum(head) - 1
    first, last = np.full((2, len(state.lanes)), NONE, np.int64)
    first[into[::-1]] = np.arange(len(parts))[::-1]
    last[into] = np.arange(len(parts))
    # A running maximum gives each flit the last head before it, without a loop over flits.
    before = np.maximum.accumulate(np.where(head, np.arange(len(flights)), NONE))
    behind = (before != NONE) & (flying[before] == flying) if len(flights) else head
    flown = np.where(behind, numbers[before], last[flying])
    last[flying[head]] = numbers[head]
    following = _following(rules, state, first, last, len(parts) + int(head.sum()))
    # Parts of one chain share the record of the foremost part, whose header is the newest.
    ends, of = np.unique(following, return_inverse=True)
    records = np.concatenate([parts[:, RECORD:], flights[head, RECORD:]])
    # One record per chain remains; lanes and wires now refer to messages by their rows in these
    # records.
    begins = np.cumsum(filled) - filled
    rows = np.repeat(into, flits)
    seats = np.arange(len(rows)) - begins[rows]
    state.ring[rows * int(rules.buffer) + seats] = np.repeat(of[: len(parts)], flits)
    known = np.flatnonzero(last != NONE)
    state.lanes["incoming"][known] = of[last[known]]
    posted, at = found["posted"], len(ends)
    state = _with_records(state, np.concatenate([records[ends], posted[:, POSTED:]]), ledger)
    _post(machine, state, posted, at)
    wired = int((state.links["owner"] != NONE).sum())
    made = wires(wired, int(rules.delay), int(rules.vcs))
    _fill_wires(made, flights, flying, of[flown], count)
    credits, returning = _by_lane(machine, found["credits"], count)
    for row in range(len(made.counts)):
        there = returning[credits[:, ARRIVES_IN] % len(made.counts) == row]
        made.credits[row, : len(there)] = there
        made.counts[row].credits = len(there)
    return state, made


def _post(machine: Machine, state: TrafficState, posted: Ints, first: int) -> None:
    """Put replies in line at their sources; their messages are the rows from `first` on."""
    slots = machine.slots(np.ascontiguousarray(posted[:, NODE]))
    state.nodes["posted"] = NONE
    state.messages["left"][first:] = NONE
    before = NONE
    for place in np.lexsort((posted[:, 1], slots)).tolist():
        node, m = state.nodes[slots[place]], first + place
        if node["posted"] == NONE:
            node["posted"] = m
        else:
            state.messages["left"][before] = m
        node["posted_last"] = before = m


def _by_lane(machine: Machine, rows: Ints, count: int) -> tuple[Ints, Ints]:
    """Return rows sorted by lane, then by `ORDER`, and the indices of their lanes on this rank."""
    places = machine.slots(np.ascontiguousarray(rows[:, NODE])) * count + rows[:, LANE]
    order = np.lexsort((rows[:, ORDER], places))
    return rows[order], places[order]


def _mark_occupied(state: TrafficState, rows: Ints, count: int) -> None:
    """Mark exactly these lanes as occupied."""
    parts = -(-count // LANES_PER_WORD)
    lane = rows % count
    state.occupied[:] = 0
    words = rows // count * parts + lane // LANES_PER_WORD
    np.bitwise_or.at(state.occupied, words, np.int64(1) << lane % LANES_PER_WORD)


def _following(
    rules: TrafficConstants, state: TrafficState, first: Ints, last: Ints, parts: int
) -> Ints:
    """Return, for each part, the index of the part at the head of its chain on this rank.

    Parameters
    ----------
    first, last : ndarray of int64, shape (lanes,)
        The first part of every lane, and the last part in the lane or in flight to it.
    """
    ports = int(rules.ports)
    begun = np.flatnonzero((state.lanes["sent"] > 0) & (state.lanes["out"] < ports))
    lanes = state.lanes[begun]
    links = state.links[begun // int(rules.lanes) * ports + lanes["out"]]
    here = links["owner"] == rules.rank
    begun, to = begun[here], (links["lane"] + lanes["vc"])[here]
    following = np.arange(parts)
    following[first[begun]] = last[to]
    # Pointer jumping: chains as long as the network need logarithmically many rounds.
    while not np.array_equal(further := following[following], following):
        following = further
    return following


def wires(wired: int, delay: int, vcs: int) -> Wires:
    """Make empty wires for `wired` links."""
    credits = np.zeros((delay, wired * vcs + 1), np.int32)
    return Wires(Flit.array(delay, wired + 1), credits, Wire.array(delay))


def _fill_wires(wires: Wires, flights: Ints, flying: Ints, messages: Ints, count: int) -> None:
    """Put flits of these messages, for the lanes `flying`, on the wires."""
    for row in range(len(wires.counts)):
        there = np.flatnonzero(flights[:, ARRIVES_IN] % len(wires.counts) == row)
        flits = wires.flits[row, : len(there)]
        flits["lane"], flits["slot"] = flying[there], flying[there] // count
        flits["message"] = messages[there] << 1 | flights[there, IS_HEAD]
        wires.counts[row].flits = len(there)


@part
def message_behind(row, rules, lanes, links, channels, ring, next_flits):
    """Return the message that a lane is in the middle of, though without any of its flits.

    The search follows the channels' holders upstream to a lane with a flit of the message, or to
    its slot. If the lane upstream belongs to another rank, the arriving head has stored the message
    in `incoming`.
    """
    ports, vcs, count = rules.ports, rules.vcs, rules.lanes
    while True:
        slot = row // count
        at = row - slot * count
        lane = lanes[row]
        if at >= ports * vcs:
            return np.int64(lane.incoming)
        if lane.filled > 0:
            return np.int64(ring[row * rules.buffer + lane.first])
        if next_flits.size > 0 and next_flits[row] != NONE:
            return np.int64(next_flits[row])
        link = links[slot * ports + at // vcs]
        # The upstream lane is on another rank. The head from there has stored its message's row
        # here.
        if link.owner != rules.rank:
            return np.int64(lane.incoming)
        row = np.int64(link.slot) * count + channels[link.lane + at % vcs].holder


@kernel
def note_posted(state: TrafficState, rows: Table) -> int:
    """Write the waiting replies, in their order; return their number."""
    nodes, messages = state.nodes, state.messages
    noted = 0
    for slot in range(nodes.size):
        m, order = np.int64(nodes[slot].posted), 0
        while m != NONE:
            rows[noted, NODE], rows[noted, 1], rows[noted, POSTED] = nodes[slot].number, order, m
            noted += 1
            order += 1
            m = np.int64(messages[m].left)
    return noted


@kernel
def note_parts(
    rules: TrafficConstants, state: TrafficState, next_flits: Shorts, rows: Table
) -> int:
    """Write the parts of messages in lanes, up to the size of `rows`; return their number."""
    nodes, lanes, links, channels, ring, occupied, messages = (
        state.nodes, state.lanes, state.links, state.channels, state.ring, state.occupied,
        state.messages,
    )  # fmt: skip
    buffer, count = rules.buffer, rules.lanes
    parts = 0
    for row in range(lanes.size):
        slot = row // count
        at = row - slot * count
        lane, in_slot = lanes[row], at >= rules.ports * rules.vcs
        left, sent = np.int64(lane.filled), np.int64(lane.sent)
        place, order = np.int64(lane.first), 0
        some = is_set(occupied, slot, at, rules.words) if in_slot else left + sent > 0
        while some:
            if in_slot:
                m, flits = np.int64(lane.incoming), np.int64(0)
            elif left == 0:
                flits = np.int64(0)
                m = message_behind(row, rules, lanes, links, channels, ring, next_flits)
            else:
                m = np.int64(ring[row * buffer + place])
                flits = min(left, messages[m].length - sent)
            if parts < rows.shape[0]:
                rows[parts, NODE], rows[parts, LANE] = nodes[slot].number, at
                rows[parts, ORDER], rows[parts, FLITS] = order, flits
                rows[parts, RECORD] = m
            parts += 1
            order += 1
            left, sent = left - flits, np.int64(0)
            place += flits
            if place >= buffer:
                place -= buffer
            some = left > 0
    return parts


def queues(
    machine: Machine, rules: TrafficConstants, state: TrafficState, ledger: TrafficLedger
) -> Fields:
    """Return the fields of unlimited queues, and of messages in flight between them."""
    places = np.empty((len(state.messages) - ledger.free, QUEUED + 1), np.int64)
    note_queued(rules, state, ledger.now, places)
    busy = columns(state.queues, ChannelQueue.kept).reshape(machine.placement.count, -1)
    return {
        "busy": Numbered(busy, machine.nodes),
        "queues": frames.Located(_with_messages(places, state)),
    }


def restore_queues(
    machine: Machine,
    rules: TrafficConstants,
    state: TrafficState,
    found: Mapping[str, Any],
    ledger: TrafficLedger,
) -> TrafficState:
    """Restore unlimited queues from the fields of `queues`."""
    rows = found["queues"]
    put_columns(state.queues, ChannelQueue.kept, found["busy"].reshape(-1))
    state.queues["root"] = state.due[:] = NONE
    state.occupied[:] = 0
    state = _with_records(state, rows[:, QUEUED:], ledger)
    state.messages["slot"] = machine.slots(np.ascontiguousarray(rows[:, NODE]))
    queue_up(np.ascontiguousarray(rows[:, :QUEUED]), rules, state)
    return state


@kernel
def note_queued(rules: TrafficConstants, state: TrafficState, now: int, places: Table) -> None:
    """Write, for every message, its next port or its step of arrival, and its row."""
    nodes, queues, messages, due = state.nodes, state.queues, state.messages, state.due
    found = np.empty(places.shape[0] + 1, np.int64)
    noted = 0
    for row in range(queues.size):
        for i in range(listed(np.int64(queues[row].root), messages, found)):
            places[noted, NODE] = nodes[row // rules.lanes].number
            places[noted, PORT] = row % rules.lanes
            places[noted, ARRIVES], places[noted, QUEUED] = NONE, found[i]
            noted += 1
    for ahead in range(due.size):
        m = np.int64(due[(now + ahead) % due.size])
        while m != NONE:
            places[noted, NODE], places[noted, PORT] = nodes[messages[m].slot].number, NONE
            places[noted, ARRIVES], places[noted, QUEUED] = now + ahead, m
            noted += 1
            m = np.int64(messages[m].left)


@kernel
def queue_up(places: Table, rules: TrafficConstants, state: TrafficState) -> None:
    """Queue all messages at the ports given in `places`, or put them in flight."""
    queues, due, messages, occupied = state.queues, state.due, state.messages, state.occupied
    for m in range(places.shape[0]):
        slot, out = np.int64(messages[m].slot), places[m, PORT]
        if out == NONE:
            row = places[m, ARRIVES] % due.size
            messages[m].left = due[row]
            due[row] = m
            continue
        queue = queues[slot * rules.lanes + out]
        # The heap's shape is new, but its order is total: the messages leave in the same order as
        # before.
        queue.root = joined(np.int64(queue.root), np.int64(m), messages, rules.policy == FIFO)
        set_bit(occupied, slot, out, rules.words)
