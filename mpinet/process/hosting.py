"""Hosted processors of a rank that run a program, and the neighbours on their ports."""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.process.actions import Parcels

TABLE = 1 << 26
"""Largest number of table entries for the neighbours of hosted processors."""


class Hosting:
    """Data shared by the hosted processors of a run.

    Parameters
    ----------
    machine : Machine
        The machine.
    seed : int
        Seed of the processors' random numbers.
    """

    def __init__(self, machine: Machine, seed: int):
        self.topology = machine.topology
        self.nodes = machine.nodes
        self.seed = seed
        self.step: int = 0
        """Number of steps of the machine in this run."""
        self._switches = machine.topology.hosts < machine.topology.size
        self._ports = np.arange(machine.topology.ports)
        self._table: Ints | None = None
        self._every_port = tuple(range(machine.topology.ports))
        self._regular = False
        self._wired: dict[bytes, tuple[int, ...]] = {}

    def neighbors(self, slot: int) -> Ints:
        """Return the neighbour on each port of a hosted processor; -1 for an unwired port."""
        # A table for a very large machine would take gigabytes, so neighbours are computed for each
        # query.
        if len(self.nodes) * len(self._ports) > TABLE:
            behind: Ints = self.topology.neighbor(self.nodes[slot], self._ports)
            return behind
        if self._table is None:
            self._table = self.topology.neighbor(self.nodes[:, np.newaxis], self._ports)
            self._regular = bool((self._table >= 0).all())
        behind = self._table[slot]
        return behind

    def neighbor(self, slot: int, port: int) -> int:
        """Return the neighbour on one port of a hosted processor."""
        if not 0 <= port < len(self._ports):
            raise UsageError(f"there is no port {port}: ports are 0..{len(self._ports) - 1}")
        return int(self.neighbors(slot)[port])

    def wired_ports(self, slot: int) -> tuple[int, ...]:
        """Return the wired ports of a hosted processor."""
        if self._regular:
            return self._every_port
        wired = self.neighbors(slot) >= 0
        key = wired.tobytes()
        if key not in self._wired:
            self._wired[key] = tuple(np.flatnonzero(wired).tolist())
        return self._wired[key]

    def require_no_switches(self, slot: int, parcels: Parcels) -> None:
        """Raise `UsageError` if a parcel is sent to a switch, because switches run no program."""
        if not self._switches:
            return
        for port in (port for ports, _ in parcels for port in ports):
            if self.neighbor(slot, port) >= self.topology.hosts:
                raise UsageError(
                    f"port {port} leads to a switch, and switches run no program: 'yield "
                    "node.route(target, value)' sends through switches"
                )
