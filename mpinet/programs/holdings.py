"""Chunks that processors hold, in three forms behind one face, and the messages of a step.

`SingleNumbers` keeps one number per processor, `MarkedChunks` a bit per processor and chunk, and
`KeyedChunks` a value for each pair that occurs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from mpinet.base.arrays import Flags, Ints, Table, WordRows
from mpinet.base.memory import require_memory
from mpinet.compiled import kernel
from mpinet.draws import draw
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.machine.plan import Plan
from mpinet.machine.state import Fields, Largest, Located, Numbered
from mpinet.networks.routing import Routing
from mpinet.programs.arrivals import Contributions
from mpinet.programs.kinds import Purpose
from mpinet.programs.schedules.chunks import contents, holds_first, needs, results, starts
from mpinet.programs.schedules.timetable import WHOLE, Timetable
from mpinet.programs.waves import count_bits

BITS = 64
"""Bits of a word of a set."""

OPERATORS = {"min": np.minimum, "max": np.maximum, "sum": np.add}
"""Functions of two items, whose order does not matter. Sums are taken modulo 2^64."""

NEUTRAL = {"sum": 0, "min": 2**64 - 1, "max": 0}
"""Value of a sum without contributions, as a number without a sign."""


class RoutedEnds(NamedTuple):
    """Messages that the network's routing carries within one move."""

    targets: Ints
    """Target of each message. Shape (k,)."""
    numbers: Ints
    """Number of each message, as in `Router.inject`. Shape (k,)."""
    total: int
    """Messages on the whole machine."""
    routing: Routing | None = None
    """The routing; None: the network's first."""


class ChunkSends(NamedTuple):
    """The messages that this rank's processors send in a step."""

    slots: Ints
    """Slot of each sender. Shape (k,)."""
    ports: Ints
    """Port of each sender. Shape (k,)."""
    chunks: Ints | int = 0
    """Chunk of each message. Shape (k,)."""
    rows: Timetable | None = None
    """Rows of the messages, where sums are sent; they tell which messages add."""
    payload: Ints | None = None
    """Contents of the messages; None: what the senders hold. Shape (k, ..)."""
    listen: tuple[Ints, Ints] | None = None
    """Nodes and ports that accept; None: all."""
    word: int = 0
    """Number of which `ChunksCame.total` is the sum over all ranks."""
    plan: Plan | None = None
    """Plan of these sends, if they repeat."""
    route: RoutedEnds | None = None
    """Ends of the messages, if the routing carries them; ports do not count then."""
    step: int = 0
    """Step of a timetable that is routed; 0: the machine's step counts."""


class ChunksCame(NamedTuple):
    """The messages that this rank's processors receive in a step."""

    slots: Ints
    """Slot of each receiver. Shape (m,)."""
    nodes: Ints
    """Receivers. Shape (m,)."""
    ports: Ints
    """Ports of the receivers. Shape (m,)."""
    payload: Ints
    """Contents of the messages. Shape (m, ..)."""
    total: int
    """Sum of the ranks' words."""


class Holdings(Protocol):
    """The chunks that this rank's processors hold."""

    def messages(self, sends: ChunkSends) -> Ints:
        """Return the contents of messages: what the senders really hold. Shape (k, ..)."""

    def take(self, came: ChunksCame, step: int) -> None:
        """Keep what has come in a step."""


NOTHING = 0
"""Content of uninformed processors; never the message's number."""


class SingleNumbers:
    """One number per processor: the message of a broadcast, or the sum of a reduction.

    Parameters
    ----------
    machine : Machine
        Has the processors.
    values : ndarray of int64, shape (hosted,)
        The first numbers; `NOTHING` where a processor has none.
    combine : ufunc, optional
        Combines what comes with what is there. Default: what comes replaces it.
    """

    def __init__(self, machine: Machine, values: Ints, combine: np.ufunc | None = None):
        self._machine, self._combine = machine, combine
        self.values: Ints = values
        """Number of each processor. Shape (hosted,)."""
        self._last = 0

    def state(self) -> Fields:
        """Return what a checkpoint holds of it."""
        return {"held": Numbered(self.values, self._machine.nodes), "last": Largest(self._last)}

    def restore(self, found: Mapping[str, Any]) -> None:
        """Go on from what `state` gave on any ranks."""
        self.values, self._last = found["held"], found["last"]

    def messages(self, sends: ChunkSends) -> Ints:
        """Return the senders' numbers."""
        return self.values[sends.slots]

    def take(self, came: ChunksCame, step: int) -> None:
        """Keep or combine what has come."""
        machine = self._machine
        if self._combine is not None:
            # `at` counts a processor that receives several messages in one step once for each of
            # them.
            self._combine.at(self.values, came.slots, came.payload)
            return
        hosts = machine.topology.hosts
        if store_numbers(came.slots, came.payload, machine.nodes, hosts, self.values):
            self._last = machine.steps

    def last_step(self, begun: int) -> int:
        """Return the machine's step in which the last processor learned a number (collective).

        Parameters
        ----------
        begun : int
            The machine's steps before the first one: the result if no processor has learned any.
        """
        return self._machine.max(max(self._last, begun))[0]

    def count(self, value: int) -> int:
        """Count the processors that hold this number (collective)."""
        hosts = self._machine.nodes < self._machine.topology.hosts
        return self._machine.sum(int((self.values[hosts] == value).sum()))[0]


@kernel
def store_numbers(slots: Ints, payload: Ints, nodes: Ints, hosts: int, held: Ints) -> bool:
    """Write what processors received; whether one of them, and no switch, had nothing before."""
    learned = False
    for i in range(slots.size):
        slot = slots[i]
        learned |= held[slot] == NOTHING and nodes[slot] < hosts
        held[slot] = payload[i]
    return learned


class MarkedChunks:
    """Chunks that are copied, as a bit per processor and chunk.

    A message carries its chunk's content. Only chunks that come with the right content are marked,
    so that a mark stands for the content itself; a processor that gets a wrong one is noted.

    Parameters
    ----------
    machine : Machine
        Has the processors.
    purpose : Purpose
        States which chunks there are, and which processors have and need them.
    seed : int
        Chooses the contents.
    """

    def __init__(self, machine: Machine, purpose: Purpose, seed: int):
        self._machine, self._purpose, self._seed = machine, purpose, seed
        words = -(-purpose.total // BITS)
        count = machine.placement.count
        require_memory(8 * words * count, "Holding the chunks of the schedule")
        self._bits = np.zeros((count, words), np.uint64)
        self._wrong = np.zeros(count, np.bool_)
        nodes, chunks = starts(purpose, self._hosts())
        mark_bits(machine.slots(nodes), chunks, self._bits)

    def _hosts(self) -> Ints:
        return self._machine.nodes[self._machine.nodes < self._purpose.processors]

    def state(self) -> Fields:
        """Return what a checkpoint holds of it."""
        nodes = self._machine.nodes
        return {"bits": Numbered(self._bits, nodes), "wrong": Numbered(self._wrong, nodes)}

    def restore(self, found: Mapping[str, Any]) -> None:
        """Go on from what `state` gave on any ranks."""
        self._bits, self._wrong = found["bits"], found["wrong"]

    def messages(self, sends: ChunkSends) -> Ints:
        """Return chunks and contents, shape (k, 2); a sender without the chunk sends nothing."""
        payload = np.empty((len(sends.slots), 2), np.int64)
        payload[:, 0] = sends.chunks
        # The content travels although receivers could compute it: a fault of the machine must show.
        write_contents(self._seed, sends.slots, self._bits, payload)
        return payload

    def take(self, came: ChunksCame, step: int = 0) -> None:
        """Mark the chunks that have come with the right content."""
        payload = np.ascontiguousarray(came.payload)
        mark_right(self._seed, came.slots, payload, self._bits, self._wrong)

    def short(self) -> int:
        """Count the processors without a chunk that they need, or with a wrong one (collective)."""
        hosts = self._hosts()
        slots = self._machine.slots(hosts)
        lacking = self._wrong[slots]
        if self._purpose.kind.needs == "own":
            nodes, chunks = needs(self._purpose, hosts)
            at = self._machine.slots(nodes)
            words = self._bits[at, chunks // BITS] >> (chunks % BITS).astype(np.uint64)
            missing = words & np.uint64(1) == 0
            lacking[np.searchsorted(slots, at[missing])] = True
        else:
            # All chunks are needed, so that counting bits replaces a list of all pairs.
            counts = np.zeros(len(slots), np.int64)
            count_bits(self._bits[slots], counts)
            needing = (self._purpose.kind.needs == "all") | (hosts == self._purpose.root)
            lacking |= needing & (counts < self._purpose.total)
        return self._machine.sum(int(lacking.sum()))[0]


@kernel
def mark_bits(slots: Ints, chunks: Ints, bits: WordRows) -> None:
    """Mark these chunks."""
    for i in range(slots.size):
        chunk = int(chunks[i])
        bits[slots[i], chunk >> 6] |= np.uint64(1) << np.uint64(chunk & 63)


@kernel
def write_contents(seed: int, slots: Ints, bits: WordRows, payload: Table) -> None:
    """Write the content of each message's chunk beside its number, or `NOTHING`."""
    for i in range(slots.size):
        chunk = int(payload[i, 0])
        held = (bits[slots[i], chunk >> 6] >> np.uint64(chunk & 63)) & np.uint64(1)
        payload[i, 1] = draw(seed, chunk, chunk) if held else NOTHING


@kernel
def mark_right(seed: int, slots: Ints, payload: Table, bits: WordRows, wrong: Flags) -> None:
    """Mark the chunks with the right content, and the processors that have got another one."""
    for i in range(slots.size):
        chunk = int(payload[i, 0])
        if payload[i, 1] != draw(seed, chunk, chunk):
            # A wrong content marks no chunk, but stays noted, even if the right one comes later.
            wrong[slots[i]] = True
        else:
            bits[slots[i], chunk >> 6] |= np.uint64(1) << np.uint64(chunk & 63)


class ChunkGroup(NamedTuple):
    """Processors that share a collective, and the place of their chunks among all chunks."""

    purpose: Purpose
    """The collective, in the group's own numbers."""
    place: Ints | None = None
    """The node of each of its processors; None: the same number. Shape (processors,)."""
    first: int = 0
    """Number of its chunk 0 among those of all groups."""


class KeyedChunks:
    """Chunks with their values, one for each pair of processor and chunk that occurs.

    Sums carry the set of their contributors, so that none is counted twice.

    Parameters
    ----------
    machine : Machine
        Has the processors.
    groups : sequence of ChunkGroup
        They state which chunks there are, and which processors have and need them.
    table : Timetable
        All messages, the same on all ranks.
    seed : int
        Chooses the contents.
    operator : str
        How contributions are combined: ``"sum"``, ``"min"`` or ``"max"``.
    """

    def __init__(
        self,
        machine: Machine,
        groups: Sequence[ChunkGroup],
        table: Timetable,
        seed: int,
        operator: str = "sum",
    ):
        self._machine, self._groups, self._seed = machine, groups, seed
        self._combine = OPERATORS[operator]
        self._total = sum(each.purpose.total for each in groups)
        kind, most = groups[0].purpose.kind, max(each.purpose.processors for each in groups)
        self._words = -(-most // BITS) if kind.adds else 0
        first = [(each, *starts(each.purpose, self._hosted(each))) for each in groups]
        self._needed = [(each, *needs(each.purpose, self._hosted(each))) for each in groups]
        self._index(table, [self._seats(*each) for each in (*first, *self._needed)])
        require_memory(8 * (self._words + 2) * self._size, "Holding the chunks of the schedule")
        self._values = np.full(self._size, NEUTRAL[operator], np.uint64)
        self._givers = np.zeros((self._size, self._words), np.uint64)
        self._arrivals: Contributions | None = None
        if table.since is not None and kind.adds:
            self._arrivals = Contributions(self._combine, NEUTRAL[operator], self._words)
        for group, nodes, chunks in first:
            place = self._find(*self._seats(group, nodes, chunks))
            self._values[place] = contents(group.purpose, seed, nodes, chunks)
            if kind.adds:
                bit = np.uint64(1) << (nodes % BITS).astype(np.uint64)
                self._givers[place, nodes // BITS] = bit
            if self._arrivals is not None:
                self._arrivals.note(place, 0, nodes, self._numbers(place), place[:0])

    def _hosted(self, group: ChunkGroup) -> Ints:
        """Return a group's processors on this rank, in its own numbers."""
        everybody = np.arange(group.purpose.processors)
        slots = self._machine.slots(everybody if group.place is None else group.place[everybody])
        return np.flatnonzero((slots >= 0) & (slots < self._machine.placement.count))

    def _seats(self, group: ChunkGroup, nodes: Ints, chunks: Ints) -> tuple[Ints, Ints]:
        """Return slots and chunks in the numbers of the machine."""
        nodes = nodes if group.place is None else group.place[nodes]
        return self._machine.slots(nodes), chunks + group.first

    def _index(self, table: Timetable, pairs: list[tuple[Ints, Ints]]) -> None:
        """Find the pairs that occur: all, if they are more than half of the grid."""
        count = self._machine.placement.count
        for nodes in (table.sender, table.receiver):
            slots = self._machine.slots(nodes)
            here = (slots >= 0) & (slots < count)
            pairs.append((slots[here], table.chunk[here]))
        self._keys: Ints | None = None
        self._size = count * self._total
        # A full grid needs no keys and no search: places follow from the numbers. It may waste
        # half.
        if 2 * sum(len(slots) for slots, _ in pairs) < self._size:
            keys = [slots * self._total + chunks for slots, chunks in pairs]
            self._keys = np.unique(np.concatenate(keys))
            self._size = len(self._keys)

    def _find(self, slots: Ints, chunks: Ints | int) -> Ints:
        """Find the places of pairs; all of them are there."""
        keys: Ints = slots * self._total + chunks
        return keys if self._keys is None else np.searchsorted(self._keys, keys)

    def _numbers(self, places: Ints) -> Ints:
        """Values and contributors, as words."""
        return np.column_stack([self._values[places], self._givers[places]]).view(np.int64)

    def messages(self, sends: ChunkSends) -> Ints:
        """Return chunks and values, shape (k, 2).

        Sums are preceded by whether they are added, and their senders, and followed by sets.
        """
        place, rows = self._find(sends.slots, sends.chunks), sends.rows
        numbers = self._numbers(place)
        if not self._words:
            return np.column_stack([sends.chunks, numbers])
        assert rows is not None
        if self._arrivals is not None and rows.since is not None:
            # A part of a sum is made of what came since a step, without the receiver's own
            # contributions.
            parts = np.flatnonzero(rows.since != WHOLE)
            asked = place[parts], rows.since[parts], rows.receiver[parts]
            numbers[parts] = self._arrivals.since(*asked)
        adds = np.zeros(len(place), bool) if rows.add is None else rows.add
        return np.column_stack([sends.chunks, adds, rows.sender, numbers])

    def take(self, came: ChunksCame, step: int) -> None:
        """Keep what came, copies first; an error is raised on all ranks.

        Raises
        ------
        UsageError
            A contribution would be counted twice.
        """
        payload = np.ascontiguousarray(came.payload)
        place = self._find(came.slots, payload[:, 0])
        if not self._words:
            self._values[place] = payload[:, 1].view(np.uint64)
        else:
            self._machine.checked(lambda: self._add(came.nodes, place, payload, step))

    def _add(self, nodes: Ints, place: Ints, payload: Ints, step: int) -> None:
        values = np.ascontiguousarray(payload[:, 3]).view(np.uint64)
        givers = np.ascontiguousarray(payload[:, 4:]).view(np.uint64)
        # Copies replace a sum, and what is added in the same step must not be lost: copies go
        # first.
        copies, left = np.flatnonzero(payload[:, 1] == 0), np.flatnonzero(payload[:, 1])
        self._values[place[copies]] = values[copies]
        self._givers[place[copies]] = givers[copies]
        if self._arrivals is not None:
            self._arrivals.note(place, step, payload[:, 2], payload[:, 3:], place[copies])
        while len(left):
            # One message for each sum at a time, because fancy assignment keeps only one of
            # several.
            at, index = np.unique(place[left], return_index=True)
            rows = left[index]
            # Sums modulo 2^64 would hide a contribution that is counted twice; sets show it.
            both = self._givers[at] & givers[rows]
            if both.any():
                which, word = np.argwhere(both)[0].tolist()
                low = int(both[which, word])
                giver = word * BITS + (low & -low).bit_length() - 1
                raise UsageError(
                    f"step {step}: processor {nodes[rows[which]]} adds to chunk "
                    f"{payload[rows[which], 0]} what it has in it already, such as the "
                    f"contribution of processor {giver}."
                )
            self._values[at] = self._combine(self._values[at], values[rows])
            self._givers[at] |= givers[rows]
            left = np.delete(left, index)

    def short(self, which: int = 0) -> int:
        """Count a group's processors without the right value of a needed chunk (collective)."""
        group, nodes, chunks = self._needed[which]
        found = self._values[self._find(*self._seats(group, nodes, chunks))]
        wrong = found != results(group.purpose, self._seed, chunks, self._combine)
        return self._machine.sum(len(np.unique(nodes[wrong])))[0]

    def value(self, node: int, chunk: int, which: int = 0) -> int:
        """Return the value that a group's processor holds of a chunk (collective)."""
        group = self._groups[which]
        here = self._hosted(group)
        here = here[here == node]
        found = self._values[self._find(*self._seats(group, here, np.full_like(here, chunk)))]
        return self._machine.sum(int(found.view(np.int64).sum()))[0] % 2**64

    def state(self) -> Fields:
        """Return what a checkpoint holds of it."""
        keys = np.arange(self._size) if self._keys is None else self._keys
        slots, chunks = np.divmod(keys, self._total)
        ends = np.column_stack([self._machine.nodes[slots], chunks])
        fields: dict[str, Any] = {
            "holdings": Located(np.column_stack([ends, self._numbers(np.arange(self._size))]))
        }
        if self._arrivals is not None:
            came = self._arrivals.rows
            fields["arrivals"] = Located(np.column_stack([ends[came[:, 0]], came[:, 1:]]))
        return fields

    def restore(self, found: Mapping[str, Any]) -> None:
        """Go on from what `state` gave on any ranks."""
        rows = found["holdings"]
        place = self._find(self._machine.slots(rows[:, 0]), rows[:, 1])
        self._values[place] = np.ascontiguousarray(rows[:, 2]).view(np.uint64)
        self._givers[place] = np.ascontiguousarray(rows[:, 3:]).view(np.uint64)
        if self._arrivals is not None:
            came = found["arrivals"]
            at = self._find(self._machine.slots(came[:, 0]), came[:, 1])
            self._arrivals.rows = np.column_stack([at, came[:, 2:]])


def first_rows(purpose: Purpose, seed: int, nodes: Ints, chunks: Ints) -> Ints:
    """Return chunks and contents as processors have them first, shape (k, 2)."""
    values = contents(purpose, seed, nodes, chunks).view(np.int64)
    return np.stack([chunks, values], axis=1)


def all_came(machine: Machine, purpose: Purpose, seed: int, nodes: Ints, rows: Ints) -> bool:
    """Tell if every processor got each chunk that it lacked once, and no other (collective).

    Parameters
    ----------
    nodes : ndarray of int64, shape (m,)
        This rank's receivers, one for each message.
    rows : ndarray of int64, shape (m, 2)
        Chunks and contents.
    """
    hosts = np.sort(machine.nodes)
    owners, wanted = needs(purpose, hosts[hosts < purpose.processors])
    lacking = ~holds_first(purpose, owners, wanted)
    # Sorted keys as lists: a chunk that comes twice differs from one that comes once.
    keys = np.sort(owners[lacking] * purpose.total + wanted[lacking])
    chunks = rows[:, 0]
    right = np.array_equal(np.sort(nodes * purpose.total + chunks), keys)
    right = right and np.array_equal(first_rows(purpose, seed, nodes, chunks)[:, 1], rows[:, 1])
    return machine.sum(int(not right))[0] == 0


def holdings_of(
    machine: Machine, table: Timetable, seed: int, operator: str = "sum"
) -> MarkedChunks | KeyedChunks:
    """Choose the form for a timetable: marks where they take less room than values by key."""
    purpose = table.purpose
    # Ranks must agree, and so must a run that resumes on another number of ranks.
    words, size = -(-purpose.total // BITS), machine.topology.size
    if not purpose.kind.adds and words * size <= 4 * len(table) + 2 * size:
        return MarkedChunks(machine, purpose, seed)
    return KeyedChunks(machine, [ChunkGroup(purpose)], table, seed, operator)
