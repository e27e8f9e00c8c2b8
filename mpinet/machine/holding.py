"""A router that visits only the first message of each queue at a source.

A script may send thousands of messages at once, for example in an all-to-all exchange. A message
behind another one with the same source and port cannot hop before it. The router keeps such
messages aside, and a step costs only as much as the messages that compete in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.base.arrays import Flags, Ints, Table
from mpinet.compiled import kernel
from mpinet.machine import hop
from mpinet.machine.router import Router

MANY = 1 << 11
"""Number of messages on a rank from which on messages are kept aside."""


class HoldingRouter(Router):
    """Router that keeps messages aside while earlier ones wait at the same source and port.

    The messages hop in the same steps as in `Router`.
    """

    _kept: Ints | None = None
    _places: Ints
    _next: Ints
    _ends: Ints
    _injected_now: bool = False

    @property
    def in_flight(self) -> int:
        """Number of messages in flight on this rank."""
        return self.live + (0 if self._kept is None else int((self._ends - self._next).sum()))

    @property
    def at_their_sources(self) -> Ints:
        """Nodes of this rank's messages that have not hopped yet."""
        nodes = super().at_their_sources
        if self._kept is None:
            return nodes
        behind = self._places[self._next < self._ends] >> hop.LOW_BITS
        return np.concatenate([nodes, behind])

    def inject(self, *given: Any) -> int:
        """Inject messages as `Router.inject` does."""
        # New messages have higher numbers than the messages kept aside and must not pass them.
        if self._kept is not None:
            self._enter(np.ones(len(self._places), np.bool_), self._ends)
            self._kept = None
        self._injected_now = True
        return super().inject(*given)

    def step(self) -> bool:
        """Make one step as `Router.step` does."""
        if self._kept is not None:
            self._follow()
        elif self.live >= MANY and not self._injected_now and follow.is_ready:
            self._keep()
        self._injected_now = False
        return super().step()

    def _keep(self) -> None:
        """Keep all messages aside that wait behind another one at their source."""
        rows = self._messages[: self.live]
        waiting = np.flatnonzero(rows[:, hop.NUMBER] & hop.LOW_MOST == 0)
        # By queue; messages of a queue stay in ascending number.
        waiting = waiting[np.argsort(rows[waiting, hop.PLACE], kind="stable")]
        places, first, lengths = np.unique(
            rows[waiting, hop.PLACE], return_index=True, return_counts=True
        )
        self._kept = rows[waiting]
        self._places, self._next, self._ends = places, first + 1, first + lengths
        self._is_free = np.empty(len(places), np.bool_)
        self._entering = np.empty((len(places), rows.shape[1]), np.int64)
        stays = np.ones(len(rows), np.bool_)
        stays[np.delete(waiting, first)] = False
        left = rows[stays]
        self._messages[: len(left)] = left
        self._ledger.live = len(left)

    def _follow(self) -> None:
        """Let the next message of each queue follow whose first message has hopped."""
        assert self._kept is not None
        count = follow(
            self._messages[: self.live],
            self._kept,
            self._places,
            self._next,
            self._ends,
            self._is_free,
            self._entering,
        )
        if count:
            self._put_back(self._entering[:count])
        elif (self._next == self._ends).all():
            self._kept = None

    def _enter(self, chosen: Flags, ends: Ints) -> None:
        """Put messages of chosen queues back: from the next one of each queue to its new end."""
        assert self._kept is not None
        begins, ends = self._next[chosen], ends[chosen]
        lengths = ends - begins
        before = np.cumsum(lengths) - lengths
        rows = self._kept[np.repeat(begins - before, lengths) + np.arange(lengths.sum())]
        self._next[chosen] = ends
        self._put_back(rows[np.argsort(rows[:, hop.NUMBER])])

    def _put_back(self, rows: Ints) -> None:
        """Merge rows, in ascending number, into the messages that compete."""
        residents = self.live
        self._reserve(residents + len(rows))
        self._ledger.live += len(rows)
        self._loops.merge(self._messages, residents, rows)


@kernel
def follow(
    messages: Table,
    kept: Table,
    places: Ints,
    following: Ints,
    ends: Ints,
    is_free: Flags,
    entering: Table,
) -> int:
    """Copy the next message of each queue without a message at its source; return their number.

    The queue of place ``places[q]`` consists of the rows ``following[q]`` to ``ends[q] - 1`` of
    `kept`. The copies in `entering` are in ascending number.
    """
    for q in range(places.size):
        is_free[q] = following[q] < ends[q]
    for m in range(messages.shape[0]):
        if messages[m, hop.NUMBER] & hop.LOW_MOST != 0:
            continue
        low, high = 0, places.size
        while low < high:
            middle = (low + high) // 2
            if places[middle] < messages[m, hop.PLACE]:
                low = middle + 1
            else:
                high = middle
        is_free[low] = False
    count = 0
    for q in range(places.size):
        if not is_free[q]:
            continue
        row = following[q]
        following[q] += 1
        # By insertion: queues are sorted by node, and most numbers ascend with their nodes.
        place = count
        while place > 0 and entering[place - 1, hop.NUMBER] > kept[row, hop.NUMBER]:
            for j in range(kept.shape[1]):
                entering[place, j] = entering[place - 1, j]
            place -= 1
        for j in range(kept.shape[1]):
            entering[place, j] = kept[row, j]
        count += 1
    return count
