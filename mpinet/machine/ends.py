"""How a router's messages end on one rank: delivered or undeliverable, and after how many steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpinet.machine import hop
from mpinet.networks.routing import ARRIVED

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Delivered:
    """Messages that ended on this rank, by number.

    Attributes
    ----------
    numbers, nodes, hops, steps : ndarray of int64, shape (k,)
        The message's number, where it ended, after how many hops, in which step.
    payload : ndarray of int64, shape (k, w)
        What it carried.
    """

    numbers: Numbers
    nodes: Numbers
    hops: Numbers
    steps: Numbers
    payload: Numbers


class Ends:
    """Books the messages that end on this rank.

    Parameters
    ----------
    ledger : ndarray of int64, shape (hop.FIELDS,)
        The router's, kept up here: delivered, lost, and the most hops of a delivered message.
    payload_words : int
        64-bit words that every message carries.
    keep : bool
        Whether `delivered` is wanted after the run.

    Attributes
    ----------
    rows : ndarray of int64, shape (room, ..)
        Where a pass over the messages writes those that it brings to their end.
    latency : ndarray of int64
        How many messages were delivered here after 0, 1, 2, .. steps.
    """

    def __init__(self, ledger: Numbers, payload_words: int, keep: bool):
        self.rows = np.zeros((0, hop.END_PAYLOAD + payload_words * keep), np.int64)
        self.latency = np.zeros(64, np.int64)
        self._ledger = ledger
        self._keep = keep
        self._births = np.zeros((0, 2), np.int64)
        self._injections = 0
        self._delivered: list[Numbers] = []
        self._lost: list[Numbers] = []

    def expect(self, first: int) -> None:
        """Note that messages with this number and higher ones are injected now."""
        self._births = with_room(self._births, self._injections + 1)
        self._births[self._injections] = first, self._ledger[hop.STEP]
        self._injections += 1

    def reserve(self, live: int) -> None:
        """Make room for `live` messages to end in the next step."""
        self.rows = with_room(self.rows, live)
        self.latency = with_room(self.latency, int(self._ledger[hop.STEP]) + 2, fill=True)

    def book(self) -> None:
        """Book the messages that the last pass brought to their end."""
        lost = self._ledger[hop.LOST]
        births = self._births[: self._injections]
        hop.book_ends(self.rows, births, self.latency, self._ledger)
        ended = self.rows[: self._ledger[hop.ENDED]]
        if self._ledger[hop.LOST] > lost:
            self._lost.append(ended[ended[:, hop.END_STATUS] != ARRIVED])
        if self._keep:
            self._delivered.append(ended[ended[:, hop.END_STATUS] == ARRIVED])

    @property
    def delivered(self) -> Delivered:
        """The messages that were delivered here (with `keep`)."""
        ended = self._by_number(self._delivered)
        return Delivered(
            numbers=ended[:, hop.END_NUMBER],
            nodes=ended[:, hop.END_NODE],
            hops=ended[:, hop.END_HOPS],
            steps=ended[:, hop.END_STEP],
            payload=ended[:, hop.END_PAYLOAD :],
        )

    def take(self) -> Delivered:
        """The messages that were delivered here since the last call (with `keep`)."""
        delivered, self._delivered = self.delivered, []
        return delivered

    @property
    def undeliverable(self) -> Numbers:
        """Rows (number, place) of the messages that could not go on from here, by number."""
        return self._by_number(self._lost)[:, (hop.END_NUMBER, hop.END_NODE)]

    def _by_number(self, parts: list[Numbers]) -> Numbers:
        """The rows of all parts by their messages' numbers."""
        rows = np.concatenate(parts) if parts else self.rows[:0]
        return rows[np.argsort(rows[:, hop.END_NUMBER])]


def with_room(array: NDArray[Any], length: int, fill: bool = False) -> NDArray[Any]:
    """The array, or a longer one that begins with it, with at least `length` rows."""
    if len(array) >= length:
        return array
    longer = (np.zeros if fill else np.empty)(
        (max(length, 2 * len(array)), *array.shape[1:]), array.dtype
    )
    longer[: len(array)] = array
    return longer
