"""The one loop over steps: programs say who sends which chunks, and holdings what these contain.

A program is a generator that yields the sends of each step, and gets what has come. A timetable is
such a program; so are the algorithms of collectives, which decide from what has come before.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from mpinet.errors import ModelViolation, UsageError
from mpinet.machine import Machine, Spent
from mpinet.machine.router import Router
from mpinet.machine.state import State
from mpinet.machine.state import StatePart as Saved
from mpinet.machine.trace import Trace
from mpinet.networks.topology import Topology
from mpinet.programs import bounds
from mpinet.programs.bounds import Bound
from mpinet.programs.holdings import (
    ChunksCame,
    ChunkSends,
    Holdings,
    KeyedChunks,
    MarkedChunks,
    RoutedEnds,
    holdings_of,
)
from mpinet.programs.kinds import UNSTATED
from mpinet.programs.pipelines.bounds import steps_and_rate
from mpinet.programs.schedules.chunks import holds_first, needs
from mpinet.programs.schedules.timetable import HostedRows, Timetable, no_channel, ports_of

StepProgram: TypeAlias = Generator[ChunkSends, ChunksCame, Any]
"""Yields the sends of every step, and gets what this rank's processors have received. It keeps its
own state, and marks the boundaries between its steps."""

Where = Callable[[int], str]
"""Function that gives the beginning of a sentence on a row: the file and the line, if there are
any.
"""


class ChunkTrace(Trace):
    """A recording whose messages bear the numbers of their chunks."""


def play(machine: Machine, program: StepProgram, held: Holdings | None = None) -> Spent:
    """Make the steps of a program (collective).

    Parameters
    ----------
    machine : Machine
        Moves, polices and counts.
    program : generator
        See `StepProgram`.
    held : Holdings, optional
        Fills the messages, and keeps what has come. Default: the program does so itself.
    """
    # An error in a step leaves the program, too, so that its frames are closed in order.
    with closing(program), machine.spending() as spent:
        came: Any = None
        while True:
            try:
                sends = program.send(came)
            except StopIteration:
                break
            payload = sends.payload
            # Holdings fill messages with what senders really hold, so that no program can invent a
            # chunk.
            if payload is None and held is not None:
                payload = held.messages(sends)
            came = _carried(machine, sends, payload)
            if held is not None:
                held.take(came, sends.step or machine.steps - spent.begun)
    return spent


def _carried(machine: Machine, sends: ChunkSends, payload: Any) -> ChunksCame:
    """Move messages in a step, or until the routing has delivered all of them."""
    if sends.route is not None:
        targets, numbers, total, routing = sends.route
        routing = routing or machine.topology.routing()
        router = Router(machine, routing, payload_words=payload.shape[1], keep=True)
        router.inject(machine.nodes[sends.slots], targets, numbers, total, payload)
        router.run()
        found = router.take()
        return ChunksCame(
            machine.slots(found.nodes), found.nodes, found.nodes[:0], found.payload, 0
        )
    # A plan passes on no numbers, so that steps are made one by one where chunks are recorded.
    named = isinstance(machine.trace, ChunkTrace)
    if sends.plan is not None and not named:
        plan = sends.plan
        return ChunksCame(machine.slots(plan.nodes), plan.nodes, plan.ports, plan(payload), 0)
    more = {"numbers": sends.chunks} if named else {}
    nodes = machine.nodes[sends.slots]
    inbox = machine.step(nodes, sends.ports, payload, sends.listen, sends.word, **more)
    return ChunksCame(
        machine.slots(inbox.nodes), inbox.nodes, inbox.ports, inbox.payload, inbox.total
    )


def rows_of(machine: Machine, table: Timetable, *held: Saved) -> StepProgram:
    """Every row over its channel, in its step."""
    part = HostedRows(machine, table)
    chunks = table.chunk[part.index]
    mine = table.rows(part.index) if table.purpose.kind.adds else None
    with State(machine, "timetable", *held, step=0) as state:
        while state.step < table.last:
            state.step += 1
            now = part.sends(state.step)
            rows = None if mine is None else mine.rows(now)
            yield ChunkSends(part.slots[now], part.ports[now], chunks[now], rows)
            state.boundary()


def _routed_rows(machine: Machine, table: Timetable) -> StepProgram:
    """The rows of a step by the routing, until all have come; then those of the next."""
    table = table.ordered()
    begin = np.searchsorted(table.step, np.arange(1, table.last + 2))
    slots = machine.slots(table.sender)
    here = (slots >= 0) & (slots < machine.placement.count)
    for step in range(1, table.last + 1):
        first, last = int(begin[step - 1]), int(begin[step])
        index = first + np.flatnonzero(here[first:last])
        rows = table.rows(index)
        route = RoutedEnds(rows.receiver, index - first, last - first)
        yield ChunkSends(slots[index], slots[:0], rows.chunk, rows, route=route, step=step)


@dataclass(frozen=True)
class Performed:
    """Result of performing a timetable, and whether it did what it is for."""

    steps: int
    """Steps of the machine, including empty ones."""
    messages: int
    """Messages sent."""
    lower_bound: Bound | None
    """Lower bound of the steps; None if the schedule does not state what messages carry."""
    correct: bool | None
    """True if every processor ended with the right number for every chunk that it needs; None if
    the schedule does not state what it needs."""


def perform(
    machine: Machine,
    table: Timetable,
    seed: int = 0,
    routed: bool = False,
    where: Where = lambda row: "",
) -> Performed:
    """Run a timetable (collective).

    Parameters
    ----------
    machine : Machine
        Moves, polices and counts.
    table : Timetable
        The same on all ranks.
    seed : int
        Chooses the chunks' contents.
    routed : bool
        Rows may go between any two processors: the network's routing carries those of a step, which
        ends with the last of them.
    where : callable
        What a sentence on a row begins with.

    Raises
    ------
    UsageError
        The timetable is not for this network, or sends what the sender does not hold, or adds what
        has been added.
    ModelViolation
        It asks more than the machine's port model allows.

    Examples
    --------
    >>> step, chunk = np.array([1, 2, 2]), np.zeros(3, np.int64)
    >>> table = Timetable("broadcast", 4, step, np.array([0, 0, 1]), np.array([1, 3, 2]), chunk)
    >>> perform(Machine("ring:4", "one"), Timetable(**(vars(table) | {"root": 0})))
    Performed(steps=2, messages=3, lower_bound=2, correct=True)
    """
    spent, held = play_rows(machine, table, seed, routed, where)
    if table.collective == UNSTATED:
        return Performed(spent.steps, spent.messages, None, None)
    correct = held.short() == 0
    return Performed(spent.steps, spent.messages, lower_bound(machine, table), correct)


def play_rows(
    machine: Machine,
    table: Timetable,
    seed: int = 0,
    routed: bool = False,
    where: Where = lambda row: "",
    operator: str = "sum",
    checked: bool = True,
) -> tuple[Spent, MarkedChunks | KeyedChunks]:
    """Run a timetable, and leave it to others to judge what it took (collective).

    Parameters and errors are those of `perform`; `operator` says how contributions are combined:
    ``"sum"``, ``"min"`` or ``"max"``. A search's own timetable need not be `checked`.

    Returns
    -------
    spent : Spent
        Steps and messages.
    held : Holdings
        The chunks of this rank's processors in the end.
    """
    # Files may hold anything. Rows of a search need no check that costs as much as the run.
    if checked:
        require_valid(machine.topology, table, routed, where)
    held = holdings_of(machine, table, seed, operator)
    program = _routed_rows(machine, table) if routed else rows_of(machine, table, held)
    try:
        return play(machine, program, held), held
    except (ModelViolation, UsageError) as error:
        text = str(error)
        raise type(error)(f"{where(-1)}{text[:1].lower()}{text[1:]}") from None


def require_valid(topology: Topology, table: Timetable, routed: bool, where: Where) -> None:
    """Raise `UsageError` unless the rows can be: on this network, and with what senders hold."""
    if table.processors != topology.hosts:
        raise UsageError(
            f"{where(-1)}header: it is for {table.processors} processors, and {topology.name} has "
            f"{topology.hosts}."
        )
    inside = topology.hosts if routed else topology.size
    ends = np.maximum(table.sender, table.receiver)
    outside = np.flatnonzero(ends >= inside)
    if len(outside):
        row = int(outside[0])
        raise UsageError(
            f"{where(row)}step {table.step[row]}: there is no node {ends[row]} in {topology.name}, "
            f"only 0..{inside - 1}."
        )
    if not routed:
        missing = np.flatnonzero(ports_of(topology, table) < 0)
        if len(missing):
            row = int(missing[0])
            raise UsageError(f"{where(row)}{no_channel(topology, table, row)}")
    if table.collective != UNSTATED:
        _require_held(table, where)


def _require_held(table: Timetable, where: Where) -> None:
    """Raise `UsageError` unless every sender holds its chunk at the end of the step before."""
    total = table.purpose.total
    # One key for each pair of node and chunk, so that sorting finds its earliest arrival.
    got = table.receiver * total + table.chunk
    order = np.lexsort((table.step, got))
    keys, first = np.unique(got[order], return_index=True)
    earliest = table.step[order][first]
    wanted = table.sender * total + table.chunk
    place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    came = (keys[place] == wanted) & (earliest[place] < table.step) if len(keys) else wanted < 0
    wrong = np.flatnonzero(~came & ~holds_first(table.purpose, table.sender, table.chunk))
    if len(wrong) == 0:
        return
    row = int(wrong[np.argmin(table.step[wrong])])
    raise UsageError(
        f"{where(row)}step {table.step[row]}: processor {table.sender[row]} sends chunk "
        f"{table.chunk[row]} to {table.receiver[row]}, and does not hold it."
    )


def lower_bound(machine: Machine, table: Timetable) -> Bound:
    """Steps that no schedule of the collective beats, one chunk a message (collective).

    That of one chunk a unit, and what every processor has to receive, at most one chunk in a step
    from each channel or as many as it may accept.
    """
    if machine.topology.hosts == 1:
        return Bound(0, "ends")
    model, root, purpose = machine.model, table.root or 0, table.purpose
    kind, name = purpose.kind, purpose.kind.bound
    if table.collective == "reducescatter" and model.send != model.receive:
        name = "combining_gossip_bound"
    least: Bound = getattr(bounds, name)(machine, *([root] if kind.rooted else []))
    nodes = np.sort(machine.nodes[machine.nodes < table.processors])
    owners, chunks = needs(purpose, nodes)
    lacking = kind.adds | ~holds_first(purpose, owners, chunks)
    wanted = np.bincount(np.searchsorted(nodes, owners[lacking]), minlength=len(nodes))
    # Each channel brings one chunk per step.
    doors = bounds.channels(machine, nodes)
    if model.receive is not None:
        doors = np.minimum(doors, model.receive)
    received = -(-wanted // np.maximum(doors, 1))
    least = max(least, Bound(machine.max(int(received.max(initial=0)))[0], "ends"))
    whole = (model.send, model.receive) in ((1, 1), (None, None)) and not model.half_duplex
    if not whole or table.chunks == 1:
        return least
    return max(least, steps_and_rate(machine, table.collective, root, table.chunks)[0])
