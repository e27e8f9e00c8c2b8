"""Operations of a program with messages of flits: the begin and the end of each operation.

A step of the machine begins with `play`. Operations see only events at their own processor: tails
that have left its slots, and tails that it has taken. The lists of the timed machine match receives
and messages.
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
"""Columns of an event: the processor's slot; `SENT` or `CAME`; the row of a send, or the source of
an arrived message; the message's tag.
"""


class PlayRules(Record):
    """Constants of a program."""

    cpus: int  # per processor
    total: int  # operations of the whole program
    patterns: int  # a bit for each kind of receive, as in the timed machine
    lists: int


class PlayLedger(Record):
    """Counts of a rank."""

    begun: int  # 1 after the release of operations without requirements
    next: int  # next step in which a calc begins or ends; `NEVER`: none is active
    done: int  # finished operations
    came: int  # arrived messages
    unmatched: int  # arrived messages without a matching receive
    turns: int  # numbers given to posted receives
    entries: int  # entries in the table of lists


class Actor(Record):
    """A processor: its first operation, and its heaps of ready and of calculating operations."""

    end: int  # step in which its last operation ended
    first: Short
    ready: Short
    coming: Short


class TakenMessage(Record):
    """A message taken by its target processor."""

    tag: Word32
    source: Short


Actors = Annotated[Array, Actor]
Arrivals = Annotated[Array, TakenMessage]


class PlayedProgram(NamedTuple):
    """A program on the hosted processors; most fields are as in the timed machine's `State`.

    `free` is the first free step of each CPU. `trace` gets a row for each send that has begun,
    after the earlier sends of its processor.
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
    """Process the events of the last step; begin and end operations at the start of a step."""
    actors, operations = state.actors, state.operations
    # Operations without requirements are ready in the first step; events make the others ready.
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
    # Events are sorted by message number: two tails of one step must match receives in the same
    # order on any number of ranks.
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
    """Let an operation begin in this step, after ready operations of lower numbers."""
    state.operations[row].turn = now
    state.actors[slot].ready = issued_pushed(
        np.int64(state.actors[slot].ready), row, state.operations
    )


@routine
def begin_operation(slot, row, now, rules, state, ledger):
    """Begin a calc, a send or a receive."""
    operation, said = state.operations[row], state.statements[row]
    kind = said.what & KIND_BITS
    if kind == CALC:
        cpu = slot * rules.cpus + (said.what >> CPU_SHIFT)
        operation.turn = max(np.int64(now), state.free[cpu])
        state.free[cpu] = operation.turn + said.amount
        calculate(slot, row, now, state, ledger)
        return
    operation.ready = 1
    meet(slot, row, BEGUN, now, state)
    if kind == SEND:
        # A send is a birth in a trace that grows during the run: the step's kernel needs no special
        # case for programs.
        trace, node = state.trace, state.nodes[slot]
        at = np.int64(node.end)
        node.end += 1
        trace[at, 0], trace[at, 1], trace[at, 2] = now, said.peer, said.amount
        # Numbers order messages by step, then by operation; the remainder identifies the operation.
        trace[at, 3] = now * rules.total + state.numbers[slot] + operation.number
    elif got(slot, row, state, rules, ledger):
        finish_operation(slot, row, now, state, ledger)


@routine
def got(slot, row, state, rules, ledger):
    """Return True if a receive matches an arrived message; otherwise post the receive."""
    source, tag = np.int64(state.statements[row].peer), np.int64(state.statements[row].tag)
    return take_unexpected(slot, row, source, tag, state, rules, ledger) != NONE


@routine
def calculate(slot, row, now, state, ledger):
    """Let a calc begin or end if its step has come; `turn` is this step."""
    operation = state.operations[row]
    # `turn` is used twice: first for the step of the begin, then for the step of the end.
    if operation.ready == 0 and operation.turn <= now:
        operation.ready = 1
        operation.turn += state.statements[row].amount
        meet(slot, row, BEGUN, now, state)
    if operation.ready == 1 and operation.turn <= now:
        finish_operation(slot, row, now, state, ledger)
    else:
        state.actors[slot].coming = issued_pushed(
            np.int64(state.actors[slot].coming), row, state.operations
        )


@routine
def finish_operation(slot, row, now, state, ledger):
    """Record the end of an operation."""
    state.operations[row].missing = DONE_WITH
    state.actors[slot].end = now
    ledger.done += 1
    meet(slot, row, DONE, now, state)


@routine
def meet(slot, row, wanted, now, state):
    """Fulfil the requirements of followers on the begin, or on the end, of an operation."""
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
    """Insert operations and messages of a checkpoint into their lists and heaps.

    `posted` and `calculating` have rows (slot of a processor, row of an operation), receives in the
    order in which they were posted. `unmatched` has rows (slot, source, tag) in order of arrival.
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
