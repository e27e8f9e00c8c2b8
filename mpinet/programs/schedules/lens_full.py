"""ASCEND and DESCEND over all processors of a completed lens with n = 2^r (docs/papers/lens, 7)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.networks.lens.wiring import LensNetwork
from mpinet.programs.schedules.lens import HELD, VISITING, LensPass, Sweeps


class Full(Sweeps):
    """Schedule of the completed lens with n = 2^r: n R^n elements, one at every processor.

    The lowest r dimensions are the bits of the gap: elements visit their partners and come back.
    Then all elements go round twice, and each begins with its digits on reaching digit 0. For R = 2
    the visits take 2n - 2 steps. The rounds take 2n steps to the right and 4n - 1 to the left. If a
    processor accepts one message per step, rounds take 4n - 1 steps in either direction.
    """

    name = "full"
    needs = "a completed lens with p = 2^b + 1, b > 0, and n = 2^r, as clens:3,4"

    @classmethod
    def serves(cls, lens: LensNetwork) -> bool:
        """Return whether the schedule can run on this lens: gaps must be numbers of r bits."""
        return super().serves(lens) and lens.level & (lens.level - 1) == 0

    def dimensions_of_homes(self) -> int:
        """Return the number of bits of a gap."""
        return self.level.bit_length() - 1

    def homes(self) -> Ints:
        """Return the slots of all processors: each has an element."""
        return np.arange(len(self.machine.nodes))

    def crossings(self, turn: int) -> dict[int, int | None]:
        """Return all rows; a digit is processed in each of the n turns after digit 0 is reached."""
        return {row: row if row <= turn < row + self.level else None for row in range(self.level)}

    def elements(self, slots: Ints, gap: int) -> Ints:
        """Return the elements, with the gap as their lowest bits."""
        return self._numbers[slots] << self.low_dimensions | gap

    def stages(self, sweep: LensPass) -> Iterator[str]:
        """Run the visits, then the rounds; the reverse if the pass descends. Yield the stages."""
        parts = [self._visits, self._rounds]
        for part in parts if sweep.ascends else reversed(parts):
            yield from part(sweep)

    def _rounds(self, sweep: LensPass) -> Iterator[str]:
        """Move all elements round twice, if a digit has an active dimension; yield the stages."""
        turns = range(2 * self.level if sweep.work.high > self.low_dimensions else 0)
        for turn in turns if sweep.to_the_right else reversed(turns):
            if sweep.to_the_right:
                self.enter(turn, sweep)
            else:
                self.meet(turn, sweep)
                self.move_left(self.crossings(turn), sweep.registers)
            yield "rounds"

    def _visits(self, sweep: LensPass) -> Iterator[str]:
        """Run the gap's dimensions: 2^j steps to the partner, which computes both, and back."""
        registers = sweep.registers
        for j in sweep.work.dimensions:
            if j >= self.low_dimensions:
                continue
            guests = [gap for gap in range(self.level) if not gap >> j & 1]
            registers[VISITING] = registers[HELD]
            for step in range(1 << j):
                self.move_right({gap + step: (0,) for gap in guests}, registers[VISITING:])
            for gap in guests:
                self._receive(j, gap, sweep)
            for step in reversed(range(1 << j)):
                self.move_left([gap + step for gap in guests], registers[VISITING:])
            for gap in guests:
                at = self.at[gap - 1]
                registers[HELD, at] = registers[VISITING, at]
            yield f"dimension {j}"

    def _receive(self, j: int, gap: int, sweep: LensPass) -> None:
        """Compute the pairs of a dimension whose lower elements have their homes at a gap."""
        at = self.at[gap + (1 << j) - 1]
        index, registers = self.elements(at, gap), sweep.registers
        low, high = sweep.work.oper(j, index, registers[VISITING, at], registers[HELD, at])
        registers[VISITING, at], registers[HELD, at] = low, high


class MirroredFull(Full):
    """Schedule like `Full`, but a DESCEND moves to the right and an ASCEND to the left."""

    name = "full-mirrored"
    mirrored = True
