"""Checkpoints of a run in time, between two windows, for a restart on any number of ranks.

Every item belongs to one processor or link. Items are named by processor or link, never by a place
in a rank's memory.

Processor
    The end of its NICs' and CPUs' busy times, its alarm, its end, and the number of issued items.
Operation
    Its key, its least time, its number of unfulfilled requirements, and whether it is done. A
    further row shows whether an issued operation waits or is posted.
Message or answer
    Its state (in flight, arrived, waiting or unexpected), at the current processor or node.
Server
    The end of its busy time, and its load.
Recorded notes
    At their nodes.
Counts
    Sums over the ranks, and the largest turn.

For heaps and lists only the members are saved, because the members determine the order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from mpinet.base.arrays import Ints, Table
from mpinet.base.records import columns, put_columns
from mpinet.compiled import kernel
from mpinet.machine.heaps import listed
from mpinet.machine.ledger import restore as restore_ledger
from mpinet.machine.ledger import state_of
from mpinet.machine.machine import Machine
from mpinet.machine.state import Fields, Located, Numbered
from mpinet.machine.timed import layout
from mpinet.machine.timed.calendar import set_alarm
from mpinet.machine.timed.heaps import (
    coming_pushed,
    later_pushed,
)
from mpinet.machine.timed.layout import (
    CPU_SHIFT,
    KIND_BITS,
    NEVER,
    NONE,
    RECV,
    TRAVELS,
    UNEXPECTED,
    TimedConstants,
    TimedMessage,
    TimedState,
    WindowLedger,
)
from mpinet.machine.timed.matching import add_unexpected, make_list, place_of
from mpinet.machine.timed.processor import peer_of, row_of, statement_of, wait_for_cpu
from mpinet.machine.timed.program import ranges
from mpinet.machine.timed.scripted import Scripted
from mpinet.machine.timed.sending import CPU_PLACE

TIMES = ("alarm", "out_free", "in_free", "end", "orders")
"""Saved fields of a processor."""

OPERATION = ("turn", "before", "ready", "number", "missing", "issuer", "order")
"""Saved fields of an operation."""

SERVER = ("free", "busy", "carried")
"""Saved fields of a server."""

# A slot means nothing on other ranks: the file contains the processor's number instead.
AT, POSTED, ROW, TURN = range(4)
"""Columns of a pending operation: processor, 1 for a posted receive, the operation's row, its turn.
In checkpoints the third column is the operation's number.
"""

MESSAGE = tuple(name for name in TimedMessage.dtype.names if name not in ("left", "right"))  # type: ignore[union-attr]
"""Saved fields of a message, after its current node; the words of its header follow."""

STATE_WORD, READY_WORD = (1 + MESSAGE.index(name) for name in ("state", "ready"))


class Run(Protocol):
    """The part of a `TimedRun` used by its checkpoints."""

    machine: Machine
    ledger: Any
    rules: TimedConstants
    part: Scripted
    slots: Ints
    noted: bool

    @property
    def state(self) -> TimedState:
        """The arrays of a run."""

    @property
    def notes(self) -> Ints:
        """The notes written so far."""

    def make_room(self, messages: int, posted: int) -> None:
        """Allocate memory for messages, and for lists of posted receives."""

    def take_notes(self, notes: Ints) -> None:
        """Take over the notes of a resumed run."""

    def take_in(self, rows: Ints) -> None:
        """Process rows of saved messages in flight (collective)."""


def fields_of(run: Run) -> Fields:
    """Return the checkpoint fields of a run between two windows."""
    state, ledger, nodes = run.state, run.ledger, run.machine.nodes
    hosted, rows = len(nodes), run.part.rows
    # Heaps are saved as sets. Their orders are total, so any shape gives the same pops after a
    # restart.
    processors = columns(state.processors, TIMES, np.int64)
    found: dict[str, Any] = {
        **state_of(ledger, WindowLedger),
        "processors": Numbered(processors, nodes),
        "cpus": Numbered(state.cpus["free"].reshape(hosted, -1), nodes),
        "operations": Numbered(
            columns(state.operations[: int(rows.sum())], OPERATION, np.int64),
            ranges(state.numbers[run.slots], rows),
        ),
        "pending": Located(_pending(run)),
        "sent": Located(_messages(run)),
    }
    servers, keys = _servers(run)
    found["servers"] = Numbered(servers, keys)
    if run.noted:
        found["notes"] = Located(run.notes, lambda rows: rows[:, layout.NODE])
    return found


def _servers(run: Run) -> tuple[Ints, Ints]:
    """Return the saved fields of the servers, a row for each processor or bus, and their keys."""
    servers, rules = columns(run.state.servers, SERVER, np.int64), run.rules
    if rules.serving == layout.BUS:
        keys = int(rules.first_bus) + np.arange(len(servers))
        # Busses are dealt evenly, so the last rank may own numbers without a bus.
        there = keys < (run.machine.topology.busses or 0)
        return servers[there], keys[there]
    hosted = len(run.machine.nodes)
    return servers.reshape(hosted, -1), run.machine.nodes


def _pending(run: Run) -> Ints:
    """Return the operations that wait for a CPU or are posted."""
    state = run.state
    found = np.empty((len(state.operations), 4), np.int64)
    found = found[: note_pending(run.rules, state, found)]
    found[:, ROW] = state.operations["number"][found[:, ROW]]
    return found


def _messages(run: Run) -> Ints:
    """Return the messages and answers, each row after its node."""
    state = run.state
    alive = np.flatnonzero(state.messages["state"])
    messages = state.messages[alive]
    # A message in flight belongs to its current node, any other message to its receiver. The
    # mapping finds both again.
    at = np.where(messages["state"] == TRAVELS, messages["node"], messages["target"])
    words = columns(messages, MESSAGE, np.int64)
    return np.concatenate([at[:, np.newaxis], words, state.headers[alive]], axis=1)


@kernel
def note_pending(rules: TimedConstants, state: TimedState, rows: Table) -> int:
    """Write all issued operations that wait or are posted; return their number."""
    operations, noted = state.operations, 0
    found = np.empty(rows.shape[0] + 1, np.int64)
    for slot in range(state.processors.size):
        # The heap of the processor first, then two heaps of each of its CPUs.
        for which in range(1 + 2 * rules.cpus):
            top = np.int64(state.processors[slot].later)
            if which > 0:
                cpu = state.cpus[slot * rules.cpus + (which - 1) // 2]
                top = np.int64(cpu.calc) if which % 2 == 0 else np.int64(cpu.send)
            for i in range(listed(top, operations, found)):
                rows[noted, AT], rows[noted, POSTED] = state.processors[slot].number, 0
                rows[noted, ROW], rows[noted, TURN] = found[i], operations[found[i]].turn
                noted += 1
    for at in range(state.entries.size):
        entry = state.entries[at]
        if entry.slot == NONE or entry.posted == 0:
            continue
        row = np.int64(entry.head)
        while row != NONE:
            rows[noted, AT], rows[noted, POSTED] = state.processors[entry.slot].number, 1
            rows[noted, ROW], rows[noted, TURN] = row, operations[row].turn
            noted += 1
            row = np.int64(operations[row].left)
    return noted


def restore(run: Run, found: Mapping[str, Any]) -> None:
    """Restore a run that has not begun from the fields of `fields_of` (collective)."""
    state, ledger, machine = run.state, run.ledger, run.machine
    ledger.window, ledger.begun = found["window"], len(state.processors)
    put_columns(state.operations[: int(run.part.rows.sum())], OPERATION, found["operations"])
    state.cpus["free"] = found["cpus"].reshape(-1)
    put_columns(state.processors, TIMES[1:], found["processors"][:, 1:])
    servers = found["servers"].reshape(-1, len(SERVER))
    put_columns(state.servers[: len(servers)], SERVER, servers)
    pending, sent = found["pending"], found["sent"]
    # Posting order is a list order, and rows are sorted by processor: stable sorting by turn
    # restores the order.
    pending = pending[np.argsort(pending[:, TURN], kind="stable")]
    # For unexpected messages the field contains their turn; the order of other messages is
    # irrelevant.
    order = np.where(sent[:, STATE_WORD] == UNEXPECTED, sent[:, READY_WORD], 0)
    sent = sent[np.argsort(order, kind="stable")]
    travels = sent[:, STATE_WORD] == TRAVELS
    run.make_room(len(sent), len(pending))
    slots = [machine.slots(np.ascontiguousarray(rows[:, AT])) for rows in (pending, sent[~travels])]
    rows = _taken(run, sent[~travels])
    put_back(
        np.ascontiguousarray(found["processors"][:, 0]), pending, slots[0], rows, slots[1],
        run.rules, run.state, ledger.record,
    )  # fmt: skip
    # Only now, because entering unexpected messages has counted them again.
    restore_ledger(ledger, WindowLedger, found)
    if run.noted:
        run.take_notes(found["notes"])
    # Messages in flight enter like rows from other ranks, which finds their server on any rank.
    run.take_in(_rows(run, sent[travels]))


def _taken(run: Run, sent: Ints) -> Ints:
    """Write messages into free rows; return these rows."""
    state, ledger = run.state, run.ledger
    ledger.free -= len(sent)
    rows = state.free[ledger.free : ledger.free + len(sent)].astype(np.int64)
    for column, name in enumerate(MESSAGE, 1):
        state.messages[name][rows] = sent[:, column]
    state.headers[rows] = sent[:, 1 + len(MESSAGE) :]
    return rows


def _rows(run: Run, sent: Ints) -> Ints:
    """Return messages in flight in the form of rows from other ranks."""
    words = {name: sent[:, 1 + column] for column, name in enumerate(MESSAGE)}
    names = ("sent", "length", "ready", "tail", "tag", "source", "index", "target", "node", "port")
    columns = [
        layout.REQUEST | words["cpu"] << CPU_PLACE,
        *(words[name] for name in (*names, "hop", "before", "order")),
    ]
    return np.concatenate([np.stack(columns, axis=1), sent[:, 1 + len(MESSAGE) :]], axis=1)


@kernel
def put_back(
    alarms: Ints,
    pending: Table,
    pending_at: Ints,
    sent: Ints,
    sent_at: Ints,
    rules: TimedConstants,
    state: TimedState,
    ledger: WindowLedger,
) -> None:
    """Restore alarms, pending operations and messages; lists in order of turns."""
    operations, messages, entries = state.operations, state.messages, state.entries
    for slot in range(alarms.size):
        if alarms[slot] < NEVER:
            set_alarm(slot, alarms[slot], state, rules, ledger)
    for i in range(pending.shape[0]):
        slot, number = pending_at[i], pending[i, ROW]
        row = row_of(slot, number, state, rules)
        operation, said = operations[row], statement_of(slot, number, state)
        processor, what = state.processors[slot], np.int64(said.what)
        free = state.cpus[slot * rules.cpus + (what >> CPU_SHIFT)].free
        if pending[i, POSTED] == 0 and what & KIND_BITS != RECV and operation.ready <= free:
            wait_for_cpu(slot, row, what, state, rules)
        elif pending[i, POSTED] == 0:
            processor.later = later_pushed(np.int64(processor.later), row, operations)
        else:
            operation.left = NONE
            source, tag = peer_of(slot, said, state), np.int64(said.tag)
            at = place_of(slot, source, tag, entries)
            if entries[at].slot == NONE:
                make_list(at, slot, source, tag, row, 1, entries, ledger)
            else:
                operations[entries[at].tail].left = row
                entries[at].tail = row
    for i in range(sent.size):
        slot, m = sent_at[i], sent[i]
        processor, how = state.processors[slot], messages[m].state
        if how == UNEXPECTED:
            add_unexpected(slot, m, state, rules, ledger)
        else:
            processor.coming = coming_pushed(np.int64(processor.coming), m, messages)
