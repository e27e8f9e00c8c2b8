"""The direct exchange: the partners of every dimension are neighbours."""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.machine import Machine
from mpinet.machine.plan import Plan
from mpinet.machine.swap import Swap
from mpinet.programs.schedules.dimensionwise import Dimensionwise
from mpinet.programs.schedules.ports import ports_towards


class DimensionExchange(Dimensionwise):
    """Direct exchange between neighbours i and i XOR 2^j: one step per dimension.

    The schedule serves the hypercube (docs/papers/gmn, 7.3), and all networks that contain it.
    """

    name = "exchange"

    def __init__(self, machine: Machine):
        super().__init__(machine)
        self._plans: dict[int, tuple[Plan, Ints | None]] = {}
        self._swaps: dict[int, Swap | None] = {}

    def partners(self, j: int, state: Array) -> Array:
        """Exchange states in one step over the links of dimension j."""
        if j not in self._swaps:
            self._swaps |= self._planned_swaps(sorted(self.ahead - self._swaps.keys() | {j}))
        swap = self._swaps[j]
        return self._planned(j, state) if swap is None else swap(state)

    def forget(self, j: int) -> None:
        """Drop the prepared data of a dimension, including its plan."""
        super().forget(j)
        self._plans.pop(j, None)

    def _planned_swaps(self, dimensions: list[int]) -> dict[int, Swap | None]:
        """Return the planned steps of dimensions; None for steps that differ among processors."""
        if self.size != self.machine.topology.size:
            return dict.fromkeys(dimensions)
        first = self.index[:1]
        ports = [
            int(ports_towards(self.machine, first, first ^ (1 << j), self.name, first=j).sum())
            for j in dimensions
        ]
        swaps = self.machine.swaps(ports, [1 << j for j in dimensions])
        return dict(zip(dimensions, swaps, strict=True))

    def _planned(self, j: int, state: Array) -> Array:
        """Run the step of dimension j for processors on different ports or with any placement."""
        if j not in self._plans:
            self._plans[j] = self._plan(j)
        plan, rows = self._plans[j]
        received = plan(state)
        if rows is None:
            return received
        in_order = np.empty_like(received)
        in_order[rows] = received
        return in_order

    def _plan(self, j: int) -> tuple[Plan, Ints | None]:
        """Return the plan of dimension j, and the rows of the received states (None: in order)."""
        targets = self.index ^ (1 << j)
        ports = ports_towards(self.machine, self.index, targets, self.name, first=j)
        plan = self.machine.plan(self.index, ports)
        ordered = np.array_equal(plan.nodes, self.index)
        return plan, None if ordered else self.rows(plan.nodes)
