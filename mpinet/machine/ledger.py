"""The books of a router on one rank: an array for kernels, named numbers for Python."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from operator import itemgetter, setitem
from typing import Any

import numpy as np

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
    """Counts of a router on this rank.

    Attributes
    ----------
    numbers : ndarray of int64, shape (FIELDS,)
        All of it, for kernels.
    live : int
        Messages in flight here.
    step : int
        Steps made.
    moved, ended : int
        Hops, and messages that ended, in the last pass.
    delivered, lost : int
        Messages delivered here, and those that could not go on.
    hops_total, hops_max : int
        Hops of all messages, and the most of one that was delivered.
    queue_max : int
        The most messages that waited at one processor in one step.
    leaving : int
        Messages that left their place in the last pass.
    wrong, wrong_message : int
        A routing error (`hop.UNWIRED_PORT`, `hop.ENDLESS`; 0: none), and the row of its message.
    unwired : int
        1 if a message that needs others' consent to hop waits for an unwired port.
    arrivals_seal : int
        The sum of the seals (`hop.seal`) of the messages delivered here.
    """

    live = _field(LIVE)
    step = _field(STEP)
    moved = _field(MOVED)
    ended = _field(ENDED)
    delivered = _field(DELIVERED)
    lost = _field(LOST)
    hops_total = _field(HOPS_TOTAL)
    hops_max = _field(HOPS_MAX)
    queue_max = _field(QUEUE_MAX)
    leaving = _field(LEAVING)
    wrong = _field(WRONG)
    wrong_message = _field(WRONG_MESSAGE)
    unwired = _field(UNWIRED)
    arrivals_seal = _field(ARRIVALS_SEAL)

    def __new__(cls) -> Ledger:
        """Make a ledger of zeros."""
        ledger: Any = super().__new__(cls, "q", bytes(8 * FIELDS))
        return ledger

    def __init__(self) -> None:
        self.numbers = np.frombuffer(self, np.int64)

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
