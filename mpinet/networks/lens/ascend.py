"""ASCEND and DESCEND round the rows of a completed lens (spec of the lens, 7; not in the paper).

An operator combines pairs, so that digits have to be bits: p = 3. With rows counted from 0 here,
the processor of row k and word w is number k 2^n + w; its ports are the two members of the own bus
(in the row after it, whose digit k+1 is 0 and 1), then of each of the two lower busses the owner
(in the row before it) and the sibling, which differs in digit k only. Digit 0 is the leftmost.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import ClassVar

import numpy as np

from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.networks.lens.wiring import CompletedLens
from mpinet.programs.operators.operator import ASCEND, DESCEND, Array, Numbers, Pass
from mpinet.programs.schedules.moves import KEPT
from mpinet.programs.schedules.pairs import keep_own
from mpinet.programs.schedules.schedule import PassSchedule, Phase, Watch

HELD, HEARD = 0, 1
"""A processor's registers: the element it is about to keep, and the partner's state."""

OWNER, SIBLING = 2, 3
"""The ports of lower bus 0; those of lower bus 1 are two further."""


Ports = tuple[Numbers, Numbers]
"""Places among this rank's processors, and ports."""

Landing = Callable[[Numbers, Numbers], Numbers]
"""``landing(slots, ports)``: the registers into which receivers put what comes in by a port."""


class Rows(PassSchedule):
    """Of the completed lens with p = 3: 2^n elements, which sweep round all rows.

    The element whose bits, from the lowest, are the digits of w is at home in the last row. An
    ASCEND sweeps to the right: a row sends on its own busses, and the next one hears both operands
    on its lower busses; n steps, or 2n if a processor accepts one message a step. A DESCEND sweeps
    to the left in 2n steps: siblings exchange, then their states move on to the row before. A
    dimension that is not active takes one step.
    """

    name = "rows"
    rightwards: ClassVar[str] = ASCEND
    """The kind of pass that sweeps to the right."""

    def __init__(self, machine: Machine):
        super().__init__(machine)
        lens = machine.topology
        if not isinstance(lens, CompletedLens) or lens.radices != (2, 2):
            raise UsageError(
                f"The algorithm {self.name} needs a completed lens with p = 3, as clens:3,4, and "
                f"is given {lens.name}."
            )
        n = self.dimensions = lens.level
        row, self._words = np.divmod(machine.nodes, 1 << n)
        self._rows = [np.flatnonzero(row == k) for k in range(n)]
        self._elements = self.element(self._words)
        self.index = self._elements[self._rows[-1]]
        self._accepts_one = machine.model.receive == 1
        self._hops: dict[Hashable, Hop] = {}
        self._most = KEPT // -(-lens.size // machine.transport.size)

    def element(self, words: Numbers) -> Numbers:
        """The elements of these words: the digits in reverse order."""
        elements = np.zeros_like(words)
        for j in range(self.dimensions):
            elements |= ((words >> (self.dimensions - 1 - j)) & 1) << j
        return elements

    def dimension(self, row: int) -> int:
        """The dimension of the digit in which siblings of a row differ."""
        return row

    def carry_out_pass(self, sweep: Pass, state: Array, watch: Watch | None) -> list[Phase]:
        """One round, over all rows, if any dimension is active."""
        if not sweep.dimensions:
            return []
        stages = []
        registers = np.zeros((2, len(self._words)), state.dtype)
        registers[HELD, self._rows[-1]] = state
        right = sweep.kind == self.rightwards
        for row in range(self.dimensions) if right else reversed(range(self.dimensions)):
            before = self.machine.steps
            (self._to_right if right else self._to_left)(row, sweep, registers)
            stages.append((f"dimension {self.dimension(row)}", self.machine.steps - before))
            if watch is not None:
                watch(self.machine.steps)
        state[:] = registers[HELD, self._rows[-1]]
        return stages

    def _to_right(self, row: int, sweep: Pass, registers: Array) -> None:
        """A row hears the one before: what has its own digit, and what has the other one."""
        if self.dimension(row) not in sweep.dimensions:
            self._hear(row, (HELD,), registers)
            return
        for parts in ((HELD,), (HEARD,)) if self._accepts_one else ((HELD, HEARD),):
            self._hear(row, parts, registers)
        self._keep(row, sweep, registers)

    def _hear(self, row: int, parts: tuple[int, ...], registers: Array) -> None:
        """One step: hear the operand of the own digit (`HELD`), of the other (`HEARD`), or both."""
        senders = self._rows[row - 1]

        def sends() -> Ports:
            digits = self._digits(senders, row)
            ports = np.concatenate([digits ^ part for part in parts])
            return np.tile(senders, len(parts)), ports

        def landing(slots: Numbers, ports: Numbers) -> Numbers:
            return ((ports - OWNER) >> 1) ^ self._digits(slots, row)

        self._hop(("right", row, parts), registers, sends, landing)

    def _to_left(self, row: int, sweep: Pass, registers: Array) -> None:
        """Siblings exchange, and the row before takes over; both on the bus of the own digit."""
        senders = self._rows[row]
        lower = 2 * self._digits(senders, row)
        if self.dimension(row) in sweep.dimensions:
            self._hop(
                ("siblings", row),
                registers,
                lambda: (senders, lower + SIBLING),
                lambda slots, ports: np.full(len(slots), HEARD),
            )
            self._keep(row, sweep, registers)
        self._hop(
            ("left", row),
            registers,
            lambda: (senders, lower + OWNER),
            lambda slots, ports: np.full(len(slots), HELD),
        )

    def _keep(self, row: int, sweep: Pass, registers: Array) -> None:
        """Work out the own half of the pairs that a row has heard."""
        at, j = self._rows[row], self.dimension(row)
        held, heard = registers[HELD, at], registers[HEARD, at]
        registers[HELD, at] = keep_own(sweep.oper, j, self._elements[at], held, heard)

    def _digits(self, slots: Numbers, row: int) -> Numbers:
        """The digit of this row in the words of some of this rank's processors."""
        return (self._words[slots] >> (self.dimensions - 1 - row)) & 1

    def _hop(
        self, key: Hashable, registers: Array, sends: Callable[[], Ports], landing: Landing
    ) -> None:
        """One step (collective), planned when it first comes."""
        hop = self._hops.get(key)
        if hop is None:
            hop = Hop(self.machine, *sends(), landing)
            if len(self._hops) < self._most:
                self._hops[key] = hop
        hop(registers)


class Mirrored(Rows):
    """As `Rows`, but the digits are the bits from the highest.

    Thus a DESCEND sweeps to the right, in n steps (2n with one port), and an ASCEND to the left.
    """

    name = "mirrored"
    rightwards = DESCEND

    def element(self, words: Numbers) -> Numbers:
        """The elements of these words: the word itself."""
        return words

    def dimension(self, row: int) -> int:
        """The dimension of the digit in which siblings of a row differ."""
        return self.dimensions - 1 - row


class Hop:
    """A planned step that sends the register `HELD` on given ports (collective)."""

    def __init__(self, machine: Machine, slots: Numbers, ports: Numbers, landing: Landing):
        self._plan = machine.plan(machine.nodes[slots], ports)
        self._from = slots
        receivers = machine.slots(self._plan.nodes)
        self._to = landing(receivers, self._plan.ports), receivers

    def __call__(self, registers: Array) -> None:
        """Carry it out."""
        registers[self._to] = self._plan(registers[HELD, self._from])
