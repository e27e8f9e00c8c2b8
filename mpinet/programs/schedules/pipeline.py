"""Low dimensions along lines, high ones in a pipeline, after Preparata and Vuillemin (1981).

The processors form lines of 2^r. The lateral link of each processor belongs to one high dimension.
In step 2 the elements of a line circulate through its places. An element at a lateral link in the
link's turn exchanges with its partner. All dimensions run concurrently.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.machine import Machine
from mpinet.programs.operators.operator import ASCEND, Pass
from mpinet.programs.schedules.hosted import moves_of
from mpinet.programs.schedules.line import Lines
from mpinet.programs.schedules.moves import MoveSends
from mpinet.programs.schedules.pairs import keep_own
from mpinet.programs.schedules.schedule import (
    PassSchedule,
    Phase,
    is_one_port,
    require_power_of_two,
)

HELD, EXTRA, LEAVING, RECEIVED = range(4)
"""Registers of a processor: its element; a second and a leaving element, where lines share a
processor; the partner's state.
"""


class Pipeline(PassSchedule):
    """Common part of the hosts with lines and a pipeline.

    Parameters
    ----------
    machine : Machine
        Machine with 2^q processors.
    length : int
        Number of processors in a line: 2^r.
    rounds, exchanges : int
        Number of iterations of step 2, and number of iterations with an exchange.
    """

    def __init__(self, machine: Machine, length: int, rounds: int, exchanges: int):
        super().__init__(machine)
        self.moves = moves_of(machine, self.name)
        self.dimensions = require_power_of_two(self.moves.topology)
        self.require_no_switches()
        self.length = length
        self.low_dimensions = length.bit_length() - 1
        self.one_port = is_one_port(machine)
        self.nodes = self.moves.nodes
        self.places: Ints = self.place(self.nodes)
        """Places of this rank's processors in their lines. Shape (processors,)."""
        self.index = self.element(self.nodes, self.places)
        self._rounds, self._exchanges = rounds, exchanges
        self._lines = Lines(machine, self.moves, self.place)
        self._at = [np.flatnonzero(self.places == place) for place in range(length)]

    @abstractmethod
    def place(self, nodes: Ints) -> Ints:
        """Return the places of processors in their lines."""

    @abstractmethod
    def element(self, nodes: Ints, home: Ints) -> Ints:
        """Return the elements of these processors' lines with homes at the places `home`."""

    @abstractmethod
    def lateral(self, nodes: Ints) -> Ints:
        """Return the neighbours of processors over their lateral links."""

    @abstractmethod
    def meetings(self, turn: int) -> dict[int, int]:
        """Return the places that exchange in this turn, each with its dimension."""

    @abstractmethod
    def home(self, place: int, turn: int) -> int:
        """Return the home of the element at a place at the beginning of iteration `turn`."""

    @abstractmethod
    def circulate(self, turn: int, kind: str, registers: Array) -> None:
        """Move all elements one place on, or one place back if the pass descends.

        Iteration `turn` ends with this move, or begins with it if the pass descends.
        """

    def carry_out_pass(self, sweep: Pass, state: Array) -> list[Phase]:
        """Run step 1, then step 2; the reverse if the pass descends. Return the phases."""
        parts = [("step 1", self._along_lines), ("step 2", self._across)]
        stages = []
        for name, part in parts if sweep.kind == ASCEND else parts[::-1]:
            before = self.machine.steps
            part(sweep, state)
            if self.machine.steps > before:
                stages.append((name, self.machine.steps - before))
        return stages

    def _along_lines(self, sweep: Pass, state: Array) -> None:
        """Run step 1: the low dimensions, one after the other."""
        for j in sweep.dimensions:
            if j < self.low_dimensions:
                theirs = self._lines.partners(j, state)
                state[:] = keep_own(sweep.oper, j, self.index, state, theirs)

    def _across(self, sweep: Pass, state: Array) -> None:
        """Run step 2: the high dimensions, in a pipeline."""
        if sweep.high <= self.low_dimensions:
            return
        registers = np.stack([state] * 4)
        turns = range(1, self._rounds + 1)
        for turn in turns if sweep.kind == ASCEND else reversed(turns):
            if sweep.kind == ASCEND:
                self._exchange(turn, sweep, registers)
                self.circulate(turn, sweep.kind, registers)
            else:
                self.circulate(turn, sweep.kind, registers)
                self._exchange(turn, sweep, registers)
        state[:] = registers[HELD]

    def _exchange(self, turn: int, sweep: Pass, registers: Array) -> None:
        """Run one step over the lateral links of this turn."""
        if turn > self._exchanges:
            return
        active = {p: j for p, j in self.meetings(turn).items() if j in sweep.dimensions}
        nodes = self.nodes

        def sends() -> MoveSends:
            slots = np.flatnonzero(np.isin(self.places, list(active)))
            return MoveSends(slots, self.lateral(nodes[slots]), HELD)

        self.moves.move(("lateral", *active), registers, sends, lambda origins, receivers: RECEIVED)
        for place, j in active.items():
            at = self._at[place]
            index = self.element(nodes[at], np.full(len(at), self.home(place, turn)))
            held, theirs = registers[HELD, at], registers[RECEIVED, at]
            registers[HELD, at] = keep_own(sweep.oper, j, index, held, theirs)
