"""Search for a placement that shortens a program, and a lower bound for all placements.

The search starts from the numerical order, from a snake or a cycle if the network has one, and from
a random order. From each start, swaps that reduce the sum of bytes times hops lead to a further
start. Then the search swaps processors, plays the program, and keeps the faster placement. All
ranks draw the same swaps, so any number of ranks finds the same placement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mpinet.base.arrays import Ints
from mpinet.draws import uniform_permutation
from mpinet.errors import UsageError
from mpinet.machine.beep import wired
from mpinet.machine.timed.costs import Costs
from mpinet.machine.timed.layout import CALC, SEND
from mpinet.machine.timed.program import Program
from mpinet.machine.transport import Local
from mpinet.networks.adjacency import Adjacency, hops_from_hosts
from mpinet.networks.topology import Topology
from mpinet.programs.messages.bounds import MOST_PORTS, TimeBound
from mpinet.programs.messages.placing import along_cycle, snake

MOST_HOSTS = 2048
"""Maximum number of processors of a network whose distances are all measured."""

BATCH = 4
"""Number of swaps played before one of them is kept."""

MOST_WORK = 1 << 28
"""Maximum number of pairs of places examined in the search by distances."""

SCALE = 1 << 20
"""Scaled bytes of the heaviest pair in the search by distances; keeps all sums exact."""

Reals: TypeAlias = NDArray[np.float64]

Play = Callable[[Ints], tuple[int, int]]
"""Function that plays the program in a placement; returns its time, and a number for ties."""


class FoundPlaces(NamedTuple):
    """Placement found by a search."""

    places: Ints
    """Network processor for each processor of the program. Shape (processors,)."""
    time: int
    """Time of the program in this placement."""
    start: int
    """Time of the program with each processor on the network processor of the same number."""


def search_places(
    program: Program, topology: Topology, play: Play, transport: Local, seed: int, tries: int
) -> FoundPlaces:
    """Return a placement in which a program takes little time (collective).

    Parameters
    ----------
    program : Program
        The program.
    topology : Topology
        The network.
    play : callable
        Plays the program on this rank alone.
    transport : Local
        The ranks, which share the plays.
    seed : int
        Seed of the swaps.
    tries : int
        Number of swaps to play.
    """
    hosts, count = topology.hosts, program.processors
    firsts = [*_orders(topology, seed)]
    # Bytes times hops need no play of the program. Their local optima are much better starts than
    # random orders.
    firsts += _by_distance(program, topology, firsts)
    results = _played(firsts, count, play, transport)
    start = int(results[0, 0])
    best = min(range(len(firsts)), key=lambda number: (*results[number].tolist(), number))
    order, key = firsts[best], tuple(results[best].tolist())
    draws = np.random.default_rng(seed)
    for done in range(0, tries, BATCH):
        swaps = [
            (int(draws.integers(count)), int(draws.integers(hosts)))
            for _ in range(min(BATCH, tries - done))
        ]
        # All swaps of a batch are drawn before any is played. The random numbers then do not depend
        # on the number of ranks.
        others = [_swapped(order, *swap) for swap in swaps]
        results = _played(others, count, play, transport)
        keys = [tuple(row.tolist()) for row in results]
        if min(keys) < key:
            key = min(keys)
            order = others[keys.index(key)]
    return FoundPlaces(order[:count], int(key[0]), start)


def _orders(topology: Topology, seed: int) -> Iterator[Ints]:
    """Yield orders of a network's processors, the numerical order first."""
    yield np.arange(topology.hosts)
    for known in (snake, along_cycle):
        with suppress(UsageError):
            yield known(topology)
    yield uniform_permutation(topology.hosts, seed)


def _swapped(order: Ints, one: int, other: int) -> Ints:
    swapped = order.copy()
    swapped[[one, other]] = order[[other, one]]
    return swapped


def _played(orders: list[Ints], count: int, play: Play, transport: Local) -> Ints:
    """Return the results of several placements, shared among ranks (collective)."""
    results = np.zeros((len(orders), 2), np.int64)
    for number in range(transport.rank, len(orders), transport.size):
        results[number] = play(orders[number][:count])
    return transport.max(results)


def _traffic(program: Program) -> tuple[Ints, Ints, Ints]:
    """Return senders, receivers and bytes of all messages from a processor to another."""
    chosen = np.flatnonzero(program.kind == SEND)
    senders = program.owners[chosen]
    receivers = program.peer[chosen].astype(np.int64)
    apart = senders != receivers
    return senders[apart], receivers[apart], program.amount[chosen][apart]


@lru_cache(maxsize=1)
def _distances(topology: Topology) -> Ints:
    """Return the hops between all processors, shape (hosts, hosts)."""
    return hops_from_hosts(topology, Adjacency.of(topology))[:, : topology.hosts]


def _by_distance(program: Program, topology: Topology, orders: list[Ints]) -> list[Ints]:
    """Return placements with a small sum of bytes times hops, one for each initial order."""
    hosts = topology.hosts
    if hosts > MOST_HOSTS:
        return []
    senders, receivers, amounts = _traffic(program)
    weight = np.zeros((hosts, hosts))
    np.add.at(weight, (senders, receivers), amounts)
    weight += weight.T
    if not weight.any():
        return []
    # Integer weights below 2**53 make all sums exact. With rounding, a swap and its reverse could
    # both seem to gain.
    weight = np.ceil(weight * (SCALE / weight.max()))
    away = _distances(topology).astype(np.float64)
    return [_descended(order.copy(), weight, away) for order in orders]


def _descended(order: Ints, weight: Reals, away: Reals) -> Ints:
    """Repeat the swap with the largest gain while any swap gains; return the order.

    The gains follow from sums over all processors, which are updated after each swap.
    """
    hosts = len(order)
    # One matrix product gives the gains of all swaps. Each swap then updates two columns and a
    # rank-one term, which is quadratic, not cubic.
    sums = weight @ away[np.ix_(order, order)]  # [i, j]: cost of i at the place of j
    for _ in range(min(2 * hosts, MOST_WORK // hosts**2)):
        own = np.diagonal(sums)
        gain = sums + sums.T - own[:, np.newaxis] - own + 2 * weight * away[np.ix_(order, order)]
        one, other = divmod(int(np.argmin(gain)), hosts)
        if gain[one, other] >= 0:
            break
        here, there = int(order[one]), int(order[other])
        order[[one, other]] = there, here
        sums[:, [one, other]] = sums[:, [other, one]]
        change = away[order, there] - away[order, here]
        sums += np.outer(weight[:, one] - weight[:, other], change)
    return order


def bound_of_places(program: Program, topology: Topology, costs: Costs) -> TimeBound:
    """Return a lower bound of a program's time for all placements.

    The bound is the maximum of three. ``ends``: time of a CPU for computing, sending and receiving.
    ``cut``: a processor's bytes, divided by the total rate of its links. ``growth``: minimum sum of
    bytes times hops, divided over all links; only a limited number of processors is within each
    distance.
    """
    bounds = [TimeBound(_busiest_cpu(program, costs), "ends")]
    wide = topology.size * topology.ports > MOST_PORTS
    if topology.links and costs.mode != "ideal" and not wide:
        senders, receivers, amounts = _traffic(program)
        nodes, ports = wired(topology, np.arange(topology.size))
        kinds = np.minimum(topology.link_class(nodes, ports), len(costs.byte_times) - 1)
        times = np.array(costs.byte_times, np.int64)[kinds]
        if times.min(initial=1) > 0:
            rates = np.bincount(nodes, 1 / times, topology.size)[: topology.hosts]
            ends = [np.bincount(end, amounts, topology.hosts) for end in (senders, receivers)]
            most = max(float(end.max(initial=0)) for end in ends)
            bounds.append(TimeBound(int(most / rates.max()), "cut"))
            hops = _hops_needed(senders, receivers, amounts, topology)
            links = len(nodes) // (2 if costs.half_duplex else 1)
            bounds.append(TimeBound(int(hops * int(times.min()) / links), "growth"))
    return max(bounds, key=lambda bound: bound.time)


def _busiest_cpu(program: Program, costs: Costs) -> int:
    """Return the longest time of a CPU for computing, sending and receiving."""
    owner = program.owners
    cpus = program.cpus
    work = np.zeros(program.processors * cpus, np.int64)
    calcs, sends = program.kind == CALC, program.kind == SEND
    np.add.at(work, owner[calcs] * cpus + program.cpu[calcs], program.amount[calcs])
    each = costs.overhead + (program.amount[sends] - 1) * costs.overhead_byte
    for ends in (owner[sends], program.peer[sends]):
        np.add.at(work, ends * cpus + program.cpu[sends], each)
    return int(work.max(initial=0))


def _hops_needed(senders: Ints, receivers: Ints, amounts: Ints, topology: Topology) -> float:
    """Return a lower bound of the sum of bytes times hops for all placements.

    A processor's partners are at different places, and only a limited number of places is within
    each distance. The partners with the most bytes get the nearest places.
    """
    hosts = topology.hosts
    if hosts > MOST_HOSTS:
        return float(amounts.sum())
    ordered = np.sort(_distances(topology), axis=1).min(axis=0)  # the k-th nearest, of any place
    one, other = np.concatenate([[senders, receivers], [receivers, senders]], axis=1)
    pairs, which = np.unique(one * hosts + other, return_inverse=True)
    total = np.bincount(which, np.tile(amounts, 2))
    # The rearrangement inequality: heavy partners at near places give the smallest sum. No
    # placement can do better for a single processor.
    needed = 0.0
    for owner in np.unique(pairs // hosts):
        mine = np.sort(total[pairs // hosts == owner])[::-1]
        needed += float(mine @ ordered[1 : len(mine) + 1])
    return needed / 2
