"""The only loop over steps: programs choose senders and chunks, holdings fill in the contents.

A program is a generator: it yields the sends of each step and receives the arrived messages. A
timetable is a program, and so are the collectives' algorithms, whose sends depend on earlier
arrivals.
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
"""Program of a machine: yields the sends of every step, and gets the messages received by this
rank's processors. A program stores its own state and marks the boundaries between its steps.
"""

Where = Callable[[int], str]
"""Function from a row number to the start of an error message: file and line, or an empty text."""


class ChunkTrace(Trace):
    """A recording whose messages carry the numbers of their chunks."""


def play(machine: Machine, program: StepProgram, held: Holdings | None = None) -> Spent:
    """Run the steps of a program (collective).

    Parameters
    ----------
    machine : Machine
        Runs the steps, enforces the port model and counts.
    program : generator
        See `StepProgram`.
    held : Holdings, optional
        Fills the messages and stores the received chunks. Default: the program does both.
    """
    # An error in a step also leaves the program, so its frames are closed in order.
    with closing(program), machine.spending() as spent:
        came: Any = None
        while True:
            try:
                sends = program.send(came)
            except StopIteration:
                break
            payload = sends.payload
            # Holdings fill messages with the senders' real chunks, so no program can invent a
            # chunk.
            if payload is None and held is not None:
                payload = held.messages(sends)
            came = _carried(machine, sends, payload)
            if held is not None:
                held.take(came, sends.step or machine.steps - spent.begun)
    return spent


def _carried(machine: Machine, sends: ChunkSends, payload: Any) -> ChunksCame:
    """Move the messages of one step, or let the routing deliver all of them."""
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
    # A plan carries no chunk numbers, so recordings of chunks run each step separately.
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
    """Yield the sends of a timetable: every row over its channel, in its step."""
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
    """Yield the rows of each step for the routing; a step ends with its last arrival."""
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
    """Result of running a timetable: cost, lower bound and correctness."""

    steps: int
    """Number of steps of the machine, including empty steps."""
    messages: int
    """Number of messages sent."""
    lower_bound: Bound | None
    """Lower bound of the steps; None if the schedule does not state the contents of messages."""
    correct: bool | None
    """True if every processor ended with the right value of every chunk needed; None if the
    schedule does not state the needed chunks.
    """


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
        Runs the steps, enforces the port model and counts.
    table : Timetable
        Must be equal on all ranks.
    seed : int
        Seed of the chunks' contents.
    routed : bool
        If True, rows may connect any two processors. The network's routing carries the messages of
        a step, and the step ends with the last arrival.
    where : callable
        Function from a row number to the start of an error message.

    Raises
    ------
    UsageError
        The timetable does not fit the network, a sender does not hold its chunk, or a contribution
        is added twice.
    ModelViolation
        The timetable exceeds the machine's port model.

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
    """Run a timetable; return its cost and the final holdings without judging them (collective).

    Parameters and errors are those of `perform`. `operator` combines contributions: ``"sum"``,
    ``"min"`` or ``"max"``. With `checked` False the rows of the timetable are not validated first.

    Returns
    -------
    spent : Spent
        Steps and messages.
    held : Holdings
        The final chunks of this rank's processors.
    """
    # Files may contain anything. Rows of a search skip the check, which costs as much as the run.
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
    """Raise `UsageError` unless all rows fit the network and all senders hold their chunks."""
    if table.processors != topology.hosts:
        raise UsageError(
            f"{where(-1)}header: the schedule is for {table.processors} processors, and "
            f"{topology.name} has {topology.hosts}."
        )
    inside = topology.hosts if routed else topology.size
    ends = np.maximum(table.sender, table.receiver)
    outside = np.flatnonzero(ends >= inside)
    if len(outside):
        row = int(outside[0])
        raise UsageError(
            f"{where(row)}step {table.step[row]}: node {ends[row]} is not in {topology.name}, "
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
    """Raise `UsageError` unless every sender holds its chunk at the end of the previous step."""
    total = table.purpose.total
    # One key for each pair of node and chunk, so sorting finds its earliest arrival.
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
        f"{table.chunk[row]} to {table.receiver[row]}, but does not hold the chunk."
    )


def lower_bound(machine: Machine, table: Timetable) -> Bound:
    """Return a lower bound of the steps of a collective, with one chunk per message (collective).

    The bound is the maximum of the bound for one chunk per unit and of the largest receive time.
    The receive time of a processor is its number of missing chunks, divided by its channels or by
    the port model's receive limit.
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
