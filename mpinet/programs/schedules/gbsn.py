"""ASCEND and DESCEND on the BSN (docs/papers/gbsn, 4; the paper only names them).

A GBSN of equal blocks that equals a BSN, with the same numbers and ports, is also a host.
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
from mpinet.programs.schedules.hosted import moves_of
from mpinet.programs.schedules.moves import rotated_left
from mpinet.programs.schedules.pairs import keep_own
from mpinet.programs.schedules.schedule import PassSchedule, Phase

HELD, RECEIVED = 0, 1
"""Registers of a processor: its element, and the partner's state."""


class Sections(PassSchedule):
    """Schedule of BSN(a,b): one exchange per dimension over partial links, by sections of b bits.

    After t right shifts an element is at the processor of its number rotated right by t b bits. The
    dimensions t b, .., t b + b - 1 are then the rightmost bits. Let p = ceil(n/b) be the number of
    sections and rho = n / gcd(n, b). A full pass takes n + p - 1 + min(p - 1, rho - (p - 1)) steps,
    also with one port. A pass over a range of dimensions shifts to its first section, and from its
    last section home, each time the shorter way.
    """

    name = "sections"

    def __init__(self, machine: Machine):
        super().__init__(machine)
        network = require_block_shift(machine.topology, self.name)
        self._moves = moves_of(machine, self.name)
        self.dimensions = network.bits
        self.index = self._moves.nodes
        self._shift = network.shift
        self._rotations = network.bits // gcd(network.bits, network.shift)
        self._offset = 0

    def state(self) -> Fields:
        """Return the rightmost section for a checkpoint."""
        return {"offset": self._offset}

    def restore(self, found: Mapping[str, Any]) -> None:
        """Restore the rightmost section from a checkpoint."""
        self._offset = found["offset"]

    def carry_out_pass(self, sweep: Pass, state: Array) -> list[Phase]:
        """Run a pass section by section, then shift the elements home; return the phases."""
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
        """Return the direction of shifts on a tie: right (True) except on the way home."""
        return section > 0

    def _turn(self, section: int, registers: Array) -> None:
        """Shift all elements the shorter way until `section` is rightmost."""
        right = (section - self._offset) % self._rotations
        left = (self._offset - section) % self._rotations
        rightwards = right < left or (right == left and self.prefers_right(section))
        for _ in range(min(right, left)):
            self._shift_all(-self._shift if rightwards else self._shift, registers)
        self._offset = section

    def _shift_all(self, by: int, registers: Array) -> None:
        """Run one step: every element moves by one shift, unless the shift maps it to itself."""
        nodes, q = self._moves.nodes, self.dimensions
        self._moves.to_all(("shift", by), registers, lambda: rotated_left(nodes, q, by))

    def _exchange(self, sweep: Pass, j: int, section: int, registers: Array) -> None:
        """Run one step: exchange over the links of the current bit of dimension j."""
        nodes, bit = self._moves.nodes, j - section * self._shift
        self._moves.to_all(("exchange", bit), registers, lambda: nodes ^ (1 << bit), RECEIVED)
        registers[HELD] = keep_own(
            sweep.oper, j, self._elements(section), registers[HELD], registers[RECEIVED]
        )

    def _elements(self, section: int) -> Ints:
        """Return the elements at this rank's processors while `section` is rightmost."""
        return rotated_left(self._moves.nodes, self.dimensions, section * self._shift)


class Unaligned(Sections):
    """Schedule like `Sections` without shifts home: passes begin where the previous one ended.

    A reduction to all processors takes n + p - 1 steps, because all processors hold the result.
    Data circulation is also a program of this schedule. For each exchange, elements shift to its
    section by the shorter way, on a tie right. The program ends with all elements at home. `index`
    holds the positions of the elements between programs.
    """

    name = "unaligned"

    def __init__(self, machine: Machine):
        super().__init__(machine)
        self.index = self.index.copy()

    def carry_out(self, program: Sequence[Pass], state: Array) -> list[list[Phase]]:
        """Run a program as in `PassSchedule`; `index` is updated in place for all its users."""
        stages = super().carry_out(program, state)
        self.index[:] = self._elements(self._offset)
        return stages

    def come_home(self, registers: Array) -> None:
        """End a pass without any shift."""

    def prefers_right(self, section: int) -> bool:
        """Return True: shifts go right on every tie."""
        return True


def require_block_shift(topology: Topology, algorithm: str) -> BlockShift:
    """Return the BSN of a network: the network, the BSN equal to a GBSN, or the GBSN's guest.

    Raises
    ------
    UsageError
        The network is not a block shift network.
    """
    network = topology.regular if isinstance(topology, GeneralizedBlockShift) else topology
    network = network or topology.guest
    if not isinstance(network, BlockShift):
        raise UsageError(
            f"The algorithm {algorithm} needs a block shift network, as bsn:2,2,8, and is given "
            f"{topology.name}."
        )
    return network
