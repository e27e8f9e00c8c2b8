"""A program with messages of flits: its operations on this rank, between the steps of a machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.base.memory import require_memory
from mpinet.machine.machine import Machine
from mpinet.machine.state import Fields, Located, Numbered
from mpinet.machine.timed import layout as timed
from mpinet.machine.timed.operations import connected
from mpinet.machine.timed.program import Program, ranges, receive_kinds
from mpinet.machine.timed.results import stuck_of
from mpinet.machine.timed.scripted import hosted, require_fitting
from mpinet.machine.traffic import operations as own
from mpinet.machine.traffic.layout import CAME, NONE, SENT, TrafficLedger

STATE = ("missing", "turn", "ready")
"""Fields of an operation in a checkpoint."""

BYTES_AN_OPERATION = 200
"""Largest number of bytes per operation, with its message and its entries in lists."""


class Played:
    """A program of messages on a machine whose links carry flits.

    Parameters
    ----------
    machine : Machine
        The processors and their ranks.
    program : Program
        Operations of the first processors: messages in flits, calcs in steps.
    nodes : ndarray of Node
        The hosted nodes; each gets its rows of `trace`.
    """

    part: Program
    """The hosted processors' operations."""

    def __init__(self, machine: Machine, program: Program, nodes: Array):
        require_fitting(program, machine.topology)
        self.machine, self.program, self._nodes = machine, program, nodes
        numbers = machine.nodes
        self.slots = np.flatnonzero(numbers < program.processors)
        self.part = part = program.part(np.ascontiguousarray(numbers[self.slots]))
        rows, sends = part.operations, part.kind == timed.SEND
        hosted = np.isin(program.peer, numbers) if machine.transport.size > 1 else slice(None)
        came = int(np.count_nonzero(program.kind[hosted] == timed.SEND))
        require_memory(BYTES_AN_OPERATION * (rows + came), f"The program {program.name}")
        counts = np.zeros(len(nodes), np.int64)
        counts[self.slots] = np.diff(part.first)
        first = np.cumsum(counts) - counts
        self._owner: Ints = self.slots[part.owners]
        sent = np.concatenate([[0], np.cumsum(sends)])
        nodes["begin"] = nodes["end"] = sent[first]
        nodes["next_born"] = nodes["next_taken"] = nodes["begin"]
        self.taken: Ints = np.empty((0, 3), np.int64)
        """Sends whose messages were cut in this step before their tails had left, as rows of
        `go_on`. Shape (k, 3).
        """
        self.trace: Ints = np.full((int(sent[-1]), 4), NONE, np.int64)
        """Step, target, flits and number of every send that has begun. Shape (sends, 4)."""
        self._make_rules()
        self._ledger = own.PlayLedger.counted()
        self._play = self._state(first, came)

    def _make_rules(self) -> None:
        """Write the constants into the record for kernels."""
        program, rules = self.program, own.PlayRules.one()
        self._rules = rules
        rules.cpus = program.cpus
        rules.total = max(1, program.operations)
        rules.patterns, rules.lists = receive_kinds(self.part)

    def _state(self, first: Ints, came: int) -> own.PlayedProgram:
        """Allocate operations, processors and lists, for up to `came` arriving messages."""
        part, rules = self.part, self._rules
        made = connected(hosted(part, np.arange(part.processors)))
        operations = timed.Operation.array(part.operations)
        operations["number"] = np.arange(part.operations) - part.first[part.owners]
        operations["order"] = operations["number"]
        operations["missing"] = np.diff(part.needs_first)
        actors = own.Actor.array(len(first))
        actors["first"], actors["ready"], actors["coming"] = first, NONE, NONE
        begins = np.zeros(len(first), np.int64)
        begins[self.slots] = self.program.first[self.machine.nodes[self.slots]]
        lists = int(np.count_nonzero(part.kind == timed.RECV)) + int(rules.lists) * came
        entries = timed.Entry.array(1 << max(4, (2 * lists).bit_length()))
        entries["slot"] = NONE
        return own.PlayedProgram(
            made.statements, operations, made.followers, actors, begins,
            np.zeros(len(first) * int(rules.cpus), np.int64), own.TakenMessage.array(came + 1),
            np.zeros((came + 1, 2 * int(rules.lists)), np.int64), entries, self._nodes, self.trace,
        )  # fmt: skip

    @property
    def next(self) -> int:
        """Next step in which a calc begins or ends at a processor of this rank."""
        return self._ledger.next

    def go_on(self, ledger: TrafficLedger, noted: Ints) -> None:
        """Begin and end operations at the start of a step.

        Parameters
        ----------
        ledger : TrafficLedger
            The machine's ledger; its open items decrease by the finished operations.
        noted : ndarray of int64, shape (k, 3)
            Tails of the previous step: the processor's slot, the event, the message's number.
        """
        now, done = ledger.now, self._ledger.done
        noted = np.concatenate([noted, self.taken])
        self.taken = self.taken[:0]
        # Most steps change no operation; the kernel's call would cost more than the step of a small
        # network.
        if not len(noted) and self._ledger.begun and now < self._ledger.next:
            return
        own.play(self._events(noted), self._rules, self._play, self._ledger.record, now)
        ledger.open -= self._ledger.done - done

    def take(self, cut: Ints) -> None:
        """End the sends of cut messages in this step; `cut` has rows (slot, number)."""
        self.taken = np.insert(cut, 1, SENT, axis=1)

    def _events(self, noted: Ints) -> Ints:
        """Return the rows of `play` for one step, sorted by message number."""
        program, events = self.program, np.zeros((len(noted), 4), np.int64)
        noted = noted[np.argsort(noted[:, 2], kind="stable")]
        rows = noted[:, 2] % int(self._rules.total)
        owners = program.owners_of(rows)
        firsts = self._play.actors["first"][noted[:, 0]].astype(np.int64)
        events[:, : own.WHICH] = noted[:, : own.WHICH]
        came = noted[:, own.WHAT] == CAME
        events[:, own.WHICH] = np.where(came, owners, firsts + rows - program.first[owners])
        events[:, own.TAG] = program.tag[rows]
        return events

    def fields(self) -> Fields:
        """Return the fields of a checkpoint between two steps."""
        state, nodes, numbers = self._play, self._nodes, self.machine.nodes
        operations = [state.operations[name].astype(np.int64) for name in STATE]
        number = state.operations["number"].astype(np.int64)
        waiting = (nodes["end"] - nodes["next_taken"]).astype(np.int64)
        places = ranges(nodes["next_taken"].astype(np.int64), waiting)
        queued = np.repeat(np.arange(len(nodes)), waiting)
        return {
            "operations": Located(np.stack([numbers[self._owner], number, *operations], axis=1)),
            "actors": Numbered(
                np.column_stack(
                    [
                        state.actors["end"],
                        nodes["end"] - nodes["begin"],
                        state.free.reshape(len(nodes), -1),
                    ]
                ),
                numbers,
            ),
            "births": Located(np.column_stack([numbers[queued], self.trace[places]])),
            "unmatched": Located(self._unmatched()),
        }

    def _unmatched(self) -> Ints:
        """Return processor, source and tag of each unmatched message, in order of arrival.

        Each message is in a list for each kind of receive, so the lists of the first kind contain
        all messages.
        """
        state, rows = self._play, list[list[int]]()
        # A message is in a list of each pattern; one pattern's lists name each message once.
        kinds = [kind for kind in range(timed.PATTERNS) if int(self._rules.patterns) >> kind & 1]
        if not kinds or not self._ledger.unmatched:
            return np.empty((0, 3), np.int64)
        anyone, any_tag = kinds[0] & timed.ANY_SOURCES, kinds[0] & timed.ANY_TAGS
        for entry in state.entries[
            (state.entries["slot"] != NONE) & (state.entries["posted"] == 0)
        ]:
            is_open = (entry["source"] == timed.ANY, entry["tag"] == timed.ANY_TAG)
            m = int(entry["head"]) if is_open == (bool(anyone), bool(any_tag)) else NONE
            while m != NONE:
                message = state.messages[m]
                node = int(self.machine.nodes[entry["slot"]])
                rows.append([m, node, int(message["source"]), int(message["tag"])])
                m = int(state.links[m, 1])
        return np.array(sorted(rows), np.int64).reshape(-1, 4)[:, 1:]

    def restore(self, found: Mapping[str, Any]) -> None:
        """Restore the operations from the fields of `fields`, on any number of ranks."""
        state, nodes, machine = self._play, self._nodes, self.machine
        rows = found["operations"]
        slots = machine.slots(np.ascontiguousarray(rows[:, 0]))
        places = state.actors["first"][slots] + rows[:, 1]
        for column, name in enumerate(STATE, 2):
            state.operations[name][places] = rows[:, column]
        ends = found["actors"].reshape(len(nodes), -1)
        state.actors["end"], state.free[:] = ends[:, 0], ends[:, 2:].ravel()
        nodes["end"] = nodes["begin"] + ends[:, 1]
        births = found["births"]
        at = machine.slots(np.ascontiguousarray(births[:, 0]))
        order = np.argsort(at, kind="stable")
        waiting = (nodes["end"] - nodes["next_taken"]).astype(np.int64)
        self.trace[ranges(nodes["next_taken"].astype(np.int64), waiting)] = births[order, 1:]
        state.actors["ready"] = state.actors["coming"] = state.entries["slot"] = NONE
        ledger = self._ledger
        ledger.turns = ledger.entries = ledger.came = ledger.unmatched = 0
        ledger.begun, ledger.done = (
            1,
            int(np.count_nonzero(state.operations["missing"] <= timed.DONE_WITH)),
        )
        begun = state.operations["missing"] == 0
        posted = np.flatnonzero(begun & (self.part.kind == timed.RECV))
        posted = posted[np.argsort(state.operations["turn"][posted], kind="stable")]
        calculating = np.flatnonzero(begun & (self.part.kind == timed.CALC))
        unmatched = found["unmatched"]
        unmatched[:, 0] = machine.slots(np.ascontiguousarray(unmatched[:, 0]))
        ledger.next = int(state.operations["turn"][calculating].min(initial=timed.NEVER))
        own.take_up(
            np.column_stack([self._owner[posted], posted]),
            np.column_stack([self._owner[calculating], calculating]),
            np.ascontiguousarray(unmatched), self._rules, state, ledger.record,
        )  # fmt: skip

    def results(self) -> dict[str, Any]:
        """Return processors' end times, unmatched messages and stuck operations (collective)."""
        program, machine = self.program, self.machine
        ends = np.zeros(program.processors, np.int64)
        ends[machine.nodes[self.slots]] = self._play.actors["end"][self.slots]
        ends = machine.transport.sum(ends)
        unmatched = machine.sum(self._ledger.unmatched)[0]
        stuck, first = stuck_of(
            machine, program, self.part, machine.nodes[self.slots],
            self._play.operations["missing"], "room in the network",
        )  # fmt: skip
        return {
            "time": int(ends.max(initial=0)),
            "ends": ends.tolist(),
            "unmatched": unmatched,
            "stuck": stuck,
            "stuck_operations": first,
        }
