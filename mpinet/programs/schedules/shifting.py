"""Hosts on which all elements shift: shuffle-exchange and de Bruijn (docs/papers/gmn, 7.3).

After t shifts the element at a processor is the processor's number with its bits rotated t places.
The partners of the current dimension are then close together. After q shifts every element is home.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.machine import Machine
from mpinet.programs.operators.operator import ASCEND, Pass
from mpinet.programs.schedules.moves import Moves, MoveSends, rotated_left
from mpinet.programs.schedules.pairs import keep_own
from mpinet.programs.schedules.schedule import (
    PassSchedule,
    Phase,
    is_one_port,
    require_power_of_two,
)

HELD, RECEIVED = 0, 1
"""Registers of a processor: its element, and the partner's state."""


class Shifting(PassSchedule):
    """Schedule that rotates through all dimensions in every pass, active or not.

    Parameters
    ----------
    machine : Machine
        Machine with 2^q processors.

    Raises
    ------
    UsageError
        The number of processors is not a power of two.
    """

    def __init__(self, machine: Machine):
        super().__init__(machine)
        self.dimensions = require_power_of_two(machine.topology)
        self.require_no_switches()
        self.index = machine.nodes
        self._moves = Moves(machine, self.name)

    def carry_out_pass(self, sweep: Pass, state: Array) -> list[Phase]:
        """Run all q dimensions, one after the other; return the phases."""
        stages = []
        turns = range(self.dimensions)
        registers = np.stack([state, state, state])
        for j in turns if sweep.kind == ASCEND else reversed(turns):
            before = self.machine.steps
            self.turn(sweep, j, registers)
            stages.append((f"dimension {j}", self.machine.steps - before))
        state[:] = registers[HELD]
        return stages

    @abstractmethod
    def turn(self, sweep: Pass, j: int, registers: Array) -> None:
        """Exchange in dimension j if active, and shift all elements."""

    def rotated(self, nodes: Ints, kind: str) -> Ints:
        """Return the targets of elements: rotated right if the pass ascends, otherwise left."""
        return rotated_left(nodes, self.dimensions, -1 if kind == ASCEND else 1)

    def elements(self, shifts: int) -> Ints:
        """Return the elements at this rank's processors after `shifts` rotations to the right."""
        return rotated_left(self.machine.nodes, self.dimensions, shifts)

    def shift(self, kind: str, registers: Array) -> None:
        """Run one step: every element moves by one shift, unless the shift maps it to itself."""
        self._moves.to_all(
            ("shift", kind), registers, lambda: self.rotated(self.machine.nodes, kind)
        )


class ShuffleExchangeSchedule(Shifting):
    """Schedule of the shuffle-exchange: q rotations, and an exchange in every active dimension."""

    name = "shuffle"

    def turn(self, sweep: Pass, j: int, registers: Array) -> None:
        """Exchange, then rotate right; or rotate left, then exchange."""
        if sweep.kind == ASCEND:
            self._exchange(sweep, j, registers)
            self.shift(sweep.kind, registers)
        else:
            self.shift(sweep.kind, registers)
            self._exchange(sweep, j, registers)

    def _exchange(self, sweep: Pass, j: int, registers: Array) -> None:
        """Run one step over the exchange links, if the dimension is active."""
        if j not in sweep.dimensions:
            return
        self._moves.to_all("exchange", registers, lambda: self.machine.nodes ^ 1, RECEIVED)
        registers[HELD] = keep_own(
            sweep.oper, j, self.elements(j), registers[HELD], registers[RECEIVED]
        )


class DeBruijnSchedule(Shifting):
    """Schedule of the de Bruijn graph: a step per dimension brings pairs together and shifts them.

    Every processor sends its element to both successors (descending) or predecessors (ascending).
    Each receives a pair and keeps the element of its own number. With one port a processor first
    sends to the neighbour that keeps the element's own bit, then to the other neighbour.
    """

    name = "debruijn"

    def __init__(self, machine: Machine):
        super().__init__(machine)
        self._one_port = is_one_port(machine)

    def turn(self, sweep: Pass, j: int, registers: Array) -> None:
        """Receive a pair and keep one element; in an inactive dimension only shift."""
        if j not in sweep.dimensions:
            self.shift(sweep.kind, registers)
            return
        for parts in ((False,), (True,)) if self._one_port else ((False, True),):
            self._send(sweep.kind, parts, registers)
        shifts = j + 1 if sweep.kind == ASCEND else j
        self._keep(sweep, j, self.elements(shifts), registers)

    def _send(self, kind: str, parts: tuple[bool, ...], registers: Array) -> None:
        """Run one step to the neighbours that keep the own bit (False) or the other bit (True).

        The pair's element with bit 0 lands in register 1, the other element in register 2.
        """
        nodes, q = self.machine.nodes, self.dimensions
        last, first = (q - 1, 0) if kind == ASCEND else (0, q - 1)

        def sends() -> MoveSends:
            own = self.rotated(nodes, kind)
            targets = np.concatenate([own ^ (int(part) << last) for part in parts])
            slots = np.tile(np.arange(len(nodes)), len(parts))
            moving = targets != nodes[slots]
            return MoveSends(slots[moving], targets[moving])

        def landing(origins: Ints, receivers: Ints) -> Ints:
            return 1 + ((origins >> first) & 1)

        self._moves.move((kind, parts), registers, sends, landing)
        if False in parts:
            still = np.flatnonzero(self.rotated(nodes, kind) == nodes)
            registers[1 + (nodes[still] & 1), still] = registers[HELD, still]

    def _keep(self, sweep: Pass, j: int, index: Ints, registers: Array) -> None:
        """Keep the element `index` of the received pair."""
        upper = (index >> j) & 1 == 1
        own = np.where(upper, registers[2], registers[1])
        theirs = np.where(upper, registers[1], registers[2])
        registers[HELD] = keep_own(sweep.oper, j, index, own, theirs)
