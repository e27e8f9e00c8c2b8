"""ASCEND and DESCEND on the BSN (spec of GBSN, section 4; the paper only names them)."""

from __future__ import annotations

from itertools import groupby
from math import gcd

import numpy as np

from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.networks.gbsn.regular import BlockShift
from mpinet.programs.operators.operator import Array, Numbers, Pass
from mpinet.programs.schedules.moves import Moves, Sends, rotated_left
from mpinet.programs.schedules.pairs import keep_own
from mpinet.programs.schedules.schedule import PassSchedule, Phase, Watch

HELD, HEARD = 0, 1
"""A processor's registers: its element, and the partner's state."""


class Sections(PassSchedule):
    """Of BSN(a,b): an exchange a dimension over the partial links, section after section of b bits.

    After t right shifts an element is at the processor of its number rotated right by t b bits, and
    the dimensions t b, .., t b + b - 1 are the rightmost bits there. With p = ceil(n/b) sections
    and rho = n / gcd(n, b), a full pass takes n + p - 1 + min(p - 1, rho - (p - 1)) steps, also
    with one port. A pass over a range shifts to its first section and from its last one home, each
    the shorter way round.
    """

    name = "sections"

    def __init__(self, machine: Machine):
        super().__init__(machine)
        topology = machine.topology
        if not isinstance(topology, BlockShift):
            raise UsageError(
                f"The algorithm {self.name} needs a block shift network, as bsn:2,2,8, and is "
                f"given {topology.name}."
            )
        self.dimensions = topology.bits
        self.index = machine.nodes
        self._shift = topology.shift
        self._rotations = topology.bits // gcd(topology.bits, topology.shift)
        self._moves = Moves(machine, self.name)

    def carry_out_pass(self, sweep: Pass, state: Array, watch: Watch | None) -> list[Phase]:
        """Section after section, then home."""
        stages, offset, begun = [], 0, self.machine.steps
        registers = np.stack([state, state])

        def end_stage(name: str) -> None:
            nonlocal begun
            if self.machine.steps > begun:
                stages.append((name, self.machine.steps - begun))
            begun = self.machine.steps
            if watch is not None:
                watch(self.machine.steps)

        for section, dimensions in groupby(sweep.dimensions, lambda j: j // self._shift):
            self._turn(offset, section, registers)
            offset = section
            for j in dimensions:
                self._exchange(sweep, j, section, registers)
            end_stage(f"section {section}")
        self._turn(offset, 0, registers)
        end_stage("home")
        state[:] = registers[HELD]
        return stages

    def _turn(self, offset: int, section: int, registers: Array) -> None:
        """Shift from one offset to another, the shorter way; on a tie right, but home left."""
        right, left = (section - offset) % self._rotations, (offset - section) % self._rotations
        rightwards = right <= left if section else right < left
        for _ in range(min(right, left)):
            self._shift_all(-self._shift if rightwards else self._shift, registers)

    def _shift_all(self, by: int, registers: Array) -> None:
        """One step: every element moves on, but for those that stay where they are."""
        nodes = self.machine.nodes

        def sends() -> Sends:
            targets = rotated_left(nodes, self.dimensions, by)
            slots = np.flatnonzero(targets != nodes)
            return Sends(slots, targets[slots], HELD)

        self._moves.move(("shift", by), registers, sends, lambda origins, receivers: HELD)

    def _exchange(self, sweep: Pass, j: int, section: int, registers: Array) -> None:
        """One step over the links of the bit that dimension j is at."""
        nodes, bit = self.machine.nodes, j - section * self._shift

        def sends() -> Sends:
            return Sends(np.arange(len(nodes)), nodes ^ (1 << bit), HELD)

        self._moves.move(("exchange", bit), registers, sends, lambda origins, receivers: HEARD)
        registers[HELD] = keep_own(
            sweep.oper, j, self._elements(section), registers[HELD], registers[HEARD]
        )

    def _elements(self, section: int) -> Numbers:
        """The elements at this rank's processors while a section is rightmost."""
        return rotated_left(self.machine.nodes, self.dimensions, section * self._shift)
