"""The books of a router on one rank: an array for kernels, named numbers for Python."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from operator import itemgetter, setitem
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.machine.state import Fields, Largest, Total

(
    LIVE,
    STEP,
    MOVED,
    ENDED,
    DELIVERED,
    LOST,
    HOPS_TOTAL,
    HOPS_MAX,
    QUEUE_MAX,
    LEAVING,
    WRONG,
    WRONG_MESSAGE,
    UNWIRED,
    ARRIVALS_SEAL,
    FIELDS,
) = range(15)
"""Places of the numbers in a ledger's array, for kernels."""


def _field(place: int) -> Any:
    """Make an attribute of the number at a place; it costs no Python call, and a step reads ten."""
    return property(itemgetter(place), lambda ledger, number: setitem(ledger, place, number))


class Ledger(array):  # type: ignore[type-arg]
    """Counts of a router on this rank."""

    live: int = _field(LIVE)
    """Messages in flight on this rank."""
    step: int = _field(STEP)
    """Steps so far."""
    moved: int = _field(MOVED)
    """Hops in the last pass."""
    ended: int = _field(ENDED)
    """Messages that ended in the last pass."""
    delivered: int = _field(DELIVERED)
    """Messages delivered on this rank."""
    lost: int = _field(LOST)
    """Messages of this rank that could not continue."""
    hops_total: int = _field(HOPS_TOTAL)
    """Hops of all messages together."""
    hops_max: int = _field(HOPS_MAX)
    """Most hops of a delivered message."""
    queue_max: int = _field(QUEUE_MAX)
    """Most messages that waited at one processor in one step."""
    leaving: int = _field(LEAVING)
    """Messages that left their place in the last pass."""
    wrong: int = _field(WRONG)
    """Routing error: `hop.UNWIRED_PORT`, `hop.ENDLESS`, or 0 for none."""
    wrong_message: int = _field(WRONG_MESSAGE)
    """Row of the message with the routing error."""
    unwired: int = _field(UNWIRED)
    """1 if a message that needs the consent of other messages to hop waits for an unwired port,
    else 0."""
    arrivals_seal: int = _field(ARRIVALS_SEAL)
    """Sum of the seals (`hop.seal`) of the messages delivered on this rank."""

    def __new__(cls) -> Ledger:
        """Make a ledger of zeros."""
        ledger: Any = super().__new__(cls, "q", bytes(8 * FIELDS))
        return ledger

    def __init__(self) -> None:
        self.numbers: Ints = np.frombuffer(self, np.int64)
        """All counts, for kernels. Shape (FIELDS,)."""

    def state(self) -> Fields:
        """Fields for a checkpoint."""
        return {
            "step": self.step,
            "delivered": Total(self.delivered),
            "lost": Total(self.lost),
            "hops_total": Total(self.hops_total),
            "hops_max": Largest(self.hops_max),
            "queue_max": Largest(self.queue_max),
            "unwired": Largest(self.unwired),
            "arrivals_seal": Total(self.arrivals_seal),
        }

    def restore(self, found: Mapping[str, Any]) -> None:
        """Take over what `state` gave, on any number of ranks."""
        for name in self.state():
            setattr(self, name, found[name])
