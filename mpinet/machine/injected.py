"""Records of the messages injected into a router, for the checks before and after the run.

The order of messages depends on their numbers alone, so numbers must be unique: two messages of one
number could both be first in a queue. Only the source's rank knows the target of a message, because
the header belongs to the routing. The source's rank therefore adds up a `hop.seal` of number and
target, and the rank of the final node adds up a seal of number and final node. The sums must agree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.errors import MpinetError, NodeError, UsageError
from mpinet.machine import hop
from mpinet.machine.machine import Machine

DrawnEnds = Callable[[Ints], tuple[Ints, Ints]]

REPEATED = "The messages of an injection need different numbers, but {} is given twice."


@dataclass(frozen=True, eq=False)
class Injection:
    """Messages injected together."""

    first: int
    """Number of the first message; the last message has number first + total - 1."""
    total: int
    """Number of messages on all ranks."""
    numbers: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    """This rank's messages, counted from the first, ascending; empty for drawn ends. Shape (k,)."""
    targets: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    """Targets of this rank's messages; empty for drawn ends. Shape (k,)."""
    ends: DrawnEnds | None = None
    """Drawn ends, see `Router.inject_drawn`; None if the targets are given."""

    def targets_of(self, numbers: Ints) -> tuple[Ints, Ints]:
        """Return the numbers and targets of the given messages, as far as this rank knows them."""
        numbers = numbers[(numbers >= self.first) & (numbers < self.first + self.total)]
        if self.ends is not None:
            return numbers, self.ends(numbers - self.first)[1]
        _, places, own = np.intersect1d(
            numbers - self.first, self.numbers, assume_unique=True, return_indices=True
        )
        return numbers[places], self.targets[own]


class Injected:
    """The messages injected since the last check.

    Parameters
    ----------
    machine : Machine
        The machine whose ranks injected the messages.
    """

    def __init__(self, machine: Machine):
        self._machine = machine
        self._injections: list[Injection] = []
        self.seal: int = 0
        """Sum of the seals of this rank's messages."""

    def add(self, injection: Injection) -> None:
        """Remember the sources and targets of injected messages."""
        self._injections.append(injection)

    def seal_of_lost(self, lost: Ints) -> int:
        """Return the sum of the seals of lost messages with targets known here (collective).

        Parameters
        ----------
        lost : ndarray of int64, shape (k,)
            Numbers of the messages lost on this rank.
        """
        # Drawn ends can be drawn again on the losing rank. Given targets are known to the injecting
        # rank only.
        given = any(injection.ends is None for injection in self._injections)
        everywhere = self._machine.transport.everywhere(lost) if given else lost
        total = 0
        for injection in self._injections:
            numbers, targets = injection.targets_of(everywhere if injection.ends is None else lost)
            total += int(hop.seal_all(numbers, np.ascontiguousarray(targets, np.int64)))
        return total & hop.SEAL_MASK


def require_numbered(numbers: Ints, total: int) -> None:
    """Check that numbers are distinct, ascending, and within 0..total-1.

    Raises
    ------
    UsageError
        The numbers violate one of these conditions.
    """
    if len(numbers) > 1 and (numbers[1:] <= numbers[:-1]).any():
        _require_each_once(numbers)
        raise UsageError("The numbers of an injection's messages must ascend.")
    if len(numbers) and not 0 <= numbers[0] <= numbers[-1] < total:
        wrong = numbers[0] if numbers[0] < 0 else numbers[-1]
        raise UsageError(
            f"An injection of {total} messages has numbers 0..{total - 1}, not {wrong}."
        )


def require_different(machine: Machine, numbers: Ints, total: int) -> None:
    """Check that no two ranks give a message the same number (collective).

    Every number is reported to one rank responsible for it.

    Raises
    ------
    UsageError
        Two messages have the same number.
    """
    ranks, rank = machine.transport.size, machine.transport.rank
    if ranks == 1:
        return
    # Each number has one rank that sees all its uses. No rank ever holds all numbers.
    share = -(-total // ranks)
    ends = np.searchsorted(numbers, np.arange(ranks + 1) * share)
    counts = np.diff(ends)
    counts[rank] = 0
    own = slice(ends[rank], ends[rank + 1])
    leaving = np.delete(numbers, own) if counts.any() else numbers[:0]
    came = machine.transport.exchange(leaving, counts).records
    machine.checked(lambda: _require_each_once(np.concatenate([numbers[own], came])))


def _require_each_once(numbers: Ints) -> None:
    numbers = np.sort(numbers, kind="stable")
    again = np.flatnonzero(numbers[1:] == numbers[:-1])
    if len(again):
        raise UsageError(REPEATED.format(numbers[again[0]]))


def end_error(machine: Machine, source: int, target: int) -> MpinetError:
    """Return the error for a message whose source or target is no node, or is not on this rank."""
    size = machine.topology.size
    for node in (source, target):
        if not 0 <= node < size:
            return NodeError(f"There is no node {node}: nodes are 0..{size - 1}.")
    return UsageError(
        f"Processor {source} is not hosted by rank {machine.placement.rank}, which called its "
        "send. A rank may send from its own processors only."
    )
