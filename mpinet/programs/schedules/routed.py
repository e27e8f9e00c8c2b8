"""Routed exchanges: the schedule of networks without their own schedule."""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.errors import RoutingError
from mpinet.machine import Machine
from mpinet.machine.router import Router
from mpinet.networks.topology import Topology
from mpinet.programs.schedules.dimensionwise import Dimensionwise


class Routed(Dimensionwise):
    """Exchanges on any network: every state travels to the partner by the network's routing.

    A dimension ends with the arrival of its last state, under the machine's port model.
    """

    name = "routed"

    def __init__(self, machine: Machine):
        super().__init__(machine)
        self._routing = machine.topology.routing()
        self._order = np.argsort(self.index)

    def machine_for(self, j: int) -> Machine:
        """Return the machine whose links carry the messages of dimension j."""
        return self.machine

    def partners(self, j: int, state: Array) -> Array:
        """Exchange states by a message from every processor i to i XOR 2^j."""
        words, machine = as_words(state), self.machine_for(j)
        routing = machine.topology.routing() if machine is not self.machine else self._routing
        router = Router(machine, routing, payload_words=words.shape[1], keep=True)
        sources = self.index[self._order]
        router.inject(sources, sources ^ (1 << j), sources, self.size, words[self._order])
        router.run()
        lost = router.totals["undeliverable"]
        if lost:
            raise RoutingError(
                f"Routing {routing.name} on {machine.topology.name} could not deliver "
                f"{lost} of {self.size} messages in dimension {j}."
            )
        ended = router.delivered
        received = np.empty_like(state)
        received[self.rows(ended.nodes)] = from_words(ended.payload, state.dtype)
        return received


def changing(first: int, network: Topology) -> type[Routed]:
    """Return the schedule that exchanges dimensions from `first` on over another network's links.

    The processors and their elements stay in place, and one clock counts all steps.
    """

    class Changing(Routed):
        def __init__(self, machine: Machine):
            super().__init__(machine)
            self._later = Machine(network, machine.model, machine.transport, machine.mapping)
            self._later.meters = machine.meters

        def machine_for(self, j: int) -> Machine:
            return self._later if j >= first else self.machine

    return Changing


def as_words(state: Array) -> Ints:
    """Return states as rows of 64-bit words, padded with zeros; shape (k, words)."""
    width = state.dtype.itemsize
    words = np.zeros((len(state), -(-width // 8)), np.int64)
    texts = np.ascontiguousarray(state).view(np.uint8).reshape(len(state), width)
    words.view(np.uint8)[:, :width] = texts
    return words


def from_words(words: Ints, dtype: np.dtype[Any]) -> Array:
    """Return the states for words made by `as_words`."""
    texts = np.ascontiguousarray(words).view(np.uint8)[:, : dtype.itemsize]
    return np.ascontiguousarray(texts).view(dtype).reshape(len(words))
