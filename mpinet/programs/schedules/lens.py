"""ASCEND and DESCEND on the rows of a lens (docs/papers/lens, 7; not in the paper).

An operator combines pairs, so that digits have to be made of bits: p = q = R + 1 with R = 2^b. A
processor that receives the R states of its box (itself and its siblings) works out all b dimensions
of the digit. Rows are counted from 0 here. Digit k, counted from the left, is worked on in row k:
an element that sweeps to the right meets its box as it enters the row, and its owners send it; one
that sweeps to the left meets it before it leaves.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.networks.lens.wiring import LensNetwork
from mpinet.programs.operators.operator import ASCEND, DESCEND, Pass
from mpinet.programs.schedules.lens_ports import RowPorts
from mpinet.programs.schedules.moves import KEPT, rotated_left
from mpinet.programs.schedules.pairs import keep_own
from mpinet.programs.schedules.schedule import PassSchedule, Phase

HELD, VISITING = 0, 1
"""Registers: the element that a processor is about to keep, and one that comes to a partner. Where
a box is received, register x is for the state of the element whose digit differs by XOR x."""

Ports = tuple[Ints, Ints]
"""Places among this rank's processors, and ports."""

Landing = Callable[[Ints, Ints], Ints]
"""``landing(slots, ports)``: the registers into which receivers put what comes in by a port."""

Changes = tuple[int, ...]
"""The senders of a box, by the XOR of their digit and the receiver's."""


@dataclass(frozen=True, eq=False)
class LensPass:
    """A pass on its way."""

    work: Pass
    """The pass."""
    registers: Array
    """States in this rank's processors. Shape (registers, processors)."""
    to_the_right: bool
    """True if elements cross to the right."""

    @property
    def ascends(self) -> bool:
        """True if the dimensions ascend."""
        return self.work.kind == ASCEND


class Sweeps(PassSchedule):
    """Common part of all these schedules: elements cross from row to row, turn after turn.

    In turn t an element whose home is at gap g (between digits g-1 and g, on the circle) crosses
    into row g + t. The bits of an element, from the lowest, are those of its digits in the order in
    which it crosses them in a pass to the right; where that pass descends, from the highest.
    """

    completed: ClassVar[bool] = True
    mirrored: ClassVar[bool] = False
    """True for a DESCEND that sweeps to the right."""

    needs: ClassVar[str] = "a completed lens with p = 2^b + 1, b > 0, as clens:3,4"

    def __init__(self, machine: Machine):
        super().__init__(machine)
        lens = machine.topology
        if not (isinstance(lens, LensNetwork) and self.serves(lens)):
            raise UsageError(
                f"The algorithm {self.name} needs {self.needs}, and is given {lens.name}."
            )
        self.level, self.bits = lens.level, lens.digit_bits
        self.low_dimensions = self.dimensions_of_homes()
        self.dimensions = self.low_dimensions + self.bits * self.level
        self.ports = RowPorts(lens, machine.nodes)
        self.at = [np.flatnonzero(self.ports.rows == row) for row in range(self.level)]
        self._numbers = self._read_words()
        self._homes = self.homes()
        numbers = np.empty_like(machine.nodes)
        for row, at in enumerate(self.at):
            numbers[at] = self.elements(at, (row + 1) % self.level)
        self.index = numbers[self._homes]
        self._accepts_one = machine.model.receive == 1
        self._hops: dict[Hashable, Hop] = {}
        self._most = KEPT // -(-lens.size // machine.transport.size)

    @classmethod
    def serves(cls, lens: LensNetwork) -> bool:
        """Tell if the schedule can be carried out on this lens."""
        return lens.digit_bits > 0 and lens.completed == cls.completed

    @abstractmethod
    def homes(self) -> Ints:
        """The places of this rank's processors that have an element."""

    @abstractmethod
    def crossings(self, turn: int) -> dict[int, int | None]:
        """The rows that elements enter in a turn, and which digit of theirs meets its box, if any.

        Digits are numbered in the order in which a pass to the right works on them.
        """

    @abstractmethod
    def stages(self, sweep: LensPass) -> Iterator[str]:
        """Carry a pass out (collective); every now and then the name of what has been done."""

    def dimensions_of_homes(self) -> int:
        """Dimensions below those of the digits: the bits of the home's gap. By default none."""
        return 0

    def elements(self, slots: Ints, gap: int) -> Ints:
        """The elements of these processors' words whose homes are at a gap."""
        return self._numbers[slots]

    def _read_words(self) -> Ints:
        """The elements of the words if the leftmost digit is crossed first."""
        words, radix = self.ports.words, 1 << self.bits
        if self.mirrored:
            return words
        numbers = np.zeros_like(words)
        for _ in range(self.level):
            words, digits = np.divmod(words, radix)
            numbers = numbers * radix + digits
        return numbers

    def carry_out_pass(self, sweep: Pass, state: Array) -> list[Phase]:
        """Whatever dimensions are active: none takes no step."""
        if not sweep.dimensions:
            return []
        registers = np.zeros((1 << self.bits, len(self.machine.nodes)), state.dtype)
        registers[HELD, self._homes] = state
        steps: dict[str, int] = {}
        done = self.machine.steps
        for stage in self.stages(
            LensPass(sweep, registers, (sweep.kind == DESCEND) == self.mirrored)
        ):
            steps[stage] = steps.get(stage, 0) + self.machine.steps - done
            done = self.machine.steps
        state[:] = registers[HELD, self._homes]
        return [(stage, count) for stage, count in steps.items() if count]

    def lowest(self, digit: int) -> int:
        """The lowest dimension of a digit."""
        number = self.level - 1 - digit if self.mirrored else digit
        return self.low_dimensions + self.bits * number

    def bits_of(self, digit: int | None, sweep: LensPass) -> list[int]:
        """The bits of a digit that are active, in the order of the pass."""
        if digit is None:
            return []
        lowest = self.lowest(digit)
        return [j - lowest for j in sweep.work.dimensions if 0 <= j - lowest < self.bits]

    def stage(self, digit: int) -> str:
        """The name of what is done to a digit."""
        lowest = self.lowest(digit)
        if self.bits == 1:
            return f"dimension {lowest}"
        return f"dimensions {lowest}..{lowest + self.bits - 1}"

    def enter(self, turn: int, sweep: LensPass) -> None:
        """To the right: a row receives from its owners all of its box that it needs."""
        crossings = self.crossings(turn)
        boxes = {row: changes(self.bits_of(digit, sweep)) for row, digit in crossings.items()}
        for received in self._substeps(boxes):
            self.move_right(received, sweep.registers)
        self._keep(turn, sweep)

    def meet(self, turn: int, sweep: LensPass) -> None:
        """Siblings send each other what they need, each on the lower bus of its own digit."""
        crossings = self.crossings(turn)
        boxes = {row: changes(self.bits_of(digit, sweep))[1:] for row, digit in crossings.items()}
        for received in self._substeps(boxes):
            senders = (
                (self.at[row], self.ports.across(self.at[row], change))
                for row, box in received.items()
                for change in box
            )
            self._hop(("across", *received.items()), sweep.registers, senders, self.ports.change)
        self._keep(turn, sweep)

    def move_right(self, received: dict[int, Changes], registers: Array) -> None:
        """One step into these rows, to the words that differ by given changes (0: to the same)."""
        senders = (
            (self.at[row - 1], self.ports.right(self.at[row - 1], change))
            for row, box in received.items()
            for change in box
        )
        self._hop(("right", *received.items()), registers, senders, self.ports.change)

    def move_left(self, rows: Iterable[int], registers: Array) -> None:
        """One step out of these rows, to the same words."""
        senders = ((self.at[row], self.ports.left(self.at[row])) for row in rows)
        self._hop(("left", *rows), registers, senders, lambda slots, ports: np.zeros_like(slots))

    def _substeps(self, boxes: dict[int, Changes]) -> Iterator[dict[int, Changes]]:
        """All at once; one after the other where a processor accepts one message in a step.

        Change 0 comes last, as it replaces what a processor holds.
        """
        if not self._accepts_one:
            boxes = {row: box for row, box in boxes.items() if box}
            yield from [boxes] if boxes else []
            return
        for turn in reversed(range(max(map(len, boxes.values())))):
            yield {row: box[turn : turn + 1] for row, box in boxes.items() if turn < len(box)}

    def _keep(self, turn: int, sweep: LensPass) -> None:
        """Compute, from the boxes received, the states that every processor needs."""
        registers = sweep.registers
        for row, digit in self.crossings(turn).items():
            bits = self.bits_of(digit, sweep)
            if digit is None or not bits:
                continue
            at, lowest = self.at[row], self.lowest(digit)
            index = self.elements(at, (row - turn) % self.level)
            while bits:
                bit = bits.pop(0)
                for change in changes(bits):
                    registers[change, at] = keep_own(
                        sweep.work.oper,
                        lowest + bit,
                        index ^ (change << lowest),
                        registers[change, at],
                        registers[change | 1 << bit, at],
                    )

    def _hop(
        self, key: Hashable, registers: Array, senders: Iterator[Ports], landing: Landing
    ) -> None:
        """One step (collective), planned when it first comes."""
        hop = self._hops.get(key)
        if hop is None:
            slots, ports = map(np.concatenate, zip(*senders, strict=True))
            hop = Hop(self.machine, slots, ports, landing)
            if len(self._hops) < self._most:
                self._hops[key] = hop
        hop(registers)


class RowSweeps(Sweeps):
    """Schedule of the completed lens: R^n elements, at home in the last row, sweep round all rows.

    To the right a round takes n steps, or nR if a processor accepts one message in a step; to the
    left 2n steps, or nR. A digit of which no dimension is active takes one step.
    """

    name = "rows"

    def homes(self) -> Ints:
        """The last row."""
        return self.at[-1]

    def crossings(self, turn: int) -> dict[int, int | None]:
        """One row after the other."""
        return {turn: turn}

    def stages(self, sweep: LensPass) -> Iterator[str]:
        """A digit after the other."""
        turns = range(self.level)
        if sweep.to_the_right:
            for turn in turns:
                self.enter(turn, sweep)
                yield self.stage(turn)
            return
        for turn in reversed(turns):
            self.meet(turn, sweep)
            self.move_left(self.crossings(turn), sweep.registers)
            yield self.stage(turn)


class Mirrored(RowSweeps):
    """Schedule as `RowSweeps`, but a DESCEND sweeps to the right and an ASCEND to the left."""

    name = "mirrored"
    mirrored = True


class Instances(RowSweeps):
    """Schedule of the completed lens: n sets of R^n elements at once, in the steps of `RowSweeps`.

    Each set has a row of its own to start from. In every step to the right each bus is busy.
    """

    name = "instances"

    def __init__(self, machine: Machine):
        super().__init__(machine)
        self.instances = self.level
        self.instance = (self.ports.rows + 1) % self.level

    def homes(self) -> Ints:
        """All processors."""
        return np.arange(len(self.machine.nodes))

    def crossings(self, turn: int) -> dict[int, int | None]:
        """All rows; all sets are at the same digit."""
        return dict.fromkeys(range(self.level), turn)

    def elements(self, slots: Ints, gap: int) -> Ints:
        """The word, read from the gap on."""
        turned = self.bits * gap if self.mirrored else -self.bits * gap
        return rotated_left(self._numbers[slots], self.dimensions, turned)


class MirroredInstances(Instances):
    """Schedule as `Instances`, but a DESCEND sweeps to the right and an ASCEND to the left."""

    name = "instances-mirrored"
    mirrored = True


class Hop:
    """A planned step that sends the register `HELD` on given ports (collective)."""

    def __init__(self, machine: Machine, slots: Ints, ports: Ints, landing: Landing):
        self._plan = machine.plan(machine.nodes[slots], ports)
        self._from = slots
        receivers = machine.slots(self._plan.nodes)
        self._to = landing(receivers, self._plan.ports), receivers

    def __call__(self, registers: Array) -> None:
        """Carry it out."""
        registers[self._to] = self._plan(registers[HELD, self._from])


def changes(bits: list[int]) -> Changes:
    """All numbers whose bits are among these, ascending: 0 first."""
    found: Changes = (0,)
    for bit in sorted(bits):
        found += tuple(change | 1 << bit for change in found)
    return found
