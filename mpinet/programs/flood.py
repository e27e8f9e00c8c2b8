"""Flooding: one source (eccentricity), and many at once by bits (distances, diameter)."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mpinet.compiled import inlined, kernel
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.machine.call import wired
from mpinet.machine.step import heard_claims
from mpinet.networks.arithmetic import count_ones
from mpinet.networks.topology import Topology

Numbers = NDArray[np.int64]
Words = NDArray[np.uint64]


@dataclass(frozen=True)
class FloodResult:
    """What a flood found.

    Attributes
    ----------
    steps, messages : int
        Steps until nobody new is informed, and messages sent in them.
    informed : int
        Nodes that the flood reached, the root included.
    eccentricity : int
        Step in which the last node was informed: its distance from the root.
    farthest_host : int
        Step in which the last processor was informed (switches do not count).
    """

    steps: int
    messages: int
    informed: int
    eccentricity: int
    farthest_host: int


def flood(machine: Machine, root: int, watch: Callable[[int], None] | None = None) -> FloodResult:
    """Flood an all-port machine from one root (collective).

    Every node that was informed in the step before sends on all its ports; the flood ends when all
    are informed (or nobody new is). On busses it offers those that it has not heard the message on,
    and of the nodes that offer a bus the lowest-numbered one sends, to all members.

    Parameters
    ----------
    machine : Machine
        All-port.
    root : int
        The node that starts.
    watch : callable, optional
        Called with the number of steps after every step.

    Raises
    ------
    UsageError
        The machine is not all-port.
    """
    _require_all_port(machine, "Flooding")
    machine.topology.require_node(root)
    before, sent = machine.steps, machine.meters.messages
    informed = np.zeros(machine.placement.count, bool)
    fresh = machine.nodes[machine.nodes == root]
    informed[machine.slots(fresh)] = True
    reached, farthest_host = 1, 0
    wave = _call_wave if machine.topology.links else _bus_wave
    heard = np.empty((0, 2), np.int64)
    while reached < machine.topology.size:
        nodes, heard = wave(machine, fresh, heard)
        slots = machine.slots(nodes)
        fresh = nodes[~informed[slots]]
        informed[slots] = True
        new, hosts = machine.sum(len(fresh), int((fresh < machine.topology.hosts).sum()))
        if new == 0:
            break
        reached += new
        if hosts:
            farthest_host = machine.steps - before
        if watch is not None:
            watch(machine.steps)
    steps = machine.steps - before
    messages = machine.sum(machine.meters.messages - sent)[0]
    return FloodResult(steps, messages, reached, steps, farthest_host)


def _call_wave(machine: Machine, fresh: Numbers, heard: Numbers) -> tuple[Numbers, Numbers]:
    """One step over links: who hears of it."""
    return machine.call(fresh), heard


def _bus_wave(machine: Machine, fresh: Numbers, heard: Numbers) -> tuple[Numbers, Numbers]:
    """One step over busses: who hears of it, and rows (node, bus) of what came."""
    sends = _on_free_busses(machine, *wired(machine.topology, fresh), heard)
    inbox = machine.step(*sends)
    busses = machine.topology.channel(inbox.nodes, inbox.ports)
    return _different(inbox.nodes), np.stack([inbox.nodes, busses], axis=1)


def _on_free_busses(
    machine: Machine, nodes: Numbers, ports: Numbers, heard: Numbers
) -> tuple[Numbers, Numbers]:
    """Of these sends, those on busses that have not carried the message, one sender a bus.

    Parameters
    ----------
    heard : ndarray of int64, shape (k, 2)
        Rows (node, bus) of what came in the step before (collective).
    """
    topology, busses = machine.topology, machine.topology.busses or 0
    channels = topology.channel(nodes, ports)
    slots = machine.slots(nodes)
    keys = slots * busses + channels
    free = ~np.isin(keys, machine.slots(heard[:, 0]) * busses + heard[:, 1])
    nodes, ports, channels, keys = nodes[free], ports[free], channels[free], keys[free]
    _, first = np.unique(keys, return_index=True)
    told = heard_claims(machine, np.stack([nodes[first], channels[first]], axis=1))
    told = told[np.lexsort((told[:, 0], told[:, 1]))]
    lowest = np.ones(len(told), bool)
    lowest[1:] = told[1:, 1] != told[:-1, 1]
    told = told[lowest]
    sends = told[np.searchsorted(told[:, 1], channels), 0] == nodes
    return nodes[sends], ports[sends]


def _different(ascending: Numbers) -> Numbers:
    """The numbers of an ascending array, each once."""
    first = np.ones(len(ascending), bool)
    first[1:] = ascending[1:] != ascending[:-1]
    return ascending[first]


@dataclass(frozen=True)
class Distances:
    """Distances between all nodes, measured by flooding.

    Attributes
    ----------
    diameter : int
        Largest distance, in hops.
    distance_sum : int
        Sum over all ordered pairs, in hops.
    average_distance : float
        Mean over all ordered pairs of different nodes, in hops.
    """

    diameter: int
    distance_sum: int
    average_distance: float


SOURCES_PER_WORD = 64
WORDS = 8
"""Words of sources that flood together: 512 sources fill a cache line a node."""


def distances(machine: Machine, watch: Callable[[int], None] | None = None) -> Distances:
    """Measure all distances by flooding from all nodes, 512 sources at once (collective).

    Every node keeps a bit for each source that has reached it and sends the new ones on all ports.
    Busses are taken for links between all their members: each source's flood is one of its own.

    Parameters
    ----------
    machine : Machine
        All-port; every flood costs it diameter + 1 steps.
    watch : callable, optional
        Called with the number of sources done after every flood.

    Raises
    ------
    UsageError
        The machine is not all-port, or the network is not connected.
    """
    _require_all_port(machine, "Flooding")
    size = machine.topology.size
    if not machine.topology.links:
        machine = Machine(adjacency(machine.topology), "all", machine.transport, machine.mapping)
    spread = Spread(machine)
    diameter = total = pairs = 0
    for begin in range(0, size, SOURCES_PER_WORD * WORDS):
        farthest, added, reached = _flood_many(machine, spread, begin)
        diameter, total, pairs = max(diameter, farthest), total + added, pairs + reached
        if watch is not None:
            watch(min(size, begin + SOURCES_PER_WORD * WORDS))
    if pairs != size * (size - 1):
        raise UsageError(f"{machine.topology.name} is not connected: it has no diameter.")
    return Distances(diameter, total, total / pairs if pairs else 0.0)


def adjacency(topology: Topology) -> Topology:
    """A bus network with a link between every two members of a bus, on the same ports."""
    view = copy(topology)
    view.busses = None
    return view


def _require_all_port(machine: Machine, what: str) -> None:
    if machine.model.send is not None or machine.model.receive is not None:
        raise UsageError(f"{what} needs an all-port machine; broadcast is for one-port ones.")


class Spread:
    """A step in which all processors send bits on all their ports, and everybody takes new ones.

    Parameters
    ----------
    machine : Machine
        All-port, of links (collective).
    """

    def __init__(self, machine: Machine):
        self._plan = machine.plan(*wired(machine.topology, machine.nodes))
        receivers = machine.slots(self._plan.nodes)
        by_slot = np.argsort(receivers, kind="stable")
        self._origins = self._plan.origins()[by_slot].astype(np.int32)
        heard = np.bincount(receivers, minlength=machine.placement.count)
        self._starts = np.concatenate([[0], np.cumsum(heard)])

    def __call__(self, fresh: Words, seen: Words, every: Words, following: Words) -> int:
        """Carry it out (collective).

        Parameters
        ----------
        fresh : ndarray of uint64, shape (hosted, WORDS)
            What the processors send.
        seen : ndarray of uint64, shape (hosted, WORDS)
            The bits that they have met; the new ones are added.
        every : ndarray of uint64, shape (WORDS,)
            All bits that there are.
        following : ndarray of uint64, shape (hosted, WORDS)
            Is overwritten with the new bits.

        Returns
        -------
        int
            The number of new bits on this rank.
        """
        away = self._plan.spread(fresh)
        return int(take_from_all(self._starts, self._origins, fresh, away, every, seen, following))


def _flood_many(machine: Machine, spread: Spread, begin: int) -> tuple[int, int, int]:
    """Flood from up to 512 sources: the farthest distance, their sum, how many pairs."""
    seen = np.zeros((machine.placement.count, WORDS), np.uint64)
    mine = (machine.nodes >= begin) & (machine.nodes < begin + SOURCES_PER_WORD * WORDS)
    word, bit = np.divmod(machine.nodes[mine] - begin, SOURCES_PER_WORD)
    seen[np.flatnonzero(mine), word] = np.uint64(1) << bit.astype(np.uint64)
    every = first_ones(machine.topology.size - begin)
    fresh, following = seen.copy(), np.empty_like(seen)
    distance = total = pairs = 0
    while True:
        new = machine.sum(spread(fresh, seen, every, following))[0]
        if new == 0:
            return distance, total, pairs
        fresh, following = following, fresh
        distance += 1
        total += distance * new
        pairs += new


def first_ones(count: int) -> Words:
    """A bit for each of so many sources, as far as there is room."""
    bits = np.arange(SOURCES_PER_WORD * WORDS) < count
    return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)


@kernel(
    "int64(int64[::1], int32[::1], uint64[:, ::1], uint64[:, ::1], uint64[::1], uint64[:, ::1], "
    "uint64[:, ::1])"
)
def take_from_all(starts, origins, fresh, away, every, seen, following):
    """Write the bits that nodes get for the first time; their number.

    Node u hears of the rows ``origins[starts[u]:starts[u + 1]]`` of `fresh`, followed by `away`. A
    node that has met every bit need not look.
    """
    count, new = fresh.shape[0], 0
    heard = np.empty(WORDS, np.uint64)
    for u in range(count):
        missing = np.uint64(0)
        for w in range(WORDS):
            missing |= every[w] & ~seen[u, w]
            heard[w] = 0
        if missing:
            for k in range(starts[u], starts[u + 1]):
                origin = origins[k]
                if origin < count:
                    for w in range(WORDS):
                        heard[w] |= fresh[origin, w]
                else:
                    for w in range(WORDS):
                        heard[w] |= away[origin - count, w]
        for w in range(WORDS):
            bits = heard[w] & ~seen[u, w]
            following[u, w] = bits
            seen[u, w] |= bits
            new += count_word(bits)
    return new


@kernel("int64(int64[::1], uint64[:, ::1], uint64[:, ::1], uint64[:, ::1])")
def take_new(receivers, received, seen, fresh):
    """Keep the bits that a node sees for the first time; their number."""
    fresh[:] = 0
    for i in range(receivers.size):
        for w in range(received.shape[1]):
            fresh[receivers[i], w] |= received[i, w]
    new = 0
    for u in range(fresh.shape[0]):
        for w in range(fresh.shape[1]):
            fresh[u, w] &= ~seen[u, w]
            seen[u, w] |= fresh[u, w]
            new += count_word(fresh[u, w])
    return new


@inlined
def count_word(word):
    """Number of one bits of an unsigned 64-bit word."""
    return count_ones(np.int64(word & np.uint64(0xFFFFFFFF))) + count_ones(
        np.int64(word >> np.uint64(32))
    )
