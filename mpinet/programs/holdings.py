"""Chunks held by processors, in three representations, and the messages of a step.

`SingleNumbers` stores one number per processor, `MarkedChunks` one bit per processor and chunk, and
`KeyedChunks` one value per pair in use.
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
"""Number of bits per word of a set."""

OPERATORS = {"min": np.minimum, "max": np.maximum, "sum": np.add}
"""Commutative functions of two items. Sums are taken modulo 2^64."""

NEUTRAL = {"sum": 0, "min": 2**64 - 1, "max": 0}
"""Value of a reduction without contributions, as an unsigned integer."""


class RoutedEnds(NamedTuple):
    """Messages carried by the network's routing within one move."""

    targets: Ints
    """Target of each message. Shape (k,)."""
    numbers: Ints
    """Number of each message, as in `Router.inject`. Shape (k,)."""
    total: int
    """Number of messages on the whole machine."""
    routing: Routing | None = None
    """The routing; None: the network's default routing."""


class ChunkSends(NamedTuple):
    """Messages sent by this rank's processors in a step."""

    slots: Ints
    """Slot of each sender. Shape (k,)."""
    ports: Ints
    """Port of each sender. Shape (k,)."""
    chunks: Ints | int = 0
    """Chunk of each message. Shape (k,)."""
    rows: Timetable | None = None
    """Rows of the messages, for sums; a row states whether its message is added."""
    payload: Ints | None = None
    """Contents of the messages; None: the chunks held by the senders. Shape (k, ..)."""
    listen: tuple[Ints, Ints] | None = None
    """Nodes and ports that accept messages; None: all."""
    word: int = 0
    """This rank's number for the sum over all ranks in `ChunksCame.total`."""
    plan: Plan | None = None
    """Plan of these sends, if they repeat."""
    route: RoutedEnds | None = None
    """Targets of the messages, if the routing carries them; ports are then ignored."""
    step: int = 0
    """Step of a routed timetable; 0: use the machine's step."""


class ChunksCame(NamedTuple):
    """Messages received by this rank's processors in a step."""

    slots: Ints
    """Slot of each receiver. Shape (m,)."""
    nodes: Ints
    """Receivers. Shape (m,)."""
    ports: Ints
    """Ports of the receivers. Shape (m,)."""
    payload: Ints
    """Contents of the messages. Shape (m, ..)."""
    total: int
    """Sum of all ranks' `ChunkSends.word`."""


class Holdings(Protocol):
    """Chunks held by this rank's processors."""

    def messages(self, sends: ChunkSends) -> Ints:
        """Return the contents of messages, taken from the senders' holdings. Shape (k, ..)."""

    def take(self, came: ChunksCame, step: int) -> None:
        """Store the messages received in a step."""


NOTHING = 0
"""Content of uninformed processors; never the message's number."""


class SingleNumbers:
    """One number per processor: the message of a broadcast, or the sum of a reduction.

    Parameters
    ----------
    machine : Machine
        Machine with the processors.
    values : ndarray of int64, shape (hosted,)
        Initial numbers; `NOTHING` at processors without a number.
    combine : ufunc, optional
        Combines a received number with the held number. Default: the received number replaces it.
    """

    def __init__(self, machine: Machine, values: Ints, combine: np.ufunc | None = None):
        self._machine, self._combine = machine, combine
        self.values: Ints = values
        """Number of each processor. Shape (hosted,)."""
        self._last = 0

    def state(self) -> Fields:
        """Return the fields for a checkpoint."""
        return {"held": Numbered(self.values, self._machine.nodes), "last": Largest(self._last)}

    def restore(self, found: Mapping[str, Any]) -> None:
        """Restore the fields saved by `state`, possibly on another number of ranks."""
        self.values, self._last = found["held"], found["last"]

    def messages(self, sends: ChunkSends) -> Ints:
        """Return the number held by each sender, as the contents of its message."""
        return self.values[sends.slots]

    def take(self, came: ChunksCame, step: int) -> None:
        """Store or combine the received numbers."""
        machine = self._machine
        if self._combine is not None:
            # `at` also combines several messages to one processor in the same step.
            self._combine.at(self.values, came.slots, came.payload)
            return
        hosts = machine.topology.hosts
        if store_numbers(came.slots, came.payload, machine.nodes, hosts, self.values):
            self._last = machine.steps

    def last_step(self, begun: int) -> int:
        """Return the step in which the last processor received its first number (collective).

        Parameters
        ----------
        begun : int
            Steps of the machine before the first one: the result if no processor received a number.
        """
        return self._machine.max(max(self._last, begun))[0]

    def count(self, value: int) -> int:
        """Return the number of processors that hold `value` (collective)."""
        hosts = self._machine.nodes < self._machine.topology.hosts
        return self._machine.sum(int((self.values[hosts] == value).sum()))[0]


@kernel
def store_numbers(slots: Ints, payload: Ints, nodes: Ints, hosts: int, held: Ints) -> bool:
    """Write received numbers; return whether a processor (not a switch) held nothing before."""
    learned = False
    for i in range(slots.size):
        slot = slots[i]
        learned |= held[slot] == NOTHING and nodes[slot] < hosts
        held[slot] = payload[i]
    return learned


class MarkedChunks:
    """Copied chunks, as one bit per processor and chunk.

    A message carries its chunk's content. Only chunks received with the right content are marked,
    so a mark stands for the content. Processors that received a wrong content are recorded.

    Parameters
    ----------
    machine : Machine
        Machine with the processors.
    purpose : Purpose
        Determines the chunks, and the processors that hold and need them.
    seed : int
        Seed of the contents.
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
        """Return the fields for a checkpoint."""
        nodes = self._machine.nodes
        return {"bits": Numbered(self._bits, nodes), "wrong": Numbered(self._wrong, nodes)}

    def restore(self, found: Mapping[str, Any]) -> None:
        """Restore the fields saved by `state`, possibly on another number of ranks."""
        self._bits, self._wrong = found["bits"], found["wrong"]

    def messages(self, sends: ChunkSends) -> Ints:
        """Return chunks and contents, shape (k, 2).

        The content is `NOTHING` if the sender lacks the chunk.
        """
        payload = np.empty((len(sends.slots), 2), np.int64)
        payload[:, 0] = sends.chunks
        # The content travels although receivers could compute it: faults of the machine must show.
        write_contents(self._seed, sends.slots, self._bits, payload)
        return payload

    def take(self, came: ChunksCame, step: int = 0) -> None:
        """Mark the chunks received with the right content."""
        payload = np.ascontiguousarray(came.payload)
        mark_right(self._seed, came.slots, payload, self._bits, self._wrong)

    def short(self) -> int:
        """Return the number of processors with a missing or a wrong needed chunk (collective)."""
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
            # All chunks are needed, so counting bits replaces a list of all pairs.
            counts = np.zeros(len(slots), np.int64)
            count_bits(self._bits[slots], counts)
            needing = (self._purpose.kind.needs == "all") | (hosts == self._purpose.root)
            lacking |= needing & (counts < self._purpose.total)
        return self._machine.sum(int(lacking.sum()))[0]


@kernel
def mark_bits(slots: Ints, chunks: Ints, bits: WordRows) -> None:
    """Set the bits of chunks that processors hold."""
    for i in range(slots.size):
        chunk = int(chunks[i])
        bits[slots[i], chunk >> 6] |= np.uint64(1) << np.uint64(chunk & 63)


@kernel
def write_contents(seed: int, slots: Ints, bits: WordRows, payload: Table) -> None:
    """Write each message's content next to its chunk number.

    The content is `NOTHING` if the sender lacks the chunk.
    """
    for i in range(slots.size):
        chunk = int(payload[i, 0])
        held = (bits[slots[i], chunk >> 6] >> np.uint64(chunk & 63)) & np.uint64(1)
        payload[i, 1] = draw(seed, chunk, chunk) if held else NOTHING


@kernel
def mark_right(seed: int, slots: Ints, payload: Table, bits: WordRows, wrong: Flags) -> None:
    """Mark chunks received with the right content, and processors that received a wrong content."""
    for i in range(slots.size):
        chunk = int(payload[i, 0])
        if payload[i, 1] != draw(seed, chunk, chunk):
            # A wrong content marks no chunk, and stays recorded even if the right one arrives
            # later.
            wrong[slots[i]] = True
        else:
            bits[slots[i], chunk >> 6] |= np.uint64(1) << np.uint64(chunk & 63)


class ChunkGroup(NamedTuple):
    """Processors of one collective, and the position of their chunks among all chunks."""

    purpose: Purpose
    """The collective, in the group's own numbers."""
    place: Ints | None = None
    """Node of each processor of the group; None: the same number. Shape (processors,)."""
    first: int = 0
    """Number of the group's chunk 0 among the chunks of all groups."""


class KeyedChunks:
    """Chunks with their values, one for each pair of processor and chunk in use.

    Sums carry the set of their contributors, so no contribution is counted twice.

    Parameters
    ----------
    machine : Machine
        Machine with the processors.
    groups : sequence of ChunkGroup
        Determine the chunks, and the processors that hold and need them.
    table : Timetable
        All messages, equal on all ranks.
    seed : int
        Seed of the contents.
    operator : str
        Operator for contributions: ``"sum"``, ``"min"`` or ``"max"``.
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
        """Convert a group's processors and chunks to slots and chunk numbers of the machine."""
        nodes = nodes if group.place is None else group.place[nodes]
        return self._machine.slots(nodes), chunks + group.first

    def _index(self, table: Timetable, pairs: list[tuple[Ints, Ints]]) -> None:
        """Index the pairs in use, or the whole grid if more than half of all pairs are used."""
        count = self._machine.placement.count
        for nodes in (table.sender, table.receiver):
            slots = self._machine.slots(nodes)
            here = (slots >= 0) & (slots < count)
            pairs.append((slots[here], table.chunk[here]))
        self._keys: Ints | None = None
        self._size = count * self._total
        # A full grid needs neither keys nor a search: indices follow from the numbers. Up to half
        # of the grid is wasted.
        if 2 * sum(len(slots) for slots, _ in pairs) < self._size:
            keys = [slots * self._total + chunks for slots, chunks in pairs]
            self._keys = np.unique(np.concatenate(keys))
            self._size = len(self._keys)

    def _find(self, slots: Ints, chunks: Ints | int) -> Ints:
        """Return the storage index of each pair of slot and chunk, all of which must be in use."""
        keys: Ints = slots * self._total + chunks
        return keys if self._keys is None else np.searchsorted(self._keys, keys)

    def _numbers(self, places: Ints) -> Ints:
        """Return values and sets of contributors at storage indices, as words."""
        return np.column_stack([self._values[places], self._givers[places]]).view(np.int64)

    def messages(self, sends: ChunkSends) -> Ints:
        """Return the messages' chunks and values, shape (k, 2).

        In sums, rows start with a flag for addition and the sender, and end with the set of
        contributors.
        """
        place, rows = self._find(sends.slots, sends.chunks), sends.rows
        numbers = self._numbers(place)
        if not self._words:
            return np.column_stack([sends.chunks, numbers])
        assert rows is not None
        if self._arrivals is not None and rows.since is not None:
            # A part of a sum contains the arrivals since a step, without the receiver's own
            # contributions.
            parts = np.flatnonzero(rows.since != WHOLE)
            asked = place[parts], rows.since[parts], rows.receiver[parts]
            numbers[parts] = self._arrivals.since(*asked)
        adds = np.zeros(len(place), bool) if rows.add is None else rows.add
        return np.column_stack([sends.chunks, adds, rows.sender, numbers])

    def take(self, came: ChunksCame, step: int) -> None:
        """Store received chunks, copies first; errors are raised on all ranks.

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
        # Copies replace a sum. They go first, so additions of the same step are not lost.
        copies, left = np.flatnonzero(payload[:, 1] == 0), np.flatnonzero(payload[:, 1])
        self._values[place[copies]] = values[copies]
        self._givers[place[copies]] = givers[copies]
        if self._arrivals is not None:
            self._arrivals.note(place, step, payload[:, 2], payload[:, 3:], place[copies])
        while len(left):
            # One message per sum at a time, because fancy assignment keeps only one of several.
            at, index = np.unique(place[left], return_index=True)
            rows = left[index]
            # Sums modulo 2^64 would hide a contribution counted twice; sets reveal it.
            both = self._givers[at] & givers[rows]
            if both.any():
                which, word = np.argwhere(both)[0].tolist()
                low = int(both[which, word])
                giver = word * BITS + (low & -low).bit_length() - 1
                raise UsageError(
                    f"step {step}: processor {nodes[rows[which]]} adds to chunk "
                    f"{payload[rows[which], 0]} a second time the contribution of processor "
                    f"{giver}."
                )
            self._values[at] = self._combine(self._values[at], values[rows])
            self._givers[at] |= givers[rows]
            left = np.delete(left, index)

    def short(self, which: int = 0) -> int:
        """Return how many of a group's processors have a wrong or missing chunk (collective)."""
        group, nodes, chunks = self._needed[which]
        found = self._values[self._find(*self._seats(group, nodes, chunks))]
        wrong = found != results(group.purpose, self._seed, chunks, self._combine)
        return self._machine.sum(len(np.unique(nodes[wrong])))[0]

    def value(self, node: int, chunk: int, which: int = 0) -> int:
        """Return the value of a chunk held by a group's processor (collective)."""
        group = self._groups[which]
        here = self._hosted(group)
        here = here[here == node]
        found = self._values[self._find(*self._seats(group, here, np.full_like(here, chunk)))]
        return self._machine.sum(int(found.view(np.int64).sum()))[0] % 2**64

    def state(self) -> Fields:
        """Return the fields for a checkpoint."""
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
        """Restore the fields saved by `state`, possibly on another number of ranks."""
        rows = found["holdings"]
        place = self._find(self._machine.slots(rows[:, 0]), rows[:, 1])
        self._values[place] = np.ascontiguousarray(rows[:, 2]).view(np.uint64)
        self._givers[place] = np.ascontiguousarray(rows[:, 3:]).view(np.uint64)
        if self._arrivals is not None:
            came = found["arrivals"]
            at = self._find(self._machine.slots(came[:, 0]), came[:, 1])
            self._arrivals.rows = np.column_stack([at, came[:, 2:]])


def first_rows(purpose: Purpose, seed: int, nodes: Ints, chunks: Ints) -> Ints:
    """Return chunks and their initial contents at processors, shape (k, 2)."""
    values = contents(purpose, seed, nodes, chunks).view(np.int64)
    return np.stack([chunks, values], axis=1)


def all_came(machine: Machine, purpose: Purpose, seed: int, nodes: Ints, rows: Ints) -> bool:
    """Return whether every processor received each lacked chunk once, and no other (collective).

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
    # Sorted keys as lists: a chunk received twice differs from a chunk received once.
    keys = np.sort(owners[lacking] * purpose.total + wanted[lacking])
    chunks = rows[:, 0]
    right = np.array_equal(np.sort(nodes * purpose.total + chunks), keys)
    right = right and np.array_equal(first_rows(purpose, seed, nodes, chunks)[:, 1], rows[:, 1])
    return machine.sum(int(not right))[0] == 0


def holdings_of(
    machine: Machine, table: Timetable, seed: int, operator: str = "sum"
) -> MarkedChunks | KeyedChunks:
    """Return the holdings for a timetable: marks if smaller than values by key."""
    purpose = table.purpose
    # The choice must be equal on all ranks, and after a resume on another number of ranks.
    words, size = -(-purpose.total // BITS), machine.topology.size
    if not purpose.kind.adds and words * size <= 4 * len(table) + 2 * size:
        return MarkedChunks(machine, purpose, seed)
    return KeyedChunks(machine, [ChunkGroup(purpose)], table, seed, operator)
