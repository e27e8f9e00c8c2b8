"""ASCEND and DESCEND on the rows of an uncompleted lens with p = q (docs/papers/lens, 7)."""

from __future__ import annotations

from collections.abc import Iterator

from mpinet.base.arrays import Ints
from mpinet.programs.schedules.lens import LensPass, Sweeps


class ThereAndBack(Sweeps):
    """Schedule of the uncompleted lens with p = q: R^n elements, at home in the first row.

    To the right, siblings exchange in the first row, and each further row is entered in turn. This
    takes n steps, or nR - 1 if a processor accepts one message per step; n-1 more steps return the
    results. To the left the elements first move out: 3n - 2 steps, or nR + n - 2. Rows after the
    last needed one are not entered.
    """

    name = "rows"
    completed = False
    needs = "a lens with p = q = 2^b + 1, b > 0, as lens:3,3,4"

    def homes(self) -> Ints:
        """Return the slots of the first row, whose processors have the elements."""
        return self.at[0]

    def crossings(self, turn: int) -> dict[int, int | None]:
        """Return the single row entered in a turn, with its digit."""
        return {turn: turn}

    def stages(self, sweep: LensPass) -> Iterator[str]:
        """Move out and back, computing in one of the directions; yield the stages."""
        last = max(row for row in range(self.level) if self.bits_of(row, sweep))
        further = range(1, last + 1)
        if sweep.to_the_right:
            self.meet(0, sweep)
            yield self.stage(0)
            for row in further:
                self.enter(row, sweep)
                yield self.stage(row)
            for row in reversed(further):
                self.move_left([row], sweep.registers)
                yield "home"
            return
        for row in further:
            self.move_right({row: (0,)}, sweep.registers)
            yield "out"
        for row in reversed(further):
            self.meet(row, sweep)
            self.move_left([row], sweep.registers)
            yield self.stage(row)
        self.meet(0, sweep)
        yield self.stage(0)


class MirroredThereAndBack(ThereAndBack):
    """Schedule like `ThereAndBack`, but a DESCEND moves to the right and an ASCEND to the left."""

    name = "mirrored"
    mirrored = True
