"""Gossip by translations: the receives of one processor determine the receives of all others.

Suppose a translation of the network maps every processor to any other one. A schedule may then look
the same from all processors. Suppose processor 0 receives the item of x over its port p in step t.
Every processor v then receives over port p the item at the same relative position. The schedule is
stored as N - 1 rows for N (N - 1) messages. These rows and the translations are checked link by
link.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpinet.base.arrays import Ints, Table
from mpinet.compiled import kernel
from mpinet.draws import draw32
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.machine.state import Numbered, State
from mpinet.networks.topology import Topology
from mpinet.networks.translations import Translations
from mpinet.programs.holdings import ChunkSends, MarkedChunks
from mpinet.programs.playing import StepProgram
from mpinet.programs.starts import best_rows

STARTS = 64
"""Number of starts on a small network, with seeds 0, 1 and so on; the best one is returned."""

LOOKS = 2**26
"""Approximate maximum number of links and items examined by all starts."""

NEAR = 16
"""Number of random bits that order items of equal distance."""


@dataclass(frozen=True, eq=False)
class Orbit:
    """The messages to processor 0; all other messages are translations of them."""

    translations: Translations
    """Translations of the network."""
    rows: Table
    """Step, link and item; the link is an index into `Translations.ports`. Shape (N - 1, 3)."""

    @classmethod
    def of(cls, topology: Topology, one_port: bool) -> Orbit:
        """Find a schedule with few steps.

        Parameters
        ----------
        topology : Topology
            A network of links.
        one_port : bool
            If True, every processor sends and receives at most one message per step; otherwise one
            per link.

        Raises
        ------
        UsageError, TooLarge
            The network has no translations, or too many.
        """
        found = Translations.of(topology)
        if found is None:
            raise UsageError(
                f"{topology.name} has no translations: gossip 'translations' is for networks whose "
                "processors all look alike, and number their ports, or themselves, alike."
            )
        links, size = found.images.shape
        most = 1 if one_port else links
        room = np.empty((size - 1, 3), np.int64)

        def take(seed: int) -> int:
            return int(take_translated(found.images, found.distance, most, seed, room))

        if size == 1:
            return cls(found, room)
        # The diameter is a lower bound, and each of size - 1 items has to arrive over one of the
        # links.
        bound = max(found.diameter, -(-(size - 1) // most))
        rows = best_rows(take, room, min(STARTS, LOOKS // (links * links * size)), bound)
        return cls(found, rows)

    @property
    def steps(self) -> int:
        """Step of the last arrival."""
        return int(self.rows[:, 0].max(initial=0))

    @property
    def held(self) -> Ints:
        """Item sent in each row, as its position relative to the sender. Shape (N - 1,)."""
        _, link, item = self.rows.T
        return np.argsort(self.translations.images, axis=1)[link, item]

    def right(self, one_port: bool) -> bool:
        """Return whether the messages of all processors bring every item to every processor.

        Four properties are checked. The translations are automorphisms. Processor 0 receives every
        other item exactly once. A link carries one message per step; with one port, all links of a
        processor together do. An item reaches processor 0 before the step of its send. A
        translation maps processor 0 to any other sender, so these properties of processor 0 hold
        for all processors.
        """
        step, link, item = self.rows.T
        size = self.translations.images.shape[1]
        if not self.translations.hold() or not np.array_equal(np.sort(item), np.arange(1, size)):
            return False
        used = step if one_port else step * len(self.translations.ports) + link
        came = np.zeros(size, np.int64)
        came[item] = step
        return len(np.unique(used)) == len(used) and bool((came[self.held] < step).all())


def move_translated(machine: Machine, orbit: Orbit, held: MarkedChunks) -> StepProgram:
    """Yield the sends of all messages of an orbit, which is equal on all ranks."""
    translations, topology, nodes = orbit.translations, machine.topology, machine.nodes
    # A translation is a permutation, and sorting inverts it: the result is the sender of each link.
    behind = np.argsort(translations.neighbors, axis=1)[:, nodes]
    into = np.take_along_axis(translations.ports, behind, axis=1)
    ports = topology.reverse_port(behind, into).T
    # A processor's chunks, indexed by the position of their source relative to the processor.
    chunks = np.full((len(nodes), topology.size), -1, np.int64)
    chunks[:, 0] = nodes
    begins = np.searchsorted(orbit.rows[:, 0], np.arange(1, orbit.steps + 2))
    link_of = np.zeros((len(nodes), topology.ports), np.int64)
    own_ports = translations.ports[:, nodes].T
    np.put_along_axis(link_of, own_ports, np.arange(own_ports.shape[1])[np.newaxis], axis=1)
    sent, brings = orbit.held, np.zeros(len(translations.ports), np.int64)
    kept = Numbered(chunks, nodes)
    with State(machine, "translations", held, step=0, chunks=kept) as state:
        chunks = state.chunks
        while state.step < orbit.steps:
            rows = slice(*begins[state.step : state.step + 2])
            state.step += 1
            link, item = orbit.rows[rows, 1], orbit.rows[rows, 2]
            senders = np.repeat(np.arange(len(nodes)), len(link))
            came = yield ChunkSends(senders, ports[:, link].ravel(), chunks[:, sent[rows]].ravel())
            brings[link] = item
            chunks[came.slots, brings[link_of[came.slots, came.ports]]] = came.payload[:, 0]
            state.boundary()


@kernel
def take_translated(images: Table, distance: Ints, most: int, seed: int, rows: Table) -> int:
    """Run one start; write rows (step, link, item) for processor 0 and return their number.

    Every step uses a largest matching of links and items; the farthest items are tried first.
    """
    links, size = images.shape
    keys = np.empty(size, np.int64)
    for item in range(size):
        noise = draw32(int(seed), int(item), 0, 15) & ((1 << NEAR) - 1)
        keys[item] = noise - ((distance[item] if seed & 1 == 0 else 0) << NEAR)
    order = np.argsort(keys)
    rank = np.empty(size, np.int64)
    for place in range(size):
        rank[order[place]] = place
    held = np.zeros(size, np.bool_)
    # Arrays by rank of items: whether a link can bring the item, the first rank to test, and the
    # link for the item in this step.
    ready = np.zeros((links, size), np.bool_)
    low = np.full(links, size)
    brought_by = np.full(size, -1)
    brings = np.full(links, -1)
    seen, via = np.zeros(size, np.int64), np.empty(size, np.int64)
    queue = np.empty(links + 1, np.int64)
    count, step, search, new = 0, 0, 0, 0
    held[0] = True
    for link in range(links):
        low[link] = rank[images[link, 0]]
        ready[link, low[link]] = True
    while count < size - 1:
        step += 1
        before = count
        for turn in range(links):
            if count - before == most:
                break
            first = (turn + step) % links
            search += 1
            queue[0] = first
            head, tail, found = 0, 1, -1
            while head < tail and found < 0:
                link = queue[head]
                head += 1
                while low[link] < size and not ready[link, low[link]]:
                    low[link] += 1
                for at in range(low[link], size):
                    if not ready[link, at] or seen[at] == search:
                        continue
                    seen[at], via[at] = search, link
                    if brought_by[at] < 0:
                        found = at
                        break
                    queue[tail] = brought_by[at]
                    tail += 1
            if found < 0:
                continue
            count += 1
            # Each link on the path to the free item leaves its old item to the previous link.
            at = found
            while True:
                link = via[at]
                other = brings[link]
                brings[link], brought_by[at] = at, link
                if link == first:
                    break
                at = other
        if count == before:
            break
        new = before
        for link in range(links):
            if brings[link] >= 0:
                at = brings[link]
                rows[new, 0], rows[new, 1], rows[new, 2] = step, link, order[at]
                new += 1
                held[order[at]] = True
                brings[link], brought_by[at] = -1, -1
                for other in range(links):
                    ready[other, at] = False
        # At the end of the step: an item received in a step can be sent in the next one at the
        # earliest.
        for row in range(before, new):
            for link in range(links):
                item = images[link, rows[row, 2]]
                if not held[item]:
                    ready[link, rank[item]] = True
                    low[link] = min(low[link], rank[item])
    return count
