"""Moves of a guest's schedule on a host, whose processors act for the guest's nodes.

A network may name a guest, and for each node of the guest the processor that acts for it
(`Topology.guest`). The guest's schedules then run on the host. States travel by the host's routing;
a state does not travel between two nodes with the same processor.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np

from mpinet.base.arrays import Array
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.machine.router import Router
from mpinet.networks.topology import Topology
from mpinet.programs.embed import preferring_links, require_delivered
from mpinet.programs.schedules.moves import Landing, Moves, MoveSends
from mpinet.programs.schedules.routed import as_words, from_words

MOST_NODES = 2**24
"""Most nodes of a guest: every rank stores their processors."""

REGISTERS = 4
"""Most registers of a node: a node sends the state of each register once in a move."""


def moves_of(machine: Machine, name: str) -> Moves:
    """Return the moves of a schedule on the machine's network, or on its guest if it has one."""
    guest = machine.topology.guest
    return Moves(machine, name) if guest is None else HostedMoves(machine, name, guest)


class HostedMoves(Moves):
    """Moves between the nodes of a guest; a move ends with the arrival of its last state."""

    def __init__(self, machine: Machine, name: str, guest: Topology):
        super().__init__(machine, name)
        if guest.size > MOST_NODES:
            raise UsageError(
                f"The algorithm {name} on {machine.topology.name} emulates {guest.name}, and at "
                f"most {MOST_NODES} nodes are possible."
            )
        self._homes = machine.topology.homes()
        slots = machine.slots(self._homes)
        self.topology = guest
        self.nodes = np.flatnonzero((slots >= 0) & (slots < machine.placement.count))
        self._routing = preferring_links(machine.topology, machine.topology.routing())

    def move(
        self, key: Hashable, registers: Array, sends: Callable[[], MoveSends], landing: Landing
    ) -> None:
        """Route the states of a move (collective); see `Moves.move`."""
        made = sends()
        register = np.broadcast_to(made.register, made.slots.shape)
        # The router takes messages by ascending numbers, the same on any number of ranks.
        numbers = self.nodes[made.slots] * REGISTERS + register
        order = np.argsort(numbers)
        nodes, targets = self.nodes[made.slots[order]], made.targets[order]
        words = as_words(registers[register[order], made.slots[order]])
        payload = np.column_stack([words, nodes, targets])
        router = Router(self._machine, self._routing, payload_words=payload.shape[1], keep=True)
        total = self.topology.size * REGISTERS
        router.inject(self._homes[nodes], self._homes[targets], numbers[order], total, payload)
        router.run()
        require_delivered(router)
        came = router.delivered.payload
        senders, receivers = came[:, -2], came[:, -1]
        states = from_words(came[:, :-2], registers.dtype)
        registers[landing(senders, receivers), np.searchsorted(self.nodes, receivers)] = states
