"""Endings of a router's messages on one rank: delivered or undeliverable, after how many steps."""

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
    """Messages that ended on this rank, by number."""

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
    """Books the messages that end on this rank.

    Parameters
    ----------
    ledger : Ledger
        The router's, kept up here: delivered, lost, and the most hops of a delivered message.
    carried, payload_words : int
        64-bit words of every message behind its header; how many of them are the payload.
    keep : bool
        Whether `delivered` is wanted after the run.
    """

    def __init__(self, ledger: Any, carried: int, payload_words: int, keep: bool):
        self.rows: Ints = np.zeros((0, hop.WORDS + carried), np.int64)
        """The rows into which a pass writes the messages that it brings to their end. Shape (room,
        hop.WORDS + carried)."""
        self.latency: Ints = np.zeros(64, np.int64)
        """Number of messages that were delivered here after 0, 1, 2, .. steps."""
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
        """Record the injection step of messages `first` and up."""
        # One row an injection, not one a message: a birth is found by the message's number.
        self._births = with_room(self._births, self._injections + 1)
        self._births[self._injections] = first, self._ledger.step
        self._injections += 1

    def forget(self) -> None:
        """Drop the records; numbering restarts at 0."""
        self._injections = 0
        self._forgotten = len(self._lost)

    def reserve(self, live: int) -> None:
        """Make room for `live` messages to end in the next step."""
        self.rows = with_room(self.rows, live)
        self.latency = with_room(self.latency, self._ledger.step + 2)

    def book(self) -> None:
        """Book the messages that the last pass brought to their end."""
        # Most steps of sparse traffic end nothing; a kernel call would cost more than the step.
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
        """The messages that were delivered here (with `keep`)."""
        return self._in_order(self._together(self._delivered), self._step_of_each())

    def take(self) -> Delivered:
        """The messages that were delivered here since the last call (with `keep`)."""
        ended, steps = self._together(self._delivered), self._step_of_each()
        # Released before the copy below is made: otherwise twice the memory would be held.
        self._delivered, self._steps = [], []  # as large as what is made of it
        return self._in_order(ended, steps)

    def _in_order(self, ended: Ints, steps: Ints) -> Delivered:
        """Messages that were delivered in these steps, in order of their numbers."""
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
        """Rows (number, place) of the messages that could not go on from here, by number."""
        ended = self._together(self._lost)
        ended = ended[np.argsort(ended[:, hop.NUMBER])]
        return hop.high(ended[:, (hop.NUMBER, hop.PLACE)])

    @property
    def lost_numbers(self) -> Ints:
        """The numbers of the expected messages that could not go on from here, in any order."""
        return hop.high(self._together(self._lost[self._forgotten :])[:, hop.NUMBER])

    def state(self) -> Fields:
        """Fields for a checkpoint; the step of each delivery stands at the end of its row."""
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
        """Take over what `state` gave, on any number of ranks."""
        self.latency = found["latency"]
        parts = parts_of(found["ends"], found["ends"][:, -1])
        self._delivered = [np.ascontiguousarray(part[:, :-1]) for part in parts]
        self._steps = [int(part[0, -1]) for part in parts]
        self._lost = [found["gone"]] if len(found["gone"]) else []

    def _step_of_each(self) -> Ints:
        """Steps in which the delivered messages ended, one per message."""
        lengths = [len(part) for part in self._delivered]
        return np.array(self._steps, np.int64).repeat(lengths)

    def _together(self, parts: list[Ints]) -> Ints:
        """Join all parts into one array of rows."""
        if len(parts) == 1:  # as in every step of a script's
            return parts[0]
        return np.concatenate(parts) if parts else self.rows[:0]
