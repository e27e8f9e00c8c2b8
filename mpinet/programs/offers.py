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
    """Busses that have carried the message, as known to this rank's processors.

    A processor with the message offers the first of its other busses. The first member, in member
    order, that offers a bus sends on the bus (docs/papers/lens, 7).

    Parameters
    ----------
    machine : Machine
        Machine of a bus network.
    """

    def __init__(self, machine: Machine):
        self._machine = machine
        self._ports = np.arange(machine.topology.ports)
        self._free = np.empty((machine.placement.count, machine.topology.ports), bool)
        self._free[:] = machine.topology.neighbor(machine.nodes[:, np.newaxis], self._ports) >= 0

    def state(self) -> Fields:
        """Return the fields for a checkpoint."""
        return {"free": Numbered(self._free, self._machine.nodes)}

    def restore(self, found: Mapping[str, Any]) -> None:
        """Restore the fields saved by `state`, possibly on another number of ranks."""
        self._free = found["free"]

    def sends(self, informed: Ints) -> tuple[Ints, Ints]:
        """Select the informed processors that send, on all ports of one bus (collective).

        Parameters
        ----------
        informed : ndarray of int64, shape (k,)
            Slots of the processors with the message, ascending.

        Returns
        -------
        slots, ports : ndarray of int64, shape (m,)
            Senders and ports, ordered by slot, then port.
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
        """Record that the busses at these ports have carried the message."""
        busses = self._machine.topology.channel(self._machine.nodes[slots], ports)
        self._free[self._on_bus(slots, busses)] = False

    def _on_bus(self, slots: Ints, busses: Ints) -> tuple[Ints, Ints]:
        """Return all free ports of processors on the given bus of each, as slots and ports."""
        rows, ports = np.nonzero(self._free[slots])
        nodes = self._machine.nodes[slots[rows]]
        same = self._machine.topology.channel(nodes, ports) == busses[rows]
        return slots[rows[same]], ports[same]
