"""Offers of busses in a flood: which informed processors send, on which busses, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.machine import Machine
from mpinet.machine.state import Fields, Numbered
from mpinet.machine.step import gather_claims


class Offers:
    """State of busses as this rank's processors know it: which of them have carried the message.

    A processor that has the message offers the first of its other busses. The first member, in
    member order, that offers a bus sends on it (docs/papers/lens, 7).

    Parameters
    ----------
    machine : Machine
        Of a bus network.
    """

    def __init__(self, machine: Machine):
        self._machine = machine
        self._ports = np.arange(machine.topology.ports)
        self._free = np.empty((machine.placement.count, machine.topology.ports), bool)
        self._free[:] = machine.topology.neighbor(machine.nodes[:, np.newaxis], self._ports) >= 0

    def state(self) -> Fields:
        """Return what a checkpoint holds of it."""
        return {"free": Numbered(self._free, self._machine.nodes)}

    def restore(self, found: Mapping[str, Any]) -> None:
        """Go on from what `state` gave on any ranks."""
        self._free = found["free"]

    def sends(self, informed: Ints) -> tuple[Ints, Ints]:
        """Select the informed processors that send, on all ports of one bus (collective).

        Parameters
        ----------
        informed : ndarray of int64, shape (k,)
            Slots of the processors that have the message, ascending.

        Returns
        -------
        slots, ports : ndarray of int64, shape (m,)
            By slot, then port.
        """
        topology = self._machine.topology
        offering = informed[self._free[informed].any(axis=1)]
        nodes = self._machine.nodes[offering]
        busses = topology.channel(nodes, self._free[offering].argmax(axis=1))
        offers = np.stack([nodes, busses, topology.seats_of(nodes, busses)], axis=1)
        claims = gather_claims(self._machine, offers)
        claims = claims[np.lexsort((claims[:, 2], claims[:, 1]))]
        offered, first = np.unique(claims[:, 1], return_index=True)
        sending = claims[first, 0][np.searchsorted(offered, busses)] == nodes
        return self._on_bus(offering[sending], busses[sending])

    def mark_used(self, slots: Ints, ports: Ints) -> None:
        """Note that the busses of these ports have carried the message."""
        busses = self._machine.topology.channel(self._machine.nodes[slots], ports)
        self._free[self._on_bus(slots, busses)] = False

    def _on_bus(self, slots: Ints, busses: Ints) -> tuple[Ints, Ints]:
        """All free ports of processors on a bus of each, as slots and ports."""
        rows, ports = np.nonzero(self._free[slots])
        nodes = self._machine.nodes[slots[rows]]
        same = self._machine.topology.channel(nodes, ports) == busses[rows]
        return slots[rows[same]], ports[same]
