"""Schedules that run one dimension after the other, with each element at home."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.machine import Machine
from mpinet.machine.state import Fields
from mpinet.networks.topology import Topology
from mpinet.programs.operators.operator import Oper, Pass
from mpinet.programs.schedules.pairs import DimensionPairs, pairs_of
from mpinet.programs.schedules.schedule import (
    Dimensions,
    PassSchedule,
    Phase,
    require_power_of_two,
)
from mpinet.programs.schedules.witness import TOGETHER, Witness


class Dimensionwise(PassSchedule):
    """Schedule with one element per processor of the same number, one dimension after the other.

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
        self.dimensions = require_power_of_two(self.part_of(machine.topology))
        self.size = machine.topology.hosts
        self.index = machine.nodes
        self._rows: Ints | None = None
        if self.size < machine.topology.size:
            hosted = machine.nodes < self.size
            self.index = machine.nodes[hosted]
            self._rows = np.where(hosted, np.cumsum(hosted) - 1, -1)
        self._in_a_row = bool((np.diff(self.index) == 1).all())
        self._uses: Counter[int] = Counter()
        self._pairs: dict[int, DimensionPairs] = {}
        self._done = self._begun = 0
        self._needed: list[int] = []
        self._witnesses: list[Witness] = []

    def part_of(self, topology: Topology) -> Topology:
        """Return the network of one set of elements: the whole network by default."""
        return topology

    def processors(self, elements: Ints) -> Ints:
        """Return the processors of elements, given in the order of `index`."""
        return elements

    @abstractmethod
    def partners(self, j: int, state: Array) -> Array:
        """Return the states of elements ``index XOR 2^j``, received over the machine's links."""

    def carry_out(self, program: Sequence[Pass], state: Array) -> list[list[Phase]]:
        """Run a program as in `PassSchedule`; keep prepared data of a dimension while needed."""
        self._needed = [j for sweep in program for j in sweep.dimensions]
        self._begun, self._uses = self._done, Counter(self._needed)
        stages = super().carry_out(program, state)
        self._compare()
        return stages

    def state(self) -> Fields:
        """Return the number of finished dimensions, after comparing all recorded elements."""
        self._compare()
        return {"dimensions": self._done - self._begun}

    def restore(self, found: Mapping[str, Any]) -> None:
        """Restore the number of finished dimensions."""
        self._done = self._begun + found["dimensions"]
        self._uses = Counter(self._needed[found["dimensions"] :])

    def carry_out_pass(self, sweep: Pass, state: Array) -> list[Phase]:
        """Exchange and operate in every dimension of the pass; return the phases."""
        with Dimensions(self.machine) as made:
            for j in sweep.dimensions[len(made.each) :]:
                received = self.partners(j, state)
                witness = Witness.of(self._done, j, self.index, state, received)
                self._done += 1
                if j not in self._pairs:
                    self._pairs[j] = pairs_of(
                        j, self.index, self._in_a_row, lambda some: self.rows(self.processors(some))
                    )
                self._pairs[j].operate(sweep.oper, state, received)
                if witness is not None:
                    self._note(witness, sweep.oper, state)
                self._uses[j] -= 1
                if self._uses[j] == 0:
                    self.forget(j)
                made.note()
        return made.stages(sweep)

    def _note(self, witness: Witness, oper: Oper, state: Array) -> None:
        """Record the new states of the witnessed elements."""
        witness.look(oper, state)
        self._witnesses.append(witness)
        if len(self._witnesses) == TOGETHER:
            self._compare()

    def _compare(self) -> None:
        """Count the wrong states among the witnessed ones."""
        self.astray += sum(witness.astray() for witness in self._witnesses)
        self._witnesses = []

    def forget(self, j: int) -> None:
        """Drop the prepared data of a dimension that is not needed again."""
        del self._pairs[j]

    @property
    def ahead(self) -> set[int]:
        """Return the dimensions that the running program still needs."""
        return {j for j, uses in self._uses.items() if uses > 0}

    def rows(self, processors: Ints) -> Ints:
        """Return the rows of processors' elements in a state array; -1 for those of other ranks."""
        slots = self.machine.slots(processors)
        here = (slots >= 0) & (slots < self.machine.placement.count)
        rows = np.where(here, slots, -1)
        if self._rows is not None:
            rows[here] = self._rows[slots[here]]
        return rows
