"""Operations of a program whose messages are flits: which of them begin, and which are done.

A step of the machine begins with them (`play`). They see of it only what happened at their own
processor: tails that have left its slots, and tails that it has taken. Which receive gets which
message the timed machine's lists say.
"""

from typing import Annotated, NamedTuple

import numpy as np

from mpinet.base.arrays import Array, Ints, Shorts, Table
from mpinet.base.records import Record, Short, Word32
from mpinet.compiled import kernel, routine
from mpinet.machine.heaps import NONE
from mpinet.machine.timed.heaps import issued_popped, issued_pushed
from mpinet.machine.timed.layout import (
    CALC,
    CPU_SHIFT,
    DONE_WITH,
    KIND_BITS,
    NEVER,
    SEND,
    Entries,
    Operations,
    Statements,
)
from mpinet.machine.timed.matching import add_unexpected, take_posted, take_unexpected
from mpinet.machine.timed.processor import BEGUN, DONE
from mpinet.machine.traffic.layout import CAME, Nodes

SLOT, WHAT, WHICH, TAG = range(4)
"""Columns of an event: the processor's place; `SENT` or `CAME`; the row of a send, or the source
of a message that has come; the message's tag."""


class PlayRules(Record):
    """Constants of a program."""

    cpus: int  # of a processor
    total: int  # operations of the whole program
    patterns: int  # a bit for each kind of receive, as of the timed machine
    lists: int


class PlayLedger(Record):
    """Counts of a rank."""

    begun: int  # whether operations without requirements have been released
    next: int  # the next step in which a calc begins or ends; `NEVER`: none is under way
    done: int  # operations
    came: int  # messages
    unmatched: int  # of these, those that no receive has got
    turns: int  # numbers given to posted receives
    entries: int  # of the table of lists


class Actor(Record):
    """A processor: its first operation, heaps of operations that are ready or calculating."""

    end: int  # step in which its last operation was done
    first: Short
    ready: Short
    coming: Short


class TakenMessage(Record):
    """A message that its processor has taken."""

    tag: Word32
    source: Short


Actors = Annotated[Array, Actor]
Arrivals = Annotated[Array, TakenMessage]


class PlayedProgram(NamedTuple):
    """A program on the hosted processors: fields as of the timed machine's `State`.

    `free` has the step from which on each CPU is free; `trace` gets a row for each send that has
    begun, behind those of its processor.
    """

    statements: Statements
    operations: Operations
    followers: Shorts
    actors: Actors
    numbers: Ints
    free: Ints
    messages: Arrivals
    links: Table
    entries: Entries
    nodes: Nodes
    trace: Table


@kernel
def play(
    events: Table, rules: PlayRules, state: PlayedProgram, ledger: PlayLedger, now: int
) -> None:
    """Take in what the last step has brought; let operations begin and end, as a step begins."""
    actors, operations = state.actors, state.operations
    # Operations without requirements are ready in the first step; later ones become ready by
    # events.
    if ledger.begun == 0:
        ledger.begun = 1
        for slot in range(actors.size):
            last = actors[slot + 1].first if slot + 1 < actors.size else operations.size
            for first in range(actors[slot].first, last):
                if operations[first].missing == 0:
                    make_ready(slot, np.int64(first), now, state)
    for slot in range(actors.size):
        while actors[slot].coming != NONE and operations[actors[slot].coming].turn <= now:
            row = np.int64(actors[slot].coming)
            actors[slot].coming = issued_popped(row, operations)
            calculate(slot, row, now, state, ledger)
    # Events come sorted by message number: two tails of one step must match receives in the same
    # order on any ranks.
    for i in range(events.shape[0]):
        slot, row = int(events[i, SLOT]), np.int64(events[i, WHICH])
        if events[i, WHAT] == CAME:
            m = ledger.came
            ledger.came += 1
            state.messages[m].source, state.messages[m].tag = row, events[i, TAG]
            row = take_posted(slot, m, state, rules, ledger)
        if row != NONE:
            finish_operation(slot, row, now, state, ledger)
    ledger.next = NEVER
    for slot in range(actors.size):
        while actors[slot].ready != NONE:
            row = np.int64(actors[slot].ready)
            actors[slot].ready = issued_popped(row, operations)
            begin_operation(slot, row, now, rules, state, ledger)
        if actors[slot].coming != NONE:
            ledger.next = min(ledger.next, operations[actors[slot].coming].turn)


@routine
def make_ready(slot, row, now, state):
    """Let an operation begin in this step, after those of lower numbers that are ready."""
    state.operations[row].turn = now
    state.actors[slot].ready = issued_pushed(
        np.int64(state.actors[slot].ready), row, state.operations
    )


@routine
def begin_operation(slot, row, now, rules, state, ledger):
    """Begin to calculate, to send or to receive."""
    operation, said = state.operations[row], state.statements[row]
    kind = said.what & KIND_BITS
    if kind == CALC:
        cpu = slot * rules.cpus + (said.what >> CPU_SHIFT)
        operation.turn = max(np.int64(now), state.free[cpu])
        state.free[cpu] = operation.turn + said.amount
        calculate(slot, row, now, state, ledger)
        return
    operation.event = 1
    meet(slot, row, BEGUN, now, state)
    if kind == SEND:
        # A send is a birth in a trace that grows while it is played. So the step's kernel needs no
        # case for programs.
        trace, node = state.trace, state.nodes[slot]
        at = np.int64(node.end)
        node.end += 1
        trace[at, 0], trace[at, 1], trace[at, 2] = now, said.peer, said.amount
        # Numbers order messages by step, then operation; the operation is found again by the
        # remainder.
        trace[at, 3] = now * rules.total + state.numbers[slot] + operation.number
    elif got(slot, row, state, rules, ledger):
        finish_operation(slot, row, now, state, ledger)


@routine
def got(slot, row, state, rules, ledger):
    """Return whether a receive gets a message that has come; else it is posted."""
    source, tag = np.int64(state.statements[row].peer), np.int64(state.statements[row].tag)
    return take_unexpected(slot, row, source, tag, state, rules, ledger) != NONE


@routine
def calculate(slot, row, now, state, ledger):
    """Let a calc begin or end, if it is time; `turn` has the step in which it does."""
    operation = state.operations[row]
    # `turn` is reused: first the step of the begin, then that of the end.
    if operation.event == 0 and operation.turn <= now:
        operation.event = 1
        operation.turn += state.statements[row].amount
        meet(slot, row, BEGUN, now, state)
    if operation.event == 1 and operation.turn <= now:
        finish_operation(slot, row, now, state, ledger)
    else:
        state.actors[slot].coming = issued_pushed(
            np.int64(state.actors[slot].coming), row, state.operations
        )


@routine
def finish_operation(slot, row, now, state, ledger):
    """Note that an operation is done."""
    state.operations[row].missing = DONE_WITH
    state.actors[slot].end = now
    ledger.done += 1
    meet(slot, row, DONE, now, state)


@routine
def meet(slot, row, wanted, now, state):
    """Meet the requirements that an operation has begun, or is done."""
    operations, first = state.operations, np.int64(state.actors[slot].first)
    for at in range(state.statements[row].followers, state.statements[row + 1].followers):
        follower = np.int64(state.followers[at])
        if follower & 1 == wanted:
            later = first + (follower >> 1)
            operations[later].missing -= 1
            if operations[later].missing == 0:
                make_ready(slot, later, now, state)


@kernel
def take_up(
    posted: Table, calculating: Table, unmatched: Table, rules: PlayRules, state: PlayedProgram,
    ledger: PlayLedger,
) -> None:  # fmt: skip
    """Put operations and messages of a checkpoint into their lists and heaps.

    Rows of the first two are a processor's place and an operation's row, receives in the order in
    which they were posted; of the last place, source and tag, in the order in which they came.
    """
    for i in range(posted.shape[0]):
        got(posted[i, 0], posted[i, 1], state, rules, ledger)
    for i in range(calculating.shape[0]):
        actor = state.actors[calculating[i, 0]]
        actor.coming = issued_pushed(np.int64(actor.coming), calculating[i, 1], state.operations)
    for i in range(unmatched.shape[0]):
        m = ledger.came
        ledger.came += 1
        state.messages[m].source, state.messages[m].tag = unmatched[i, 1], unmatched[i, 2]
        add_unexpected(unmatched[i, 0], m, state, rules, ledger)
