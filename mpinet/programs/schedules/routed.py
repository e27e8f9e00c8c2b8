"""Routed exchanges: the schedule of networks without their own schedule."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.errors import RoutingError
from mpinet.machine import Machine
from mpinet.machine.router import Router
from mpinet.networks.copies import factor_named
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
        self._order = np.argsort(self.processors(self.index))

    def machine_for(self, j: int) -> Machine:
        """Return the machine whose links carry the messages of dimension j."""
        return self.machine

    def partners(self, j: int, state: Array) -> Array:
        """Exchange states by a message from every processor i to i XOR 2^j."""
        words, machine = as_words(state), self.machine_for(j)
        routing = machine.topology.routing() if machine is not self.machine else self._routing
        router = Router(machine, routing, payload_words=words.shape[1], keep=True)
        ends = self.processors(self.index), self.processors(self.index ^ (1 << j))
        sources, targets = (each[self._order] for each in ends)
        router.inject(sources, targets, sources, self.size, words[self._order])
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


class Copies(Routed):
    """Routed exchanges in every copy of a factor of a product; each copy has elements of its own.

    The product's routing corrects one coordinate after the other, so no message leaves its copy.
    """

    name = "copies"
    factor: ClassVar[str]
    """Family of the factor."""

    def __init__(self, machine: Machine):
        product, which = factor_named(machine.topology, self.factor)
        self._stride = product.first.size if which else 1
        super().__init__(machine)
        self.size = product.size
        places = np.divmod(machine.nodes, product.first.size)
        self.index, self.instance = places[1 - which], places[which]
        self.instances = product.size // (product.first, product.second)[which].size
        self._in_a_row, self._order = False, np.argsort(machine.nodes)

    def part_of(self, topology: Topology) -> Topology:
        """Return the factor."""
        product, which = factor_named(topology, self.factor)
        return (product.first, product.second)[which]

    def processors(self, elements: Ints) -> Ints:
        """Return the processors of elements in the copies of `index`."""
        return self.machine.nodes + (elements - self.index) * self._stride


def copies(factor: str) -> type[Copies]:
    """Return the schedule of all copies of the factor of a family."""
    return type("Copies", (Copies,), {"factor": factor})


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
