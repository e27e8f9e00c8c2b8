"""Meters of a script's run: hops per link and account, queue lengths, and waits per call."""

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
"""Name of a call, its file and its line."""

ACCOUNT_BITS = 24
"""Bits of the account's number in a key; the link's number is above them."""

MOST_PENDING = 1 << 20
"""Maximum number of recorded hops before summation."""


class MeteredRouter(Router):
    """Router for messages of scripts that counts hops by link and account, and queue lengths.

    Parameters
    ----------
    machine, routing, payload_words
        As for `Router`.
    account : int
        Payload word with the number of the charged account.
    """

    def __init__(self, machine: Machine, routing: Routing, payload_words: int, account: int):
        super().__init__(machine, routing, payload_words=payload_words, keep=True, checked=False)
        hosted = len(machine.nodes)
        require_memory(16 * hosted, f"Metering a script on {machine.topology.name}")
        self.queues: Ints = np.zeros((hosted, 2), np.int64)
        """Longest queue of waiting messages at each processor, and its first step. Shape
        (hosted, 2).
        """
        self._noted = True  # hops are recorded although there is no trace
        self._column = account - payload_words
        self._pending: list[Ints] = []
        self._sums: tuple[Ints, Ints] = np.empty(0, np.int64), np.empty(0, np.int64)

    def _hop(self, granted: hop.Granting) -> tuple[Ints, Ints]:
        columns = [hop.PLACE, hop.NUMBER, self._column]
        places, numbers, accounts = self._messages[: self.live, columns].T
        counts, moves = super()._hop(granted)
        # The kernel processes messages in order and records the messages that hop.
        moved = np.zeros(len(places), bool)
        order = np.searchsorted(hop.high(numbers), moves[: self._ledger.moved, 3])
        moved[order] = True
        links = hop.high(places) * self.machine.topology.ports + hop.low(places)
        self._pending.append(links[moved] << ACCOUNT_BITS | accounts[moved])
        # Summed in batches: memory stays bounded, and sorting a large batch is cheaper than sorting
        # many small ones.
        if sum(map(len, self._pending)) > MOST_PENDING:
            self._sums = self._added()
        self._note_queues(hop.high(places[~moved]))
        return counts, moves

    def _note_queues(self, staying: Ints) -> None:
        """Record the queue lengths of messages that did not move in this step."""
        if len(staying):
            nodes, lengths = np.unique(staying, return_counts=True)
            slots = self.machine.slots(nodes)
            longer = lengths > self.queues[slots, 0]
            self.queues[slots[longer]] = np.column_stack(
                [lengths[longer], np.full(np.count_nonzero(longer), self.machine.steps + 1)]
            )

    def _added(self) -> tuple[Ints, Ints]:
        """Return the links with accounts, ascending, and the number of hops of each."""
        keys, counts = self._sums
        new, added = np.unique(np.concatenate([*self._pending, keys[:0]]), return_counts=True)
        self._pending = []
        both, place = np.unique(np.concatenate([keys, new]), return_inverse=True)
        total = np.zeros(len(both), np.int64)
        np.add.at(total, place.reshape(-1), np.concatenate([counts, added]))
        return both, total

    @property
    def loads(self) -> Ints:
        """Rows of link (node times ports, plus port), account and hops."""
        self._sums = keys, counts = self._added()
        return np.column_stack([keys >> ACCOUNT_BITS, keys & ((1 << ACCOUNT_BITS) - 1), counts])


class Waits:
    """Steps spent by processors in their calls.

    Parameters
    ----------
    calls : CallSites, optional
        A recording that also receives each call.
    """

    def __init__(self, calls: CallSites | None = None):
        self.by_line: Counter[Site] = Counter()
        """Total steps of all processors, by line."""
        self.longest: dict[Site, tuple[int, int]] = {}
        """Steps of the longest call and the negative processor number, by line. The lowest
        processor wins a tie.
        """
        self.by_processor: Counter[int] = Counter()
        """Total steps, by processor."""
        self._calls = calls

    def note(self, processor: int, begin: int, end: int, site: Site) -> None:
        """Record a completed call, as `CallSites.note` does."""
        if end > begin:
            self.by_line[site] += end - begin
            self.by_processor[processor] += end - begin
            self.longest[site] = max(self.longest.get(site, (0, 0)), (end - begin, -processor))
        if self._calls is not None:
            self._calls.note(processor, begin, end, site)

    @property
    def rows(self) -> list[Any]:
        """Rows of call, file, line, total steps, steps of the longest call, and its processor."""
        return [
            [*site, steps, self.longest[site][0], -self.longest[site][1]]
            for site, steps in self.by_line.items()
        ]
