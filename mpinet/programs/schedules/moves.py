"""Moves of states between registers of processors, the steps of schedules for ASCEND and DESCEND.

A processor has a few registers, each for one state. A move is one step of the machine. Processors
send the contents of a register to neighbours, and each neighbour stores the state in one of its
registers. Senders and registers depend only on processor numbers and time, so a move is planned
once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.machine import Machine
from mpinet.networks.topology import Topology
from mpinet.programs.schedules.ports import ports_towards

KEPT = 2**20
"""Maximum number of transfers of a rank in all stored plans: about 100 MB."""


@dataclass(frozen=True, eq=False)
class MoveSends:
    """Sends of a rank's processors in a step."""

    slots: Ints
    """Index of each sender among this rank's processors. Shape (k,)."""
    targets: Ints
    """Receiving processor of each send. Shape (k,)."""
    register: Any = 0
    """Register of each send. Type: int or ndarray of int64, shape (k,)."""


Landing = Callable[[Ints, Ints], Any]
"""Function ``landing(origins, receivers)`` from pairs of processors to the receivers' registers."""


def merge(*parts: MoveSends) -> MoveSends:
    """Combine several sets of sends into one step."""
    registers = [np.broadcast_to(part.register, part.slots.shape) for part in parts]
    return MoveSends(
        np.concatenate([part.slots for part in parts]),
        np.concatenate([part.targets for part in parts]),
        np.concatenate(registers),
    )


class Moves:
    """The moves of one schedule, each planned at its first use.

    Parameters
    ----------
    machine : Machine
        Machine for the messages.
    name : str
        Name of the schedule.
    """

    nodes: Ints
    """Nodes of the schedule's network on this rank. Shape (k,)."""
    topology: Topology
    """Network of the schedule."""

    def __init__(self, machine: Machine, name: str):
        self._machine = machine
        self._name = name
        self.nodes, self.topology = machine.nodes, machine.topology
        self._known: dict[Hashable, PlannedMove] = {}
        share = -(-machine.topology.size // machine.transport.size)
        self._most = KEPT // share

    def move(
        self, key: Hashable, registers: Array, sends: Callable[[], MoveSends], landing: Landing
    ) -> None:
        """Run one step (collective).

        Parameters
        ----------
        key : hashable
            Identifies the move: equal keys mean equal sends and equal landing registers.
        registers : ndarray, shape (registers, processors)
            The states; changed in place.
        sends : callable
            Returns the sends of the move.
        landing : callable
            See `Landing`.
        """
        move = self._known.get(key)
        if move is None:
            move = PlannedMove(self._machine, self._name, sends(), landing)
            if len(self._known) < self._most:
                self._known[key] = move
        move(registers)

    def to_all(
        self, key: Hashable, registers: Array, targets: Callable[[], Ints], into: int = 0
    ) -> None:
        """Send register 0 of every processor to its target; skip targets equal to the sender.

        The received state goes into register `into`. The other parameters are those of `move`.
        """

        def sends() -> MoveSends:
            ends = targets()
            slots = np.flatnonzero(ends != self.nodes)
            return MoveSends(slots, ends[slots])

        self.move(key, registers, sends, lambda origins, receivers: into)


class PlannedMove:
    """One planned move (collective); see `Moves.move`."""

    def __init__(self, machine: Machine, name: str, sends: MoveSends, landing: Landing):
        nodes = machine.nodes[sends.slots]
        self._plan = machine.plan(nodes, ports_towards(machine, nodes, sends.targets, name))
        self._from = sends.register, sends.slots
        origins = machine.topology.neighbor(self._plan.nodes, self._plan.ports)
        self._to = landing(origins, self._plan.nodes), machine.slots(self._plan.nodes)

    def __call__(self, registers: Array) -> None:
        """Run the move: all registers are read before any register is written."""
        registers[self._to] = self._plan(registers[self._from])


def rotated_left(numbers: Ints, bits: int, by: int = 1) -> Ints:
    """Return the numbers with their lowest `bits` bits rotated left."""
    by %= bits
    return ((numbers << by) & ((1 << bits) - 1)) | (numbers >> (bits - by))
