"""Links and nodes that fail in a step, and recover: cut messages are removed between two steps.

Nothing here is part of a step. All ranks know all faults from the start. A call of the kernel ends
before the step of a change. Then all ranks together find the cut messages, and each rank removes
their flits from its lanes and wires. docs/reference/traffic.md defines which messages are cut.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.base.arrays import Ints, Table
from mpinet.compiled import kernel, part
from mpinet.errors import UsageError
from mpinet.machine.faults import Faults, Faulty
from mpinet.machine.machine import Machine
from mpinet.machine.traffic.injection import taken_first
from mpinet.machine.traffic.layout import (
    DETAILED,
    DRAINED,
    NONE,
    UNDECIDED,
    HostedBusses,
    Sources,
    TrafficConstants,
    TrafficLedger,
    TrafficState,
    Wires,
)
from mpinet.machine.traffic.places import clear, give_back, is_set
from mpinet.machine.traffic.saved import message_behind
from mpinet.machine.traffic.sources import is_among, length_of
from mpinet.networks.routing import Routing

NUMBER, BORN, LENGTH = range(3)
"""Columns of a cut message, in the form exchanged between ranks."""


class Failing:
    """The changes of a run's faults.

    Parameters
    ----------
    machine : Machine
        The machine, with this rank's nodes.
    faults : Faults
        Dead nodes and links, with their steps.
    routing : Routing
        The routing without faults.

    Raises
    ------
    UsageError
        For the faults of some steps, the routing needs different rules, or has no detour.
    """

    def __init__(self, machine: Machine, faults: Faults, routing: Routing):
        self._machine, self.faults, self._steps = machine, faults, faults.changes
        self._adaptive = routing.adaptive
        # One routing before all changes and one after each: making them takes as long as a run's
        # set-up.
        self._routings = [routing.around(*faults.at(step)) for step in (-1, *self._steps)]
        # The old rules wrote the headers of messages in flight; different rules could not read
        # them.
        first = self._routings[0]
        for made in self._routings[1:]:
            if made.decide is not first.decide or made.start is not first.start:
                raise UsageError(
                    f"Routing {routing.name} uses other headers around faults, but cannot change "
                    "the headers of messages in flight: give --faults without steps."
                )
        self.rewind(0)

    def rewind(self, now: int) -> None:
        """Reset to the state after the steps before `now`; a change at `now` is pending."""
        self._done = int(np.searchsorted(self._steps, now))

    @property
    def next(self) -> int:
        """The step of the next change; after the last change a step that no run reaches."""
        return self._steps[self._done] if self._done < len(self._steps) else 1 << 62

    def routing(self, step: int) -> Routing:
        """Return the routing around the faults of a step."""
        return self._routings[int(np.searchsorted(self._steps, step, "right"))]

    def change(
        self,
        rules: TrafficConstants,
        sources: Sources,
        state: TrafficState,
        wires: Wires,
        busses: HostedBusses,
        ledger: Any,
    ) -> Ints:
        """Apply the next change: remove the cut messages before its step (collective).

        Parameters
        ----------
        rules, sources, state, wires, busses
            Objects of the run, in the form for kernels.
        ledger : TrafficLedger
            Counts, in the form for Python.

        Returns
        -------
        ndarray of int64, shape (k, 2)
            Cut messages whose tails had not left this rank's injection slots: rows (slot of the
            processor, number).
        """
        step = self.next
        self._done += 1
        before, after = self.faults.at(step - 1), self.faults.at(step)
        slots = self._slots(np.setdiff1d(after.dead, before.dead))
        back = self._slots(np.setdiff1d(before.dead, after.dead))
        # A recovered node sends nothing for the steps in which it was dead.
        skip_births(back, sources.trace, state, step)
        down = self._channels(after) - self._channels(before)
        # Found before any removal: only the neighbouring lanes show the message of an empty lane.
        fronts = np.full(len(state.lanes), NONE, np.int64)
        note_fronts(rules, state, wires, step, fronts)
        doomed = _cut(rules, state, fronts, slots, self._flags(down, 0))
        doomed = np.concatenate([doomed, _left_by(rules, wires, self._flags(down, 1))])
        messages = state.messages[np.unique(doomed)]
        rows = np.stack([messages[name] for name in ("number", "born", "length")], axis=1)
        # Every rank with flits of a message reports the message; it is cut once.
        every = np.unique(self._machine.transport.everywhere(rows.astype(np.int64)), axis=0)
        # All ranks have the list. One rank counts it, because totals are sums over ranks.
        if self._machine.transport.rank == 0:
            _count(rules, every, ledger)
        drain(rules, state, self._flags(down, 0), self._adaptive)
        numbers = np.ascontiguousarray(every[:, NUMBER])
        self._free_busses(rules, state, busses, fronts, numbers)
        kept = _in_slots(rules, state, fronts, numbers)
        most = int(state.lanes["filled"].sum() + wires.counts["flits"].sum())
        # Credits of removed flits return at once: cut messages must not leak buffer places.
        credits = np.empty((most, 2), np.int64)
        told = take_out(rules, state, wires, ledger.record, fronts, numbers, credits)
        credits = self._machine.transport.everywhere(credits[:told])
        mine = credits[credits[:, 0] == self._machine.transport.rank, 1]
        np.add.at(state.channels["credit"], mine, 1)
        _give_back(state, ledger, numbers)
        # The variant with priorities is a separate kernel, as for steps.
        quiet = silence_detailed if rules.priorities > 1 else silence
        quiet(slots, rules, sources.trace, state, ledger.record)
        return kept

    def _free_busses(
        self,
        rules: TrafficConstants,
        state: TrafficState,
        busses: HostedBusses,
        fronts: Ints,
        numbers: Ints,
    ) -> None:
        """Free the busses kept by messages of these numbers, on the ranks of all members."""
        if self._machine.topology.links:
            return
        rows = np.flatnonzero(fronts != NONE)
        rows = rows[np.isin(state.messages["number"][fronts[rows]], numbers)]
        slots, lanes = np.divmod(rows, int(rules.lanes))
        claimants = self._machine.nodes[slots] * int(rules.lanes) + lanes
        gone = self._machine.transport.everywhere(claimants)
        busses.rows["until"][np.isin(busses.rows["claimant"], gone)] = 0

    def _slots(self, nodes: Ints) -> Ints:
        """Return the slots of the nodes hosted on this rank."""
        slots = self._machine.slots(np.ascontiguousarray(nodes, np.int64))
        mine = slots[(slots >= 0) & (slots < self._machine.placement.count)]
        return np.ascontiguousarray(mine, np.int64)

    def _channels(self, dead: Faulty) -> set[tuple[int, int]]:
        """Return the dead channels: (node, port) of both ends of every dead link."""
        topology = self._machine.topology
        ports = np.arange(topology.ports)
        ends = {(u, v) for u, v in dead.cut.tolist()}
        for node in dead.dead.tolist():
            around = {v for v in topology.neighbor(node, ports).tolist() if v >= 0}
            ends |= {(node, v) for v in around} | {(v, node) for v in around}
        return {
            (u, port)
            for u, v in ends
            for port in np.flatnonzero(topology.neighbor(u, ports) == v).tolist()
        }

    def _flags(self, channels: set[tuple[int, int]], end: int) -> Ints:
        """Return a flag per port of this rank: 1 if a channel begins (with `end`: ends) there."""
        topology = self._machine.topology
        flags = np.zeros(self._machine.placement.count * topology.ports, np.int64)
        if channels:
            nodes, ports = np.array(sorted(channels), np.int64).T
            if end:
                there = topology.neighbor(nodes, ports)
                nodes, ports = there, np.atleast_1d(topology.reverse_port(nodes, ports))
            slots = self._machine.slots(np.ascontiguousarray(nodes))
            mine = (slots >= 0) & (slots < self._machine.placement.count)
            flags[slots[mine] * topology.ports + ports[mine]] = 1
        return flags


def _cut(
    rules: TrafficConstants, state: TrafficState, fronts: Ints, slots: Ints, down: Ints
) -> Ints:
    """Return the rows of messages inside dead nodes, and of messages across dead links.

    `down` flags the ports at which newly dead channels begin.
    """
    count, ports = int(rules.lanes), int(rules.ports)
    rows = (slots[:, np.newaxis] * count + np.arange(count)).ravel()
    stand = fronts[rows][fronts[rows] != NONE]
    seats = np.arange(int(rules.buffer))
    behind = (state.lanes["first"][rows, np.newaxis] + seats) % max(1, int(rules.buffer))
    held = state.ring.reshape(len(state.lanes), -1)[rows[:, np.newaxis], behind]
    inside = held[seats < state.lanes["filled"][rows, np.newaxis]]
    # The head has passed the link and the tail has not: the message cannot move in either
    # direction.
    crossing = np.flatnonzero((state.lanes["sent"] > 0) & (state.lanes["out"] < ports))
    out = crossing // count * ports + state.lanes["out"][crossing]
    across = fronts[crossing[down[out] > 0]] if len(down) else crossing[:0]
    return np.concatenate([stand, inside, across]).astype(np.int64)


def _left_by(rules: TrafficConstants, wires: Wires, ends: Ints) -> Ints:
    """Return the rows of messages with flits in flight over channels that end at these ports."""
    made = wires.counts["flits"]
    flits = np.concatenate([row[:many] for row, many in zip(wires.flits, made, strict=True)])
    slots, at = np.divmod(flits["lane"].astype(np.int64), int(rules.lanes))
    ended = ends[slots * int(rules.ports) + at // int(rules.vcs)] > 0
    found: Ints = (flits["message"][ended] >> 1).astype(np.int64)
    return found


def _in_slots(rules: TrafficConstants, state: TrafficState, fronts: Ints, numbers: Ints) -> Ints:
    """Return (slot, number) of each message of these numbers in an injection slot."""
    slots, lanes = np.divmod(np.arange(len(fronts)), int(rules.lanes))
    rows = np.flatnonzero((lanes >= rules.ports * rules.vcs) & (fronts != NONE))
    held = state.messages["number"][fronts[rows]].astype(np.int64)
    return np.stack([slots[rows], held], axis=1)[np.isin(held, numbers)]


def _count(rules: TrafficConstants, cut: Table, ledger: Any) -> None:
    """Count each cut message once; a reply is measured by the birth of its request."""
    born = cut[:, BORN]
    if rules.replying:
        born = np.where(cut[:, NUMBER] & 1, (cut[:, NUMBER] >> 1) // int(rules.nodes), born)
    measured = (born >= rules.warmup) & (born < rules.window_end)
    flits = int(cut[:, LENGTH].sum())
    ledger.cut += len(cut)
    ledger.cut_flits += flits
    if rules.warmup <= ledger.now < rules.window_end:
        ledger.dropped_flits += flits
    ledger.cut_measured += int(measured.sum())
    ledger.open -= int(measured.sum())


def _give_back(state: TrafficState, ledger: Any, numbers: Ints) -> None:
    """Free the rows of messages of these numbers."""
    used = np.ones(len(state.messages), bool)
    used[state.free[: ledger.free]] = False
    rows = np.flatnonzero(used & np.isin(state.messages["number"], numbers))
    state.free[ledger.free : ledger.free + len(rows)] = rows
    ledger.free += len(rows)


@kernel
def note_fronts(
    rules: TrafficConstants, state: TrafficState, wires: Wires, now: int, fronts: Ints
) -> None:
    """Write the row of each lane's front message, even if none of its flits is there now."""
    lanes, links, channels, ring = state.lanes, state.links, state.channels, state.ring
    arriving = np.full(lanes.size if rules.delay > 1 else 0, NONE, np.int32)
    # From the latest arrival to the earliest: the flit that arrives first is written last.
    for ahead in range(rules.delay - 1, 0, -1):
        row = (now + ahead) % rules.delay
        for i in range(wires.counts[row].flits):
            flit = wires.flits[row, i]
            arriving[flit.lane] = flit.message >> 1
    for row in range(lanes.size):
        lane, slot = lanes[row], row // rules.lanes
        at = row - slot * rules.lanes
        if at >= rules.ports * rules.vcs:
            if is_set(state.occupied, slot, at, rules.words):
                fronts[row] = lane.incoming
        elif lane.filled > 0:
            fronts[row] = ring[row * rules.buffer + lane.first]
        elif lane.sent > 0:
            fronts[row] = message_behind(row, rules, lanes, links, channels, ring, arriving)


@kernel
def drain(rules: TrafficConstants, state: TrafficState, down: Ints, adaptive: bool) -> None:
    """Drain heads that wait for a dead channel; with an adaptive routing, let them choose again."""
    lanes, ports = state.lanes, rules.ports
    for row in range(lanes.size):
        lane = lanes[row]
        if lane.sent > 0:
            continue
        if adaptive:
            lane.vc = NONE
        elif 0 <= lane.out < ports and down[row // rules.lanes * ports + lane.out] > 0:
            lane.out, lane.group = ports, DRAINED


@kernel
def take_out(
    rules: TrafficConstants,
    state: TrafficState,
    wires: Wires,
    ledger: TrafficLedger,
    fronts: Ints,
    numbers: Ints,
    credits: Table,
) -> int:
    """Remove all flits of the messages with these numbers; return the number of credits.

    A row of `credits` is a rank, and the index of one of that rank's channels: the channel to
    the lane that a removed flit was in, or on its way to. `numbers` ascend.
    """
    nodes, lanes, ring, channels, outputs, links, messages = (
        state.nodes, state.lanes, state.ring, state.channels, state.outputs, state.links,
        state.messages,
    )  # fmt: skip
    ports, vcs, count, buffer = rules.ports, rules.vcs, rules.lanes, rules.buffer
    given = 0
    for row in range(lanes.size):
        lane, slot = lanes[row], row // count
        at = row - slot * count
        m = fronts[row]
        if m != NONE and is_among(messages[m].number, numbers):
            if lane.sent > 0 and lane.out < ports:
                channel = channels[slot * count + lane.out * vcs + lane.vc]
                channel.holder = NONE
            for out in range(ports + 1):
                output = outputs[slot * (ports + 1) + out]
                if output.keeper == at:
                    output.keeper = NONE
            if at >= ports * vcs:
                clear(state.occupied, slot, at, rules.words)
                if lane.sent == 0:
                    ledger.backlog -= messages[m].length
            lane.out, lane.sent = UNDECIDED, 0
        if at >= ports * vcs or lane.filled == 0:
            continue
        port = at // vcs
        link, kept = links[slot * ports + port], 0
        # The ring is compacted in place: kept flits keep their order, which is the order of their
        # messages.
        for i in range(lane.filled):
            m = np.int64(ring[row * buffer + (lane.first + i) % buffer])
            if is_among(messages[m].number, numbers):
                credits[given, 0], credits[given, 1] = link.owner, link.lane + at - port * vcs
                given += 1
                continue
            ring[row * buffer + (lane.first + kept) % buffer] = m
            kept += 1
        nodes[slot].flits -= lane.filled - kept
        ledger.inside -= lane.filled - kept
        lane.filled = kept
        if kept == 0:
            clear(state.occupied, slot, at, rules.words)
    for row in range(rules.delay):
        wire, kept = wires.counts[row], 0
        for i in range(wire.flits):
            flit, to = wires.flits[row, i], wires.flits[row, kept]
            if is_among(messages[flit.message >> 1].number, numbers):
                at = flit.lane - flit.slot * count
                link = links[flit.slot * ports + at // vcs]
                credits[given, 0], credits[given, 1] = link.owner, link.lane + at % vcs
                given += 1
                continue
            to.lane, to.slot, to.message = flit.lane, flit.slot, flit.message
            kept += 1
        wire.flits = kept
    return given


@part
def cut_waiting(born, length, rules, ledger):
    """Count a cut message that waited at a dead source; its birth in step `born` is measured."""
    ledger.cut += 1
    ledger.cut_flits += length
    ledger.backlog -= length
    if rules.warmup <= ledger.now < rules.window_end:
        ledger.dropped_flits += length
    if rules.warmup <= born < rules.window_end:
        ledger.cut_measured += 1
        ledger.open -= 1


@kernel
def silence(
    slots: Ints, rules: TrafficConstants, trace: Table, state: TrafficState, ledger: TrafficLedger
) -> None:
    """Count the messages waiting at newly dead sources as cut, except messages in slots.

    Messages in slots are already counted. In the current phase these nodes generate no more
    messages, even if they recover.
    """
    messages, last = state.messages, rules.priorities - 1
    for slot in slots:
        node = state.nodes[slot]
        ledger.source_queue_max = max(ledger.source_queue_max, int(node.waiting))
        node.waiting = 0
        if rules.batch > 0 and ledger.phase > 0 and node.number < rules.hosts:
            ledger.open -= rules.batch - node.made
            node.made = rules.batch
        # Messages that were only counted are drawn one by one: the account needs their lengths and
        # births.
        while node.queued > 0:
            if rules.traced:
                node.queued -= 1
                born, length = trace[node.next_taken, 0], trace[node.next_taken, 2]
                node.next_taken += 1
            else:
                born = taken_first(node, node, last, state.bounds, rules)
                length = length_of(node, born, rules)
            cut_waiting(born, length, rules, ledger)
        for rank in range(last if DETAILED else 0):
            line = state.lines[slot * last + rank]
            while line.queued > 0:
                born = taken_first(line, node, rank, state.bounds, rules)
                cut_waiting(born, length_of(node, born, rules), rules, ledger)
        while rules.replying and node.posted != NONE:
            m = np.int64(node.posted)
            node.posted = messages[m].left
            cut_waiting((messages[m].number >> 1) // rules.nodes, messages[m].length, rules, ledger)
            give_back(m, state.free, ledger)


silence_detailed = silence.bind("silence_detailed", DETAILED=True)
"""Variant of `silence` for messages with priorities."""


@kernel
def skip_births(slots: Ints, trace: Table, state: TrafficState, now: int) -> None:
    """Skip the rows of a trace with births in the steps in which these nodes were dead."""
    for slot in slots:
        node = state.nodes[slot]
        while node.next_born < node.end and trace[node.next_born, 0] < now:
            node.next_born += 1
        node.next_taken = node.next_born
