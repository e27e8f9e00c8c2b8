"""Running a timetable of any collective: data that moves, and is compared in the end.

Every rank sends its processors' rows: of each the 64-bit number that its sender really holds. Sums
carry the set of those that contributed, so that nobody is counted twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.memory import require_memory
from mpinet.errors import ModelViolation, UsageError
from mpinet.machine import Machine, Spent
from mpinet.machine.router import Router
from mpinet.machine.state import Fields, Located, State
from mpinet.networks.topology import Topology
from mpinet.programs import bounds
from mpinet.programs.arrivals import Arrivals
from mpinet.programs.bounds import Bound
from mpinet.programs.kinds import SUMS
from mpinet.programs.pipelines.bounds import steps_and_rate
from mpinet.programs.reduce import OPERATORS
from mpinet.programs.schedules.chunks import (
    UNSTATED,
    contents,
    count_chunks,
    holds_first,
    needs,
    results,
    starts,
)
from mpinet.programs.schedules.timetable import WHOLE, Part, Timetable, no_channel, ports_of

BITS = 64
"""Contributors in a word of a set."""

HEAD = 4
"""Words of a message before the set: chunk, whether it is added, sender, value."""

NEUTRAL = {"sum": 0, "min": 2**64 - 1, "max": 0}
"""Value of those who have contributed nothing."""

Where = Callable[[int], str]
"""Function that gives the beginning of a sentence on a row: the file and the line, if there are
any.
"""


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
    spent, holdings = play(machine, table, seed, routed, where)
    if table.collective == UNSTATED:
        return Performed(spent.steps, spent.messages, None, None)
    correct = holdings.short() == 0
    return Performed(spent.steps, spent.messages, lower_bound(machine, table), correct)


def play(
    machine: Machine,
    table: Timetable,
    seed: int = 0,
    routed: bool = False,
    where: Where = lambda row: "",
    operator: str = "sum",
) -> tuple[Spent, ChunkSets]:
    """Run a timetable, and leave it to others to judge what it took (collective).

    Parameters and errors are those of `perform`; `operator` says how contributions are combined:
    ``"sum"``, ``"min"`` or ``"max"``.

    Returns
    -------
    spent : Spent
        Steps and messages.
    holdings : Holdings
        What this rank's processors have in the end.
    """
    require_valid(machine.topology, table, routed, where)
    holdings = ChunkSets(machine, table, seed, operator)
    try:
        with machine.spending() as spent:
            if routed:
                _route(machine, table, holdings, where)
            else:
                _send(machine, table, holdings, where)
    except ModelViolation as error:
        text = str(error)
        raise ModelViolation(f"{where(-1)}{text[:1].lower()}{text[1:]}") from None
    return spent, holdings


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
    total = count_chunks(table.collective, table.processors, table.chunks)
    got = table.receiver * total + table.chunk
    order = np.lexsort((table.step, got))
    keys, first = np.unique(got[order], return_index=True)
    earliest = table.step[order][first]
    wanted = table.sender * total + table.chunk
    place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    came = (keys[place] == wanted) & (earliest[place] < table.step) if len(keys) else wanted < 0
    wrong = np.flatnonzero(~came & ~holds_first(table, table.sender, table.chunk))
    if len(wrong) == 0:
        return
    row = int(wrong[np.argmin(table.step[wrong])])
    raise UsageError(
        f"{where(row)}step {table.step[row]}: processor {table.sender[row]} sends chunk "
        f"{table.chunk[row]} to {table.receiver[row]}, and does not hold it."
    )


def _send(machine: Machine, table: Timetable, holdings: ChunkSets, where: Where) -> None:
    """Every row over its channel, in its step."""
    part = Part(machine, table)
    mine = table.rows(part.index)
    with State(machine, "timetable", holdings, step=0) as state:
        while state.step < table.last:
            state.step += 1
            rows = part.sends(state.step)
            payload = holdings.messages(mine.rows(np.arange(rows.start, rows.stop)))
            inbox = machine.step(machine.nodes[part.slots[rows]], part.ports[rows], payload)
            take_in(machine, holdings, inbox.nodes, inbox.payload, state.step, where)
            state.boundary()


def _route(machine: Machine, table: Timetable, holdings: ChunkSets, where: Where) -> None:
    """The rows of a step by the routing, until all have come; then those of the next."""
    table = table.ordered()
    begin = np.searchsorted(table.step, np.arange(1, table.last + 2))
    slots = machine.slots(table.sender)
    here = (slots >= 0) & (slots < machine.placement.count)
    routing = machine.topology.routing()
    for step in range(1, table.last + 1):
        first, last = int(begin[step - 1]), int(begin[step])
        index = first + np.flatnonzero(here[first:last])
        rows = table.rows(index)
        payload = holdings.messages(rows)
        router = Router(machine, routing, payload_words=payload.shape[1], keep=True)
        router.inject(rows.sender, rows.receiver, index - first, last - first, payload)
        router.run()
        came = router.delivered
        take_in(machine, holdings, came.nodes, came.payload, step, where)


def take_in(
    machine: Machine, holdings: ChunkSets, nodes: Ints, payload: Ints, step: int, where: Where
) -> None:
    """Note what has come; its error is raised on all ranks."""

    def take() -> None:
        twice = holdings.take(nodes, payload, step)
        if twice is not None:
            node, chunk, giver = twice
            raise UsageError(
                f"{where(-1)}step {step}: processor {node} adds to chunk {chunk} what it has in it "
                f"already, such as the contribution of processor {giver}."
            )

    machine.checked(take)


class ChunkSets:
    """The chunks that this rank's processors hold: their numbers, and who contributed.

    Parameters
    ----------
    machine : Machine
        Has the processors.
    table : Timetable
        Says which chunks they have first, need, and are sent.
    seed : int
        Chooses the contents.
    operator : str
        How contributions are combined: ``"sum"``, ``"min"`` or ``"max"``.
    """

    def __init__(self, machine: Machine, table: Timetable, seed: int, operator: str = "sum"):
        self._machine, self._table, self._seed = machine, table, seed
        self._combine = OPERATORS[operator]
        self._total = count_chunks(table.collective, table.processors, table.chunks)
        stated = table.collective != UNSTATED
        nodes = np.sort(machine.nodes[machine.nodes < table.processors])
        first = starts(table, nodes) if stated else (nodes[:0], nodes[:0])
        self._needed = needs(table, nodes) if stated else first
        slots = machine.slots(np.stack([table.sender, table.receiver]))
        sent, got = (slots >= 0) & (slots < machine.placement.count)
        pairs = [
            first,
            self._needed,
            (table.sender[sent], table.chunk[sent]),
            (table.receiver[got], table.chunk[got]),
        ]
        self._keys = np.unique(np.concatenate([self._key(*pair) for pair in pairs]))
        words = -(-table.processors // BITS) if table.collective in SUMS else 0
        require_memory(8 * (words + 2) * len(self._keys), "Holding the chunks of the schedule")
        self._values = np.full(len(self._keys), NEUTRAL[operator], np.uint64)
        self._givers = np.zeros((len(self._keys), words), np.uint64)
        if stated:
            place = self._find(*first)
            self._values[place] = contents(table, seed, *first)
            if words:
                bit = np.uint64(1) << (first[0] % BITS).astype(np.uint64)
                self._givers[place, first[0] // BITS] = bit
        self._arrivals: Arrivals | None = None
        if table.since is not None and words:
            self._arrivals = Arrivals(self._combine, NEUTRAL[operator], words)
            self._arrivals.note(place, 0, first[0], self._numbers(place), place[:0])

    def _key(self, nodes: Ints, chunks: Ints) -> Ints:
        return nodes * self._total + chunks

    def _find(self, nodes: Ints, chunks: Ints) -> Ints:
        """Find the places of these; all of them are there."""
        return np.searchsorted(self._keys, self._key(nodes, chunks))

    def _numbers(self, places: Ints) -> Ints:
        """Values and who is in them, as words."""
        return np.column_stack([self._values[places], self._givers[places]]).view(np.int64)

    @property
    def width(self) -> int:
        """Words of a message."""
        return HEAD + self._givers.shape[1]

    def messages(self, rows: Timetable) -> Ints:
        """Return what these rows' senders send, shape (k, words)."""
        place = self._find(rows.sender, rows.chunk)
        found = np.zeros((len(rows), self.width), np.int64)
        found[:, 0] = rows.chunk
        if rows.add is not None:
            found[:, 1] = rows.add
        found[:, 2] = rows.sender
        found[:, HEAD - 1 :] = self._numbers(place)
        if self._arrivals is not None and rows.since is not None:
            parts = np.flatnonzero(rows.since != WHOLE)
            asked = place[parts], rows.since[parts], rows.receiver[parts]
            found[parts, HEAD - 1 :] = self._arrivals.since(*asked)
        return found

    def take(self, nodes: Ints, payload: Ints, step: int) -> tuple[int, int, int] | None:
        """Keep what came, copies first; processor, chunk, giver of a sum that counts one twice."""
        payload = np.ascontiguousarray(payload)
        place = self._find(nodes, payload[:, 0])
        values = np.ascontiguousarray(payload[:, HEAD - 1]).view(np.uint64)
        givers = np.ascontiguousarray(payload[:, HEAD:]).view(np.uint64)
        copies, left = np.flatnonzero(payload[:, 1] == 0), np.flatnonzero(payload[:, 1])
        self._values[place[copies]] = values[copies]
        self._givers[place[copies]] = givers[copies]
        if self._arrivals is not None:
            numbers = payload[:, HEAD - 1 :]
            self._arrivals.note(place, step, payload[:, 2], numbers, place[copies])
        while len(left):
            at, index = np.unique(place[left], return_index=True)
            rows = left[index]
            both = self._givers[at] & givers[rows]
            if both.any():
                which, word = np.argwhere(both)[0].tolist()
                low = int(both[which, word])
                giver = word * BITS + (low & -low).bit_length() - 1
                return int(nodes[rows[which]]), int(payload[rows[which], 0]), giver
            self._values[at] = self._combine(self._values[at], values[rows])
            self._givers[at] |= givers[rows]
            left = np.delete(left, index)
        return None

    def short(self) -> int:
        """Count the processors without the right number for a chunk that they need (collective)."""
        nodes, chunks = self._needed
        found = self._values[self._find(nodes, chunks)]
        wrong = found != results(self._table, self._seed, chunks, self._combine)
        return self._machine.sum(len(np.unique(nodes[wrong])))[0]

    def value(self, node: int, chunk: int) -> int:
        """The number that a processor holds of a chunk (collective)."""
        here = self._machine.nodes == node
        found = self._values[self._find(np.full(int(here.sum()), node), np.full(1, chunk))]
        return self._machine.sum(int(found.view(np.int64).sum()))[0] % 2**64

    def state(self) -> Fields:
        """Return what a checkpoint holds of it."""
        nodes, chunks = np.divmod(self._keys, self._total)
        numbers = [nodes, chunks, self._values.view(np.int64)]
        rows = [np.stack(numbers, axis=1), self._givers.view(np.int64)]
        fields: dict[str, Any] = {"holdings": Located(np.concatenate(rows, axis=1))}
        if self._arrivals is not None:
            came = self._arrivals.rows
            ends = np.column_stack([nodes[came[:, 0]], chunks[came[:, 0]]])
            fields["arrivals"] = Located(np.column_stack([ends, came[:, 1:]]))
        return fields

    def restore(self, found: Mapping[str, Any]) -> None:
        """Go on from what `state` gave on any ranks."""
        rows = found["holdings"]
        place = self._find(rows[:, 0], rows[:, 1])
        self._values[place] = np.ascontiguousarray(rows[:, 2]).view(np.uint64)
        self._givers[place] = np.ascontiguousarray(rows[:, 3:]).view(np.uint64)
        if self._arrivals is not None:
            came = found["arrivals"]
            at = self._find(came[:, 0], came[:, 1])
            self._arrivals.rows = np.column_stack([at, came[:, 2:]])


def lower_bound(machine: Machine, table: Timetable) -> Bound:
    """Steps that no schedule of the collective beats, one chunk a message (collective).

    That of one chunk a unit, and what every processor has to receive, at most one chunk in a step
    from each channel or as many as it may accept.
    """
    if machine.topology.hosts == 1:
        return Bound(0, "ends")
    model, root = machine.model, table.root or 0
    simple = {
        "broadcast": lambda: bounds.broadcast_bound(machine, root),
        "reduce": lambda: bounds.broadcast_bound(machine, root),
        "gossip": lambda: bounds.gossip_bound(machine),
        "scatter": lambda: bounds.scatter_bound(machine, root),
        "gather": lambda: bounds.gather_bound(machine, root),
        "exchange": lambda: bounds.exchange_bound(machine),
    }
    if model.send == model.receive:
        simple["reducescatter"] = simple["gossip"]
    least = simple.get(table.collective, lambda: bounds.combining_gossip_bound(machine))()
    nodes = np.sort(machine.nodes[machine.nodes < table.processors])
    owners, chunks = needs(table, nodes)
    lacking = np.ones(len(owners), bool)
    if table.collective not in SUMS:
        lacking = ~holds_first(table, owners, chunks)
    wanted = np.bincount(np.searchsorted(nodes, owners[lacking]), minlength=len(nodes))
    doors = bounds.channels(machine, nodes)
    if model.receive is not None:
        doors = np.minimum(doors, model.receive)
    received = -(-wanted // np.maximum(doors, 1))
    least = max(least, Bound(machine.max(int(received.max(initial=0)))[0], "ends"))
    whole = (model.send, model.receive) in ((1, 1), (None, None)) and not model.half_duplex
    if not whole or table.chunks == 1:
        return least
    return max(least, steps_and_rate(machine, table.collective, root, table.chunks)[0])
