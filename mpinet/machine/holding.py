"""A router that visits only the first message of each queue at a source.

A script may send thousands of messages at once, for example in an all-to-all exchange. A message
behind another one with the same source and port cannot hop before it. The router keeps such
messages aside, and a step costs only as much as the messages that compete in it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mpinet.base.arrays import Flags, Ints, Table
from mpinet.compiled import kernel
from mpinet.machine import hop
from mpinet.machine.router import Router

MANY = 1 << 11
"""Number of messages on a rank from which on messages are kept aside."""


class Aside(NamedTuple):
    """Messages kept aside, by queue."""

    rows: Ints
    """The messages of all queues, with the first one of each."""
    places: Ints
    """Source and port of each queue, ascending."""
    following: Ints
    """Row of the next message of each queue."""
    ends: Ints
    """Row behind the last message of each queue."""
    is_free: Flags
    """Scratch memory: a flag for each queue."""
    entering: Ints
    """Scratch memory: a row for each queue."""


class HoldingRouter(Router):
    """Router that keeps messages aside while earlier ones wait at the same source and port.

    The messages hop in the same steps as in `Router`.
    """

    _aside: Aside | None = None
    _injected_now: bool = False

    @property
    def in_flight(self) -> int:
        """Number of messages in flight on this rank."""
        aside = self._aside
        return self.live + (0 if aside is None else int((aside.ends - aside.following).sum()))

    def inject(self, *given: Any) -> int:
        """Inject messages as `Router.inject` does."""
        # New messages have higher numbers than the messages kept aside and must not pass them.
        if self._aside is not None:
            rows = self._aside.rows[self._left(self._aside)]
            self._put_back(rows[np.argsort(rows[:, hop.NUMBER])])
            self._aside = None
        self._injected_now = True
        return super().inject(*given)

    def step(self) -> bool:
        """Make one step as `Router.step` does."""
        if self._aside is None and self.live >= MANY and not self._injected_now and follow.is_ready:
            self._aside = self._kept()
        self._injected_now = False
        moved = super().step()
        if self._aside is not None:
            count = follow(self._messages[: self.live], *self._aside)
            self._put_back(self._aside.entering[:count])
            if not count and (self._aside.following == self._aside.ends).all():
                self._aside = None
        return moved

    def _kept(self) -> Aside:
        """Keep all messages aside that wait behind another one at their source."""
        rows = self._messages[: self.live]
        waiting = np.flatnonzero(rows[:, hop.NUMBER] & hop.LOW_MOST == 0)
        # By queue; messages of a queue stay in ascending number.
        waiting = waiting[np.argsort(rows[waiting, hop.PLACE], kind="stable")]
        aside = rows[waiting]
        places, first, lengths = np.unique(
            aside[:, hop.PLACE], return_index=True, return_counts=True
        )
        left = np.delete(rows, np.delete(waiting, first), axis=0)
        self._messages[: len(left)] = left
        self._ledger.live = len(left)
        room = np.empty((len(places), rows.shape[1]), np.int64)
        return Aside(aside, places, first + 1, first + lengths, np.empty(len(places), bool), room)

    @staticmethod
    def _left(aside: Aside) -> Ints:
        """Return the rows of the messages that are kept aside."""
        lengths = np.diff(aside.ends, prepend=0)
        return np.flatnonzero(np.arange(len(aside.rows)) >= np.repeat(aside.following, lengths))

    def _put_back(self, rows: Ints) -> None:
        """Merge rows, in ascending number, into the messages that compete."""
        residents = self.live
        self._reserve(residents + len(rows))
        self._ledger.live += len(rows)
        self._loops.merge(self._messages, residents, rows)


@kernel
def follow(
    messages: Table, kept: Table, places: Ints, following: Ints, ends: Ints, is_free: Flags,
    entering: Table,
) -> int:  # fmt: skip
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
