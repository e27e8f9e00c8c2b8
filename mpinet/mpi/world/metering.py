"""Meters of a script's run: who loads which link, where messages queue, who waits in which call."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.memory import require_memory
from mpinet.machine import Machine, hop
from mpinet.machine.router import Router
from mpinet.machine.trace import CallSites
from mpinet.networks.routing import Routing

Site = tuple[str, str, int]
"""Call with its file and line."""

ACCOUNT_BITS = 24
"""Bits of an account's number beside a link's."""

MOST_PENDING = 1 << 20
"""Most hops that wait to be added up."""


class MeteredRouter(Router):
    """A router of a script's messages that counts hops by link and account, and who waits where.

    Parameters
    ----------
    machine, routing, payload_words
        As for `Router`.
    account : int
        Word of the payload with the number of the account that pays for a message.
    """

    def __init__(self, machine: Machine, routing: Routing, payload_words: int, account: int):
        super().__init__(machine, routing, payload_words=payload_words, keep=True, checked=False)
        hosted = len(machine.nodes)
        require_memory(16 * hosted, f"Metering a script on {machine.topology.name}")
        self.queues: Ints = np.zeros((hosted, 2), np.int64)
        """Most messages that waited at each processor in one step, and the first such step. Shape
        (hosted, 2)."""
        self._noted = True  # hops are written down, and no trace gets them
        self._column = account - payload_words
        self._pending: list[Ints] = []
        self._sums: tuple[Ints, Ints] = np.empty(0, np.int64), np.empty(0, np.int64)

    def _hop(self, granted: hop.Granting) -> tuple[Ints, Ints]:
        columns = [hop.PLACE, hop.NUMBER, self._column]
        places, numbers, accounts = self._messages[: self.live, columns].T
        counts, moves = super()._hop(granted)
        # The kernel goes through messages in their order, and writes down those that hop.
        moved = np.zeros(len(places), bool)
        order = np.searchsorted(hop.high(numbers), moves[: self._ledger.moved, 3])
        moved[order] = True
        links = hop.high(places) * self.machine.topology.ports + hop.low(places)
        self._pending.append(links[moved] << ACCOUNT_BITS | accounts[moved])
        # Summed up in batches: memory stays bounded, and sorting a large batch is cheaper than many
        # small ones.
        if sum(map(len, self._pending)) > MOST_PENDING:
            self._sums = self._added()
        self._note_queues(hop.high(places[~moved]))
        return counts, moves

    def _note_queues(self, staying: Ints) -> None:
        """Note where messages stay."""
        if len(staying):
            nodes, lengths = np.unique(staying, return_counts=True)
            slots = self.machine.slots(nodes)
            longer = lengths > self.queues[slots, 0]
            self.queues[slots[longer]] = np.column_stack(
                [lengths[longer], np.full(np.count_nonzero(longer), self.machine.steps + 1)]
            )

    def _added(self) -> tuple[Ints, Ints]:
        """Links with accounts, ascending, and how many hops there were of each."""
        keys, counts = self._sums
        new, added = np.unique(np.concatenate([*self._pending, keys[:0]]), return_counts=True)
        self._pending = []
        both, place = np.unique(np.concatenate([keys, new]), return_inverse=True)
        total = np.zeros(len(both), np.int64)
        np.add.at(total, place.reshape(-1), np.concatenate([counts, added]))
        return both, total

    @property
    def loads(self) -> Ints:
        """Hops by link (node times ports, and port) and account: link, account, hops."""
        self._sums = keys, counts = self._added()
        return np.column_stack([keys >> ACCOUNT_BITS, keys & ((1 << ACCOUNT_BITS) - 1), counts])


class Waits:
    """Steps that processors spend in their calls.

    Parameters
    ----------
    calls : CallSites, optional
        Calls of a recording, which are noted, too.
    """

    def __init__(self, calls: CallSites | None = None):
        self.by_line: Counter[Site] = Counter()
        """Steps of all processors together."""
        self.longest: dict[Site, tuple[int, int]] = {}
        """Steps of the longest call, and the processor, negative, that made it; of several the
        lowest."""
        self.by_processor: Counter[int] = Counter()
        """Steps of each processor."""
        self._calls = calls

    def note(self, processor: int, begin: int, end: int, site: Site) -> None:
        """Note a call that has ended, as `CallSites.note`."""
        if end > begin:
            self.by_line[site] += end - begin
            self.by_processor[processor] += end - begin
            self.longest[site] = max(self.longest.get(site, (0, 0)), (end - begin, -processor))
        if self._calls is not None:
            self._calls.note(processor, begin, end, site)

    @property
    def rows(self) -> list[Any]:
        """Call, file, line, steps, the longest and its processor, of each line."""
        return [
            [*site, steps, self.longest[site][0], -self.longest[site][1]]
            for site, steps in self.by_line.items()
        ]
