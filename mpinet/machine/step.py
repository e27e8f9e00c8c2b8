"""One step: the sends, their transport to the receivers' ranks, and the order of reception.

`mpinet.machine.enforcement` checks the rules of a step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.compiled import kernel
from mpinet.machine.stepping import Stepping
from mpinet.machine.transport import Received

Carrier = Callable[[Array, Ints, int], Received]


@dataclass(frozen=True, eq=False)
class Sends:
    """The sends of this rank's processors in one step."""

    nodes: Ints
    """Sender of each message. Shape (k,)."""
    ports: Ints
    """Output port of each message. Shape (k,)."""
    targets: Ints
    """Receiver of each message. Shape (k,)."""
    arrivals: Ints
    """Input port of each message at its receiver. Shape (k,)."""
    channels: Ints
    """Bus of each message; empty in a network of links. Shape (k,) or (0,)."""
    transmissions: int
    """Number of messages on channels; sends on several ports of one bus are one."""


@dataclass(frozen=True, eq=False)
class Arrivals:
    """Messages that have reached this rank's processors, not yet in order."""

    nodes: Ints
    """Receiver of each message. Shape (k,)."""
    ports: Ints
    """Input port of each message. Shape (k,)."""
    payload: Array
    """The messages. Shape (k, ..)."""
    total: int
    """Sum of all ranks' words."""


def carry(
    machine: Stepping, sends: Sends, payload: Array | None, word: int, exchange: Carrier
) -> Arrivals:
    """Bring every message to its receiver's rank, by the given exchange."""
    if payload is None:
        payload = np.empty((len(sends.nodes), 0), np.uint8)
    # One rank needs no records: the arrays of the sends are also the arrays of the arrivals.
    if machine.transport.size == 1:
        return Arrivals(sends.targets, sends.arrivals, payload, word)
    leaving, counts = by_owner(machine, sends.targets)
    records = np.empty(len(leaving), record_type(payload.dtype, payload.shape[1:]))
    if len(leaving):
        records["node"] = sends.targets[leaving]
        records["port"] = sends.arrivals[leaving]
        records["payload"] = payload[leaving]
    received, _, total = exchange(records, counts, word)
    # Neighbours are mostly on one rank. Without traffic across ranks nothing is copied.
    if len(leaving) == len(received) == 0:
        return Arrivals(sends.targets, sends.arrivals, payload, total)
    staying = np.ones(len(sends.nodes), bool)
    staying[leaving] = False
    return Arrivals(
        np.concatenate([sends.targets[staying], received["node"]]),
        np.concatenate([sends.arrivals[staying], received["port"]]),
        np.concatenate([payload[staying], received["payload"]]),
        total,
    )


@cache
def record_type(payload: np.dtype[Any], shape: tuple[int, ...]) -> np.dtype[Any]:
    """Return the type of a message's record on its way to another rank."""
    # Cached: building a structured type takes longer than a small step.
    return np.dtype([("node", np.int64), ("port", np.int64), ("payload", payload, shape)])


def by_owner(machine: Stepping, nodes: Ints) -> tuple[Ints, Ints]:
    """Return the indices of nodes hosted elsewhere, sorted by rank, and their number per rank.

    Returns
    -------
    places : ndarray of int64, shape (k,)
        Indices into `nodes`, by rank, in order within a rank.
    counts : ndarray of int64, shape (ranks,)
        Number of nodes of each rank; 0 for this rank.
    """
    # Idle ranks take part in every step, so the empty case must cost nothing.
    if len(nodes) == 0:
        return nodes, np.zeros(machine.transport.size, np.int64)
    owners = machine.placement.owners(nodes)
    away = np.flatnonzero(owners != machine.transport.rank)
    counts = np.bincount(owners[away], minlength=machine.transport.size)
    return away[np.argsort(owners[away], kind="stable")], counts


def in_order(machine: Stepping, arrivals: Arrivals, listen: tuple[Any, Any] | None) -> Ints | slice:
    """Return the indices of the accepted arrivals, sorted by receiver, then port."""
    order: Ints | slice = slice(None)
    # Programs that iterate over nodes and ports in order produce sorted arrivals; a linear test
    # saves the sort.
    if not ascend_in_pairs(arrivals.nodes, arrivals.ports):
        order = _sorted_places(machine, arrivals)
    if listen is None:
        return order
    ports = machine.topology.ports
    wanted = np.asarray(listen[0], np.int64) * ports + np.asarray(listen[1], np.int64)
    received = np.isin(_keys(machine, arrivals)[order], wanted)
    return np.arange(len(received))[order][received]


def _keys(machine: Stepping, arrivals: Arrivals) -> Ints:
    """Return keys of the arrivals, ascending by receiver, then port."""
    return arrivals.nodes * machine.topology.ports + arrivals.ports


def _sorted_places(machine: Stepping, arrivals: Arrivals) -> Ints:
    """Return the indices that sort the arrivals, by counting sort if there are many arrivals."""
    placement, count = machine.placement, len(arrivals.nodes)
    # Counting sort touches a counter per processor. With few arrivals a comparison sort is cheaper.
    if count < placement.count or not machine.mapping.contiguous:
        return np.argsort(_keys(machine, arrivals), kind="stable")
    by_port, order = np.empty(count, np.int64), np.empty(count, np.int64)
    sort_by_count(arrivals.ports, 0, machine.topology.ports, np.arange(count), by_port)
    sort_by_count(arrivals.nodes, placement.first, placement.count, by_port, order)
    return order


@kernel
def ascend(numbers: Ints) -> bool:
    """Return True if each number is at least its predecessor."""
    for i in range(1, numbers.size):
        if numbers[i] < numbers[i - 1]:
            return False
    return True


@kernel
def ascend_in_pairs(nodes: Ints, ports: Ints) -> bool:
    """Return True if each pair (node, port) is at least its predecessor."""
    for i in range(1, nodes.size):
        if nodes[i] < nodes[i - 1] or (nodes[i] == nodes[i - 1] and ports[i] < ports[i - 1]):
            return False
    return True


@kernel
def sort_by_count(numbers: Ints, first: int, count: int, places: Ints, ordered: Ints) -> None:
    """Write the places in the order of their numbers, first .. first + count - 1; stable."""
    # Stable: sorting by port first and node second gives the order of pairs.
    ends = np.zeros(count + 1, np.int64)
    for i in range(numbers.size):
        ends[numbers[i] - first + 1] += 1
    for k in range(count):
        ends[k + 1] += ends[k]
    for i in range(places.size):
        k = numbers[places[i]] - first
        ordered[ends[k]] = places[i]
        ends[k] += 1


def first_of_transmission(sends: Sends) -> Ints:
    """Return the indices of the sends, one per transmission."""
    if len(sends.channels) == 0:
        return np.arange(len(sends.nodes))
    return first_of_each(sends.nodes, sends.channels)


def first_of_each(first: Ints, second: Ints) -> Ints:
    """Return the indices of the first occurrence of each pair of numbers, ascending."""
    # On a bus several sends of one processor are one transmission, and metered once.
    order = np.lexsort((second, first))
    new = np.ones(len(order), bool)
    new[1:] = (np.diff(first[order]) != 0) | (np.diff(second[order]) != 0)
    return np.sort(order[new])


def count(machine: Stepping, sends: Sends, numbers: Ints | int = -1) -> None:
    """Count one step with these sends, and record it, with the messages' numbers."""
    machine.count(sends.transmissions)
    if machine.metered and len(sends.nodes):
        first = first_of_transmission(sends)
        places = machine.slots(sends.nodes[first]) * machine.topology.ports + sends.ports[first]
        machine.meters.loads[places] += np.uint32(1)
    machine.record(sends.nodes, sends.ports, sends.targets, numbers)


def gather_claims(machine: Stepping, claims: Ints) -> Ints:
    """Gather the claims on channels relevant to this rank: its own and the other members' claims.

    Parameters
    ----------
    claims : ndarray of int64, shape (k, c)
        Distinct rows that begin with a hosted processor and its claimed channel.

    Returns
    -------
    ndarray of int64, shape (m, c)
        These rows, then the rows received from other ranks (collective).
    """
    if machine.transport.size == 1:
        return claims
    topology = machine.topology
    fellows = topology.neighbor(claims[:, :1], np.arange(topology.ports))
    row, port = np.nonzero(fellows >= 0)
    same = topology.channel(claims[row, 0], port) == claims[row, 1]
    row, port = row[same], port[same]
    owners = machine.placement.owners(fellows[row, port])
    away = owners != machine.transport.rank
    # A claim goes to a rank once, however many members of the bus the rank hosts.
    outgoing = np.unique(owners[away] * len(claims) + row[away])
    counts = np.bincount(outgoing // max(len(claims), 1), minlength=machine.transport.size)
    received = machine.transport.exchange(claims[outgoing % max(len(claims), 1)], counts).records
    return np.concatenate([claims, received])
