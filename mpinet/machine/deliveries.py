"""Records of a router's ended messages on one rank: delivered or undeliverable, and latency."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.records import with_room
from mpinet.machine import hop
from mpinet.machine.state import Fields, Located, Total, parts_of


@dataclass(frozen=True, eq=False)
class Delivered:
    """Messages delivered on this rank, sorted by number."""

    numbers: Ints
    """Number of each message. Shape (k,)."""
    nodes: Ints
    """Node at which each message ended. Shape (k,)."""
    hops: Ints
    """Hops of each message. Shape (k,)."""
    steps: Ints
    """Step in which each message ended. Shape (k,)."""
    payload: Ints
    """Payload of each message. Shape (k, w)."""


class Deliveries:
    """Records the messages that end on this rank.

    Parameters
    ----------
    ledger : Ledger
        The router's ledger. This class updates the delivered and lost messages, and the largest
        number of hops of a delivered message.
    carried, payload_words : int
        Number of 64-bit words per message after its header, and number of payload words among them.
    keep : bool
        True if `delivered` is needed after the run.
    """

    def __init__(self, ledger: Any, carried: int, payload_words: int, keep: bool):
        self.rows: Ints = np.zeros((0, hop.WORDS + carried), np.int64)
        """Memory for the rows of the messages ended in a pass. Shape (room, hop.WORDS +
        carried).
        """
        self.latency: Ints = np.zeros(64, np.int64)
        """Number of messages delivered here after 0, 1, 2, .. steps."""
        self._ledger = ledger
        self._payload = slice(hop.WORDS, hop.WORDS + payload_words)
        self._keep = keep
        self._births = np.zeros((0, 2), np.int64)
        self._injections = 0
        self._delivered: list[Ints] = []
        self._steps: list[int] = []
        self._lost: list[Ints] = []
        self._forgotten = 0

    def expect(self, first: int) -> None:
        """Record the current step as injection step of the messages from number `first` on."""
        # One row per injection, not per message: a message's number leads to its injection.
        self._births = with_room(self._births, self._injections + 1)
        self._births[self._injections] = first, self._ledger.step
        self._injections += 1

    def forget(self) -> None:
        """Drop the records of injections; numbering restarts at 0."""
        self._injections = 0
        self._forgotten = len(self._lost)

    def reserve(self, live: int) -> None:
        """Allocate memory for `live` messages to end in the next step."""
        self.rows = with_room(self.rows, live)
        self.latency = with_room(self.latency, self._ledger.step + 2)

    def book(self) -> None:
        """Record the messages ended in the last pass."""
        # Most steps of sparse traffic end no message; a kernel call would cost more than the step.
        if not self._ledger.ended:
            return
        lost = self._ledger.lost
        births = self._births[: self._injections]
        hop.book_ends(self.rows, births, self.latency, self._ledger.record)
        ended = self.rows[: self._ledger.ended]
        if self._ledger.lost > lost:
            is_lost = hop.low(ended[:, hop.PLACE]) == hop.LOST_HERE
            self._lost.append(ended[is_lost])
            ended = ended[~is_lost]
        if self._keep and len(ended):
            self._delivered.append(ended.copy())
            self._steps.append(self._ledger.step)

    @property
    def delivered(self) -> Delivered:
        """Messages delivered here (with `keep`)."""
        return self._in_order(self._together(self._delivered), self._step_of_each())

    def take(self) -> Delivered:
        """Return the messages delivered here since the last call (with `keep`)."""
        ended, steps = self._together(self._delivered), self._step_of_each()
        # Released before the copy below is made: otherwise both would be in memory.
        self._delivered, self._steps = [], []  # as large as their copy
        return self._in_order(ended, steps)

    def _in_order(self, ended: Ints, steps: Ints) -> Delivered:
        """Return the messages delivered in these steps, sorted by number."""
        order = ended[:, hop.NUMBER].argsort()
        ended = ended[order]
        return Delivered(
            numbers=hop.high(ended[:, hop.NUMBER]),
            nodes=hop.high(ended[:, hop.PLACE]),
            hops=hop.low(ended[:, hop.NUMBER]),
            steps=steps[order],
            payload=ended[:, self._payload],
        )

    @property
    def undeliverable(self) -> Ints:
        """Rows (number, place) of the messages that got stuck here, sorted by number."""
        ended = self._together(self._lost)
        ended = ended[np.argsort(ended[:, hop.NUMBER])]
        return hop.high(ended[:, (hop.NUMBER, hop.PLACE)])

    @property
    def lost_numbers(self) -> Ints:
        """Numbers of the messages that got stuck here since the last `forget`, in any order."""
        return hop.high(self._together(self._lost[self._forgotten :])[:, hop.NUMBER])

    def state(self) -> Fields:
        """Return the fields for a checkpoint; each delivery's row ends with its step."""
        return {
            "latency": Total(self.latency),
            "ends": Located(
                np.column_stack([self._together(self._delivered), self._step_of_each()]),
                node=lambda rows: hop.high(rows[:, hop.PLACE]),
                order=lambda rows: np.argsort(rows[:, -1], kind="stable"),
            ),
            "gone": Located(
                self._together(self._lost), node=lambda rows: hop.high(rows[:, hop.PLACE])
            ),
        }

    def restore(self, found: Mapping[str, Any]) -> None:
        """Restore the fields of `state`, on any number of ranks."""
        self.latency = found["latency"]
        parts = parts_of(found["ends"], found["ends"][:, -1])
        self._delivered = [np.ascontiguousarray(part[:, :-1]) for part in parts]
        self._steps = [int(part[0, -1]) for part in parts]
        self._lost = [found["gone"]] if len(found["gone"]) else []

    def _step_of_each(self) -> Ints:
        """Return the step of each delivered message."""
        lengths = [len(part) for part in self._delivered]
        return np.array(self._steps, np.int64).repeat(lengths)

    def _together(self, parts: list[Ints]) -> Ints:
        """Join all parts into one array of rows."""
        if len(parts) == 1:  # the case of scripts
            return parts[0]
        return np.concatenate(parts) if parts else self.rows[:0]
