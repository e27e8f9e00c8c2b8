"""Random numbers of a processor, equal for any number of ranks and any mapping."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from mpinet.draws import draw
from mpinet.errors import UsageError

T = TypeVar("T")

BITS = 62
"""Number of bits of a draw."""


class Random:
    """Random number generator keyed by seed, processor and number of earlier draws.

    Parameters
    ----------
    seed : int
        Seed of the run.
    node : int
        The processor.
    """

    __slots__ = ("_drawn", "_node", "_seed")

    def __init__(self, seed: int, node: int):
        self._seed = seed
        self._node = node
        self._drawn = 0

    def bits(self) -> int:
        """Draw 62 random bits."""
        self._drawn += 1
        return int(draw(self._seed, self._node, self._drawn))

    def random(self) -> float:
        """Draw a number x with 0 <= x < 1, a multiple of 2^-53."""
        return (self.bits() >> BITS - 53) * 2.0**-53

    def integers(self, low: int, high: int | None = None) -> int:
        """Draw an integer in low..high-1, or in 0..low-1 if `high` is None.

        Raises
        ------
        UsageError
            The range is empty or has more than 2^62 integers.
        """
        first, end = (0, low) if high is None else (low, high)
        if not 0 < end - first <= 1 << BITS:
            raise UsageError(f"There is no integer to draw from {first} to {end - 1}.")
        return first + ((end - first) * self.bits() >> BITS)

    def choice(self, sequence: Sequence[T]) -> T:
        """Draw an item of a sequence."""
        return sequence[self.integers(len(sequence))]

    def permutation(self, things: int | Sequence[Any]) -> list[Any]:
        """Return the given items, or 0..things-1, in random order (Fisher-Yates shuffle)."""
        order = list(range(things)) if isinstance(things, int) else list(things)
        for last in range(len(order) - 1, 0, -1):
            other = self.integers(last + 1)
            order[last], order[other] = order[other], order[last]
        return order
