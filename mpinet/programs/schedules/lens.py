"""ASCEND and DESCEND on the rows of a lens (docs/papers/lens, 7; not in the paper).

An operator combines pairs, so digits must consist of bits: p = q = R + 1 with R = 2^b. A processor
that receives the R states of its box (its own and its siblings') computes all b dimensions of the
digit. Rows are counted from 0 here. Digit k, counted from the left, is processed in row k. An
element that moves to the right meets its box on entering the row, where the owners of the box send
it. An element that moves to the left meets its box before leaving the row.
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
"""Registers: the element to keep, and an element visiting its partner. During the receive of a box,
register x holds the state of the element whose digit differs by XOR x.
"""

Ports = tuple[Ints, Ints]
"""Indices into this rank's processors, and ports."""

Landing = Callable[[Ints, Ints], Ints]
"""Function ``landing(slots, ports)`` from receivers and arrival ports to registers."""

Changes = tuple[int, ...]
"""Senders of a box, each as the XOR of its digit and the receiver's digit."""


@dataclass(frozen=True, eq=False)
class LensPass:
    """A running pass over the rows of a lens: its states and its direction."""

    work: Pass
    """The pass of the operator."""
    registers: Array
    """States in this rank's processors. Shape (registers, processors)."""
    to_the_right: bool
    """True if elements cross to the right."""

    @property
    def ascends(self) -> bool:
        """True if the dimensions ascend."""
        return self.work.kind == ASCEND


class Sweeps(PassSchedule):
    """Common part of all schedules of the lens: elements move from row to row, in turns.

    In turn t an element with its home at gap g (between digits g-1 and g, on the circle) crosses
    into row g + t. The bits of an element, from the lowest, are the bits of its digits in the order
    of crossing in a pass to the right. If this pass descends, the order starts with the highest
    bits.
    """

    completed: ClassVar[bool] = True
    mirrored: ClassVar[bool] = False
    """True if a DESCEND moves to the right."""

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
        """Return whether the schedule can run on this lens."""
        return lens.digit_bits > 0 and lens.completed == cls.completed

    @abstractmethod
    def homes(self) -> Ints:
        """Return the slots of this rank's processors with an element."""

    @abstractmethod
    def crossings(self, turn: int) -> dict[int, int | None]:
        """Return the rows entered in a turn, with the digit processed in each row, or None.

        Digits are numbered in the order of a pass to the right.
        """

    @abstractmethod
    def stages(self, sweep: LensPass) -> Iterator[str]:
        """Run a pass (collective); yield the name of each stage after its steps."""

    def dimensions_of_homes(self) -> int:
        """Return the number of dimensions below the digits' dimensions: bits of the home's gap.

        Default: 0.
        """
        return 0

    def elements(self, slots: Ints, gap: int) -> Ints:
        """Return the elements of the processors' words with homes at a gap."""
        return self._numbers[slots]

    def _read_words(self) -> Ints:
        """Return the elements of the words if the leftmost digit is crossed first."""
        words, radix = self.ports.words, 1 << self.bits
        if self.mirrored:
            return words
        numbers = np.zeros_like(words)
        for _ in range(self.level):
            words, digits = np.divmod(words, radix)
            numbers = numbers * radix + digits
        return numbers

    def carry_out_pass(self, sweep: Pass, state: Array) -> list[Phase]:
        """Run a pass and return its phases; a pass without dimensions takes no steps."""
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
        """Return the lowest dimension of the operator that belongs to a digit."""
        number = self.level - 1 - digit if self.mirrored else digit
        return self.low_dimensions + self.bits * number

    def bits_of(self, digit: int | None, sweep: LensPass) -> list[int]:
        """Return the active bits of a digit, in the order of the pass."""
        if digit is None:
            return []
        lowest = self.lowest(digit)
        return [j - lowest for j in sweep.work.dimensions if 0 <= j - lowest < self.bits]

    def stage(self, digit: int) -> str:
        """Return the name of a digit's stage: its range of dimensions."""
        lowest = self.lowest(digit)
        if self.bits == 1:
            return f"dimension {lowest}"
        return f"dimensions {lowest}..{lowest + self.bits - 1}"

    def enter(self, turn: int, sweep: LensPass) -> None:
        """Move to the right: each row receives the needed elements of its box from their owners."""
        crossings = self.crossings(turn)
        boxes = {row: changes(self.bits_of(digit, sweep)) for row, digit in crossings.items()}
        for received in self._substeps(boxes):
            self.move_right(received, sweep.registers)
        self._keep(turn, sweep)

    def meet(self, turn: int, sweep: LensPass) -> None:
        """Exchange the needed elements between siblings, each on the lower bus of its own digit."""
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
        """Move elements to the right into these rows, to words changed by XOR (0: same word)."""
        senders = (
            (self.at[row - 1], self.ports.right(self.at[row - 1], change))
            for row, box in received.items()
            for change in box
        )
        self._hop(("right", *received.items()), registers, senders, self.ports.change)

    def move_left(self, rows: Iterable[int], registers: Array) -> None:
        """Move elements out of these rows to the left, in one step, to the same words."""
        senders = ((self.at[row], self.ports.left(self.at[row])) for row in rows)
        self._hop(("left", *rows), registers, senders, lambda slots, ports: np.zeros_like(slots))

    def _substeps(self, boxes: dict[int, Changes]) -> Iterator[dict[int, Changes]]:
        """Yield the changes of each step: all at once, or one if processors accept one message.

        Change 0 comes last, because it replaces the element held by a processor.
        """
        if not self._accepts_one:
            boxes = {row: box for row, box in boxes.items() if box}
            yield from [boxes] if boxes else []
            return
        for turn in reversed(range(max(map(len, boxes.values())))):
            yield {row: box[turn : turn + 1] for row, box in boxes.items() if turn < len(box)}

    def _keep(self, turn: int, sweep: LensPass) -> None:
        """Compute from the received boxes the new states of all processors."""
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
        """Run one step (collective); the step is planned at its first use."""
        hop = self._hops.get(key)
        if hop is None:
            slots, ports = map(np.concatenate, zip(*senders, strict=True))
            hop = Hop(self.machine, slots, ports, landing)
            if len(self._hops) < self._most:
                self._hops[key] = hop
        hop(registers)


class RowSweeps(Sweeps):
    """Schedule of the completed lens: R^n elements, home in the last row, circle through all rows.

    To the right a round takes n steps, or nR if a processor accepts one message per step. To the
    left a round takes 2n steps, or nR. A digit without an active dimension takes one step.
    """

    name = "rows"

    def homes(self) -> Ints:
        """Return the slots of the last row, whose processors have the elements."""
        return self.at[-1]

    def crossings(self, turn: int) -> dict[int, int | None]:
        """Return the single row entered in a turn, with its digit."""
        return {turn: turn}

    def stages(self, sweep: LensPass) -> Iterator[str]:
        """Run the digits one after the other; yield the stage of each."""
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
    """Schedule like `RowSweeps`, but a DESCEND moves to the right and an ASCEND to the left."""

    name = "mirrored"
    mirrored = True


class Instances(RowSweeps):
    """Schedule of the completed lens: n sets of R^n elements at once, in the steps of `RowSweeps`.

    Each set starts from its own row. In every step to the right each bus is busy.
    """

    name = "instances"

    def __init__(self, machine: Machine):
        super().__init__(machine)
        self.instances = self.level
        self.instance = (self.ports.rows + 1) % self.level

    def homes(self) -> Ints:
        """Return the slots of all processors: each has an element."""
        return np.arange(len(self.machine.nodes))

    def crossings(self, turn: int) -> dict[int, int | None]:
        """Return all rows, all with the same digit."""
        return dict.fromkeys(range(self.level), turn)

    def elements(self, slots: Ints, gap: int) -> Ints:
        """Return the elements: the words, read from the gap on."""
        turned = self.bits * gap if self.mirrored else -self.bits * gap
        return rotated_left(self._numbers[slots], self.dimensions, turned)


class MirroredInstances(Instances):
    """Schedule like `Instances`, but a DESCEND moves to the right and an ASCEND to the left."""

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
        """Run the planned step on the registers."""
        registers[self._to] = self._plan(registers[HELD, self._from])


def changes(bits: list[int]) -> Changes:
    """Return all numbers with bits among the given ones, ascending: 0 first."""
    found: Changes = (0,)
    for bit in sorted(bits):
        found += tuple(change | 1 << bit for change in found)
    return found
