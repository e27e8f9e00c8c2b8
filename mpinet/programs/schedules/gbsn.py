"""ASCEND and DESCEND on the BSN (docs/papers/gbsn, 4; the paper only names them).

A GBSN of equal blocks that is a BSN, with the same numbers and ports, is a host, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import gcd
from typing import Any

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.machine.state import Fields
from mpinet.networks.gbsn.general import GeneralizedBlockShift
from mpinet.networks.gbsn.regular import BlockShift
from mpinet.networks.topology import Topology
from mpinet.programs.operators.operator import Pass
from mpinet.programs.schedules.moves import Moves, rotated_left
from mpinet.programs.schedules.pairs import keep_own
from mpinet.programs.schedules.schedule import PassSchedule, Phase

HELD, RECEIVED = 0, 1
"""A processor's registers: its element, and the partner's state."""


class Sections(PassSchedule):
    """Schedule of BSN(a,b): an exchange a dimension over partial links, by sections of b bits.

    After t right shifts an element is at the processor of its number rotated right by t b bits, and
    the dimensions t b, .., t b + b - 1 are the rightmost bits there. With p = ceil(n/b) sections
    and rho = n / gcd(n, b), a full pass takes n + p - 1 + min(p - 1, rho - (p - 1)) steps, also
    with one port. A pass over a range shifts to its first section and from its last one home, each
    the shorter way round.
    """

    name = "sections"

    def __init__(self, machine: Machine):
        super().__init__(machine)
        network = require_block_shift(machine.topology, self.name)
        self.dimensions = network.bits
        self.index = machine.nodes
        self._shift = network.shift
        self._rotations = network.bits // gcd(network.bits, network.shift)
        self._offset = 0
        self._moves = Moves(machine, self.name)

    def state(self) -> Fields:
        """The section that is rightmost."""
        return {"offset": self._offset}

    def restore(self, found: Mapping[str, Any]) -> None:
        """Go on from there."""
        self._offset = found["offset"]

    def carry_out_pass(self, sweep: Pass, state: Array) -> list[Phase]:
        """Section after section, then home."""
        stages, begun = [], self.machine.steps
        registers = np.stack([state, state])

        def end_stage(name: str) -> None:
            nonlocal begun
            if self.machine.steps > begun:
                stages.append((name, self.machine.steps - begun))
            begun = self.machine.steps

        for section, dimensions in groupby(sweep.dimensions, lambda j: j // self._shift):
            self._turn(section, registers)
            for j in dimensions:
                self._exchange(sweep, j, section, registers)
            end_stage(f"section {section}")
        self.come_home(registers)
        end_stage("home")
        state[:] = registers[HELD]
        return stages

    def come_home(self, registers: Array) -> None:
        """End a pass: shift all elements home."""
        self._turn(0, registers)

    def prefers_right(self, section: int) -> bool:
        """Tell if both ways being equally long the shifts go right: home they go left."""
        return section > 0

    def _turn(self, section: int, registers: Array) -> None:
        """Shift until this section is rightmost, the shorter way."""
        right = (section - self._offset) % self._rotations
        left = (self._offset - section) % self._rotations
        rightwards = right < left or (right == left and self.prefers_right(section))
        for _ in range(min(right, left)):
            self._shift_all(-self._shift if rightwards else self._shift, registers)
        self._offset = section

    def _shift_all(self, by: int, registers: Array) -> None:
        """One step: every element moves on, but for those that stay where they are."""
        nodes, q = self.machine.nodes, self.dimensions
        self._moves.to_all(("shift", by), registers, lambda: rotated_left(nodes, q, by))

    def _exchange(self, sweep: Pass, j: int, section: int, registers: Array) -> None:
        """One step over the links of the bit that dimension j is at."""
        nodes, bit = self.machine.nodes, j - section * self._shift
        self._moves.to_all(("exchange", bit), registers, lambda: nodes ^ (1 << bit), RECEIVED)
        registers[HELD] = keep_own(
            sweep.oper, j, self._elements(section), registers[HELD], registers[RECEIVED]
        )

    def _elements(self, section: int) -> Ints:
        """The elements at this rank's processors while a section is rightmost."""
        return rotated_left(self.machine.nodes, self.dimensions, section * self._shift)


class Unaligned(Sections):
    """Schedule as `Sections` without shifts home: the next pass begins where the last one ended.

    A reduction that all processors learn takes n + p - 1 steps, since everybody has the result
    wherever the elements are. Data circulation is a program of this schedule, too: it turns to the
    section of each exchange by the shorter way, on a tie right, and ends at home. `index` tells
    where the elements are between programs.
    """

    name = "unaligned"

    def __init__(self, machine: Machine):
        super().__init__(machine)
        self.index = machine.nodes.copy()

    def carry_out(self, program: Sequence[Pass], state: Array) -> list[list[Phase]]:
        """Carry out as in `PassSchedule`; `index` changes in place, for all who hold it."""
        stages = super().carry_out(program, state)
        self.index[:] = self._elements(self._offset)
        return stages

    def come_home(self, registers: Array) -> None:
        """Stay."""

    def prefers_right(self, section: int) -> bool:
        """Always."""
        return True


def require_block_shift(topology: Topology, algorithm: str) -> BlockShift:
    """The BSN that a network is: itself, or the one with the GBSN's numbers and ports.

    Raises
    ------
    UsageError
        It is none.
    """
    if isinstance(topology, BlockShift):
        return topology
    if not isinstance(topology, GeneralizedBlockShift):
        raise UsageError(
            f"The algorithm {algorithm} needs a block shift network, as bsn:2,2,8, and is given "
            f"{topology.name}."
        )
    if topology.regular is None:
        raise UsageError(
            f"The algorithm {algorithm} needs a GBSN that is a BSN: 2^c blocks of 2^b processors "
            f"each, for the shift b, and one a that divides b. {topology.name} is none."
        )
    return topology.regular
