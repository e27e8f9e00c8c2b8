"""The cube-connected cycles as a host (Preparata, Vuillemin 1981; docs/papers/gmn, 7.3)."""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.programs.operators.operator import ASCEND
from mpinet.programs.schedules.pipeline import Pipeline


class Cycles(Pipeline):
    """Schedule of CCC(n), n = 2^r: 5n - 2 steps, with one port 6n - 4.

    Processor l*n + p has element l*n + p. Dimensions below r are exchanged within the cycles. In
    step 2 the elements circulate twice, and place p serves dimension r+p.
    """

    name = "cycles"

    def __init__(self, machine: Machine):
        n = cycle_length(machine.topology.size)
        if n is None:
            raise UsageError(
                f"The algorithm {self.name} needs n 2^n processors, n a power of two, and "
                f"{machine.topology.name} has {machine.topology.size}."
            )
        super().__init__(machine, length=n, rounds=2 * n, exchanges=2 * n - 1)

    def place(self, nodes: Ints) -> Ints:
        """Return the places of nodes in their cycles."""
        return nodes % self.length

    def element(self, nodes: Ints, home: Ints) -> Ints:
        """Return the numbers of the processors at the places `home`."""
        return nodes - nodes % self.length + home

    def lateral(self, nodes: Ints) -> Ints:
        """Return the same places in the cycles whose numbers differ in bit p."""
        cycle, place = np.divmod(nodes, self.length)
        return (cycle ^ (1 << place)) * self.length + place

    def meetings(self, turn: int) -> dict[int, int]:
        """Return the places that exchange: place p has turns p+1, .., p+n."""
        n, r = self.length, self.low_dimensions
        return {p: r + p for p in range(n) if p + 1 <= turn <= p + n}

    def home(self, place: int, turn: int) -> int:
        """Return the home place: one place back for every move so far."""
        return (place - (turn - 1)) % self.length

    def circulate(self, turn: int, kind: str, registers: Array) -> None:
        """Move all elements one place round their cycles."""
        first, on = self.machine.nodes - self.places, 1 if kind == ASCEND else -1
        self.moves.to_all(
            ("cycle", on), registers, lambda: first + (self.places + on) % self.length
        )


def cycle_length(size: int) -> int | None:
    """Return n = 2^r with n 2^n = size; None if no n fits."""
    n = 1
    while n << n < size:
        n *= 2
    return n if n > 1 and n << n == size else None
