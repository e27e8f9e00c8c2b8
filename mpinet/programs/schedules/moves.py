"""Moves of states between registers of processors: what the schedules that move states consist of.

A processor has a few registers, each for one state. A move is one step of the machine: processors
send what is in a register to neighbours, who put it into a register of theirs. Where all this
happens follows from the processors' own numbers and the time, so that a move is planned once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.machine import Machine
from mpinet.programs.schedules.ports import ports_towards

KEPT = 2**20
"""Transfers of a rank, at most, in all the plans that are kept: about 100 MB."""


@dataclass(frozen=True, eq=False)
class MoveSends:
    """Sends of a rank's processors in a step."""

    slots: Ints
    """The senders' places among this rank's processors. Shape (k,)."""
    targets: Ints
    """The processors they send to. Shape (k,)."""
    register: Any = 0
    """The registers that are sent. Type: int or ndarray of int64, shape (k,)."""


Landing = Callable[[Ints, Ints], Any]
"""``landing(origins, receivers)``: the registers into which messages are put, by processors."""


def merge(*parts: MoveSends) -> MoveSends:
    """Several sends in one step."""
    registers = [np.broadcast_to(part.register, part.slots.shape) for part in parts]
    return MoveSends(
        np.concatenate([part.slots for part in parts]),
        np.concatenate([part.targets for part in parts]),
        np.concatenate(registers),
    )


class Moves:
    """The moves of one schedule, each planned when it first comes.

    Parameters
    ----------
    machine : Machine
        What moves the messages.
    name : str
        The schedule.
    """

    def __init__(self, machine: Machine, name: str):
        self._machine = machine
        self._name = name
        self._known: dict[Hashable, PlannedMove] = {}
        share = -(-machine.topology.size // machine.transport.size)
        self._most = KEPT // share

    def move(
        self, key: Hashable, registers: Array, sends: Callable[[], MoveSends], landing: Landing
    ) -> None:
        """Make one step (collective).

        Parameters
        ----------
        key : hashable
            Names the move: the same sends and landing always have the same key.
        registers : ndarray, shape (registers, processors)
            The states; changed in place.
        sends : callable
            Gives what is sent.
        landing : callable
            As `Landing`.
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
        """Send what is in register 0 of every processor to its target, unless that is itself.

        Messages go into the register `into`; the other parameters are those of `move`.
        """

        def sends() -> MoveSends:
            ends = targets()
            slots = np.flatnonzero(ends != self._machine.nodes)
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
        """Carry it out: all registers are read before any is written."""
        registers[self._to] = self._plan(registers[self._from])


def rotated_left(numbers: Ints, bits: int, by: int = 1) -> Ints:
    """The numbers with their `bits` bits rotated left."""
    by %= bits
    return ((numbers << by) & ((1 << bits) - 1)) | (numbers >> (bits - by))
