"""The processors of this rank that run a program, and what their rules say of their ports."""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.process.actions import Parcels

TABLE = 1 << 26
"""Most neighbours of hosted processors that are looked up together and kept."""


class Hosting:
    """Data that the hosted processors of one run share.

    Parameters
    ----------
    machine : Machine
        The machine.
    seed : int
        For the processors' random numbers.
    """

    def __init__(self, machine: Machine, seed: int):
        self.topology = machine.topology
        self.nodes = machine.nodes
        self.seed = seed
        self.step: int = 0
        """Steps that the machine has made in this run."""
        self._switches = machine.topology.hosts < machine.topology.size
        self._ports = np.arange(machine.topology.ports)
        self._table: Ints | None = None
        self._every_port = tuple(range(machine.topology.ports))
        self._regular = False
        self._wired: dict[bytes, tuple[int, ...]] = {}

    def neighbors(self, slot: int) -> Ints:
        """Processors behind all ports of a hosted one; -1 for an unwired port."""
        # A table for a very large machine would take gigabytes. Neighbours are then computed at
        # each question.
        if len(self.nodes) * len(self._ports) > TABLE:
            behind: Ints = self.topology.neighbor(self.nodes[slot], self._ports)
            return behind
        if self._table is None:
            self._table = self.topology.neighbor(self.nodes[:, np.newaxis], self._ports)
            self._regular = bool((self._table >= 0).all())
        behind = self._table[slot]
        return behind

    def neighbor(self, slot: int, port: int) -> int:
        """Processor behind one port."""
        if not 0 <= port < len(self._ports):
            raise UsageError(f"there is no port {port}: ports are 0..{len(self._ports) - 1}")
        return int(self.neighbors(slot)[port])

    def wired_ports(self, slot: int) -> tuple[int, ...]:
        """Wired ports of a hosted processor."""
        if self._regular:
            return self._every_port
        wired = self.neighbors(slot) >= 0
        key = wired.tobytes()
        if key not in self._wired:
            self._wired[key] = tuple(np.flatnonzero(wired).tolist())
        return self._wired[key]

    def require_no_switches(self, slot: int, parcels: Parcels) -> None:
        """Raise `UsageError` if something is sent to a switch, where no program runs."""
        if not self._switches:
            return
        for port in (port for ports, _ in parcels for port in ports):
            if self.neighbor(slot, port) >= self.topology.hosts:
                raise UsageError(
                    f"port {port} leads to a switch, which runs no program: 'yield "
                    "node.route(target, value)' sends through switches"
                )
