"""Low dimensions along lines, high ones in a pipeline, after Preparata and Vuillemin (1981).

The processors form lines of 2^r, each with a lateral link that belongs to one high dimension. In
step 2 the elements of a line circulate through its places; whichever stands at a lateral link when
its turn has come exchanges with the partner. All dimensions are under way at once.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.machine import Machine
from mpinet.programs.operators.operator import ASCEND, Pass
from mpinet.programs.schedules.line import Lines
from mpinet.programs.schedules.moves import Moves, MoveSends
from mpinet.programs.schedules.pairs import keep_own
from mpinet.programs.schedules.schedule import (
    PassSchedule,
    Phase,
    is_one_port,
    require_power_of_two,
)

HELD, EXTRA, LEAVING, RECEIVED = range(4)
"""A processor's registers: its element; another one and one that is about to leave, where lines
share a processor; the partner's state."""


class Pipeline(PassSchedule):
    """Common part of the hosts with lines and a pipeline.

    Parameters
    ----------
    machine : Machine
        Has 2^q processors.
    length : int
        Processors in a line: 2^r.
    rounds, exchanges : int
        Iterations of step 2, and how many of them have an exchange.
    """

    def __init__(self, machine: Machine, length: int, rounds: int, exchanges: int):
        super().__init__(machine)
        self.dimensions = require_power_of_two(machine.topology)
        self.require_no_switches()
        self.length = length
        self.low_dimensions = length.bit_length() - 1
        self.one_port = is_one_port(machine)
        self.moves = Moves(machine, self.name)
        self.places: Ints = self.place(machine.nodes)
        """The places of this rank's processors in their lines. Shape (processors,)."""
        self.index = self.element(machine.nodes, self.places)
        self._rounds, self._exchanges = rounds, exchanges
        self._lines = Lines(machine, self.moves, self.place)
        self._at = [np.flatnonzero(self.places == place) for place in range(length)]

    @abstractmethod
    def place(self, nodes: Ints) -> Ints:
        """The places of any processors in their lines."""

    @abstractmethod
    def element(self, nodes: Ints, home: Ints) -> Ints:
        """The elements of these processors' lines that are at home at the places `home`."""

    @abstractmethod
    def lateral(self, nodes: Ints) -> Ints:
        """The processors behind the lateral links."""

    @abstractmethod
    def meetings(self, turn: int) -> dict[int, int]:
        """The places whose turn it is to exchange, each with its dimension."""

    @abstractmethod
    def home(self, place: int, turn: int) -> int:
        """The home of the element that is at a place when iteration `turn` begins."""

    @abstractmethod
    def circulate(self, turn: int, kind: str, registers: Array) -> None:
        """Move all elements one place on, or back where the pass descends.

        Iteration `turn` ends with it, or, backwards, begins with it.
        """

    def carry_out_pass(self, sweep: Pass, state: Array) -> list[Phase]:
        """Step 1, then step 2; the other way round where the pass descends."""
        parts = [("step 1", self._along_lines), ("step 2", self._across)]
        stages = []
        for name, part in parts if sweep.kind == ASCEND else parts[::-1]:
            before = self.machine.steps
            part(sweep, state)
            if self.machine.steps > before:
                stages.append((name, self.machine.steps - before))
        return stages

    def _along_lines(self, sweep: Pass, state: Array) -> None:
        """Step 1: the low dimensions, one after the other."""
        for j in sweep.dimensions:
            if j < self.low_dimensions:
                theirs = self._lines.partners(j, state)
                state[:] = keep_own(sweep.oper, j, self.index, state, theirs)

    def _across(self, sweep: Pass, state: Array) -> None:
        """Step 2: the high dimensions, in a pipeline."""
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
        """One step over the lateral links whose turn it is."""
        if turn > self._exchanges:
            return
        active = {p: j for p, j in self.meetings(turn).items() if j in sweep.dimensions}
        nodes = self.machine.nodes

        def sends() -> MoveSends:
            slots = np.flatnonzero(np.isin(self.places, list(active)))
            return MoveSends(slots, self.lateral(nodes[slots]), HELD)

        self.moves.move(("lateral", *active), registers, sends, lambda origins, receivers: RECEIVED)
        for place, j in active.items():
            at = self._at[place]
            index = self.element(nodes[at], np.full(len(at), self.home(place, turn)))
            held, theirs = registers[HELD, at], registers[RECEIVED, at]
            registers[HELD, at] = keep_own(sweep.oper, j, index, held, theirs)
