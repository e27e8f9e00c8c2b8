"""A processor's own random numbers: the same for any number of ranks and any mapping."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from mpinet.draws import draw
from mpinet.errors import UsageError

T = TypeVar("T")

BITS = 62
"""Number of bits of a draw."""


class Random:
    """Random numbers keyed by the run's seed, the processor and the number of its draws so far.

    Parameters
    ----------
    seed : int
        The run's seed.
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
        """Draw a number x, 0 <= x < 1, a multiple of 2^-53."""
        return (self.bits() >> BITS - 53) * 2.0**-53

    def integers(self, low: int, high: int | None = None) -> int:
        """Draw a whole number in low..high-1, or in 0..low-1 without `high`.

        Raises
        ------
        UsageError
            There is no such number, or there are more than 2^62.
        """
        first, end = (0, low) if high is None else (low, high)
        if not 0 < end - first <= 1 << BITS:
            raise UsageError(f"There is no whole number to draw from {first} to {end - 1}.")
        return first + ((end - first) * self.bits() >> BITS)

    def choice(self, sequence: Sequence[T]) -> T:
        """Draw an item of a sequence."""
        return sequence[self.integers(len(sequence))]

    def permutation(self, things: int | Sequence[Any]) -> list[Any]:
        """Return these items, or 0..things-1, in random order (Fisher and Yates)."""
        order = list(range(things)) if isinstance(things, int) else list(things)
        for last in range(len(order) - 1, 0, -1):
            other = self.integers(last + 1)
            order[last], order[other] = order[other], order[last]
        return order
