"""Multicast: one processor's message to a set of processors, by repeated halving of the set.

The processors of the set stand in a row, ordered by their numbers from the root on. The holder of a
part of the row sends the message to the first processor of the upper half, together with the
addresses of this half. The holder keeps the lower half. The network's routing carries each message,
so a processor needs only the addresses that it has received. With m targets there are ceil(log2(m +
1)) rounds (McKinley et al. 1994).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.machine import Machine
from mpinet.machine.state import Numbered, State
from mpinet.networks.topology import Topology
from mpinet.programs.bounds import Bound, multicast_bound
from mpinet.programs.broadcast import CONTENT, message_of
from mpinet.programs.collective import CollectiveOutcome, require_processor
from mpinet.programs.holdings import ChunkSends, RoutedEnds, SingleNumbers
from mpinet.programs.playing import StepProgram, play

HALVING = "halving"
"""Name of the algorithm."""


def multicast(machine: Machine, root: int, targets: Sequence[int]) -> CollectiveOutcome:
    """Bring the root's message to some processors (collective).

    Parameters
    ----------
    machine : Machine
        Runs the steps, enforces the port model and counts.
    root : int
        Processor that holds the message.
    targets : sequence of int
        Processors that need the message.

    Examples
    --------
    >>> found = multicast(Machine("hypercube:4", "one"), 0, [3, 5, 9])
    >>> found.informed, found.correct, found.lower_bound
    (4, True, 2)
    """
    row = row_of(machine.topology, root, targets)
    held, rounds = message_of(machine, root), list[int]()
    spent = play(machine, _halves(machine, row, held, rounds))
    here = np.isin(machine.nodes, row)
    right = machine.sum(int((held.values[here] == CONTENT + root).sum()))[0]
    bound = Bound(multicast_bound(machine, root, row), "distance")
    phases = tuple((f"round {number}", steps) for number, steps in enumerate(rounds, 1))
    return CollectiveOutcome(
        HALVING, spent.steps, spent.messages, phases, bound, right == len(row), informed=right
    )


def row_of(topology: Topology, root: int, targets: Sequence[int]) -> Ints:
    """Return the root and the other processors of a set, by number from the root on."""
    for node in (root, *targets):
        require_processor(topology, node)
    others = sorted({*targets} - {root}, key=lambda node: (node - root) % topology.hosts)
    return np.array([root, *others])


def _halves(machine: Machine, row: Ints, held: SingleNumbers, rounds: list[int]) -> StepProgram:
    """Yield the messages of each round; a round ends with its last arrival."""
    # Each processor holds the part first..last-1 of the row, none before its message arrives.
    begin = np.zeros((len(machine.nodes), 2), np.int64)
    begin[machine.nodes == row[0]] = 0, len(row)
    parts = Numbered(begin, machine.nodes)
    with State(machine, "multicast", held, parts=parts, left=len(row), rounds=[]) as state:
        while state.left > 1:
            before = machine.steps
            first, last = state.parts.T
            slots = np.flatnonzero(last - first > 1)
            slots = slots[np.argsort(first[slots])]
            middle = (first[slots] + last[slots] + 1) // 2
            payload = np.stack([held.values[slots], middle, last[slots]], axis=1)
            ends = RoutedEnds(row[middle], first[slots], len(row))
            state.parts[slots, 1] = middle
            came = yield ChunkSends(slots, slots[:0], payload=payload, route=ends)
            held.values[came.slots] = came.payload[:, 0]
            state.parts[came.slots] = came.payload[:, 1:]
            state.rounds.append(machine.steps - before)
            state.left = (state.left + 1) // 2
            state.boundary()
        rounds += state.rounds
