"""Pipelines that bring items from their sources to all processors in few steps.

* ``rarest`` (all ports): every processor receives from its neighbours the items with the fewest
  holders. Over busses, each bus carries the item lacked by most of its members.
* ``trees`` (all ports): items travel down as many trees as fit, which together fill the links.
* ``matching`` (one port): each step uses a largest matching of useful sends. Over busses, each bus
  carries the item lacked by most of its members.
* ``cycle`` (one port): items travel along a Hamiltonian cycle.
* ``paths``: items travel between processors through switches that only forward, also in reversed
  schedules.

Every rank finds the same schedule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.errors import TooLarge, UsageError
from mpinet.machine.model import PortModel
from mpinet.networks.topology import Topology
from mpinet.programs.busgossip import rows_over_busses
from mpinet.programs.matchedgossip import matched_rows, needed_rows
from mpinet.programs.pipelines import dimensions
from mpinet.programs.pipelines.arcs import Arcs
from mpinet.programs.pipelines.forest import forest_rows, is_packed, packed_trees
from mpinet.programs.pipelines.paths import path_rows
from mpinet.programs.pipelines.rates import looks_of_ways, ways_to_all
from mpinet.programs.pipelines.switching import COMBINE, FORWARD, only_forwards
from mpinet.programs.pipelines.trees import MOST_LOOKS, disjoint_trees, looks_of_trees, tree_rows
from mpinet.programs.rarest import rarest_rows

RAREST, TREES, MATCHING, CYCLE, PATHS = "rarest", "trees", "matching", "cycle", "paths"

DIMENSIONS = "dimensions"
"""Name of an allreduce algorithm outside this module: `mpinet.programs.pipelines.dimensions`."""

MOST_ITEMS = 2**20
"""Maximum number of items of a collective."""

MOST_PAIRS = 2**24
"""Maximum number of pairs of a node and an item to receive."""

MOST_TRIES = 2**28
"""Maximum number of pairs times the lower bound of the steps, up to which searches are run."""


@dataclass(frozen=True, eq=False)
class ItemSpread:
    """Schedule that spreads items: step, sender, receiver and item of every message."""

    algorithm: str
    """Name of the search that found the schedule."""
    rows: Ints
    """Step, sender, receiver and item, by step. No node receives an item twice. Shape (k, 4)."""
    channels: Ints
    """Ports of the senders (-1: any port to the receiver), or busses. Shape (k,)."""
    skipped: tuple[str, ...] = ()
    """Algorithms that were not tried to the end, because they would take too long."""

    @property
    def steps(self) -> int:
        """Number of steps of the schedule."""
        return int(self.rows[:, 0].max(initial=0))


def offered(
    topology: Topology, model: PortModel, rooted: bool, switches: str | None = None
) -> list[str]:
    """Return the algorithms for a network, a port model, and items of one root or of many sources.

    `switches` has the values of `behavior`.
    """
    if only_forwards(topology, switches):
        return [PATHS] if model.send == 1 else [PATHS, TREES]
    if only_forwards(topology, FORWARD) and switches == COMBINE:
        return [*dict.fromkeys([*offered(topology, model, rooted), PATHS])]
    if not topology.links:
        return [MATCHING] if model.send == 1 else [RAREST]
    through = [PATHS] if only_forwards(topology, FORWARD) else []
    if model.send == 1:
        return [CYCLE, MATCHING] if topology.cycle() is not None else [MATCHING, *through]
    return [RAREST, *through, TREES]


def require_spread(
    topology: Topology,
    model: PortModel,
    items: int,
    rooted: bool,
    algorithm: str | None,
    switches: str | None = None,
    everywhere: bool = False,
) -> None:
    """Raise an error unless the items can be spread to all processors by this algorithm.

    `everywhere` is True if the items are combined at all processors, as in an allreduce.

    Raises
    ------
    UsageError
        The algorithm does not exist, or does not support half-duplex links or the port model.
    TooLarge
        The number of items, or of pairs of item and receiving node, is too large.
    """
    limits = (model.send, model.receive)
    if model.half_duplex or limits not in ((1, 1), (None, None)):
        raise UsageError(
            "Pipelines need full-duplex links, and one port or all ports: schedules use both "
            "directions of a link at once."
        )
    if not 1 <= items <= MOST_ITEMS:
        raise UsageError(f"A collective moves 1 to {MOST_ITEMS:,} items, not {items}.")
    if items * topology.size > MOST_PAIRS:
        raise TooLarge(
            f"{items:,} items for the {topology.size:,} nodes of {topology.name} are "
            f"{items * topology.size:,} pairs; at most {MOST_PAIRS:,} are held."
        )
    names = offered(topology, model, rooted, switches)
    if everywhere and dimensions.applies(topology):
        names = [*names, DIMENSIONS]
    if algorithm is not None and algorithm not in names:
        raise UsageError(
            f"{topology.name} has no pipeline {algorithm!r} on {model.name} "
            f"{'port' if model.send == 1 else 'ports'}; it has: {', '.join(names)}."
        )


def spread(
    topology: Topology,
    arcs: Arcs,
    model: PortModel,
    sources: Ints,
    bound: int,
    algorithm: str | None = None,
    single: bool = False,
    switches: str | None = None,
) -> ItemSpread:
    """Bring items to all processors in few steps.

    Parameters
    ----------
    topology, arcs
        The network and its arcs.
    model : PortModel
        One port or all.
    sources : ndarray of int64, shape (items,)
        Processor that holds each item first.
    bound : int
        Lower bound of the steps. The search ends when a schedule meets the bound.
    algorithm : str, optional
        Default: the algorithm with the fewest steps.
    single : bool
        If True, the schedule can be reversed: only one member receives a bus transmission, and an
        item reaches a switch at most once per step.
    switches : str, optional
        As in `behavior`. `COMBINE`: in the reversed schedule, switches may combine messages where
        they copy now.

    Raises
    ------
    TooLarge
        Every algorithm would take too long.

    Examples
    --------
    >>> from mpinet.networks import open
    >>> ring = open("ring:6")
    >>> sources = np.zeros(10, np.int64)
    >>> found = spread(ring, Arcs.of(ring), PortModel(None, None), sources, 7)
    >>> found.algorithm, found.steps
    ('rarest', 7)
    """
    rooted = bool((sources == sources[0]).all())
    names = [algorithm] if algorithm else offered(topology, model, rooted, switches)
    if topology.hosts == 1:
        return ItemSpread(names[0], np.empty((0, 4), np.int64), np.empty(0, np.int64))
    best: ItemSpread | None = None
    skipped: list[str] = []
    for name in names:
        if name == PATHS:
            made = path_rows(arcs, sources, bound, model.send == 1, single)
            found = None if made is None else ItemSpread(PATHS, *made)
        elif name == TREES and (not rooted or arcs.hosts < arcs.size):
            found = _forest(arcs, sources, bound, single)
        elif topology.links:
            found = _WAYS[name](topology, arcs, sources, bound)
        else:
            found = _over_busses(name, topology, sources, bound, single)
        if found is None:
            skipped.append(name)
        elif best is None or found.steps < best.steps:
            best = found
        if best is not None and best.steps <= bound:
            break
    if best is None:
        raise TooLarge(
            f"A pipeline of {len(sources):,} items on {topology.name} ({', '.join(names)}) would "
            "take too long to find: give fewer items or a smaller network"
            f"{', or let switches combine' if PATHS in names and single else ''}."
        )
    return replace(best, skipped=tuple(skipped))


def _searched(
    name: str, topology: Topology, arcs: Arcs, sources: Ints, bound: int
) -> ItemSpread | None:
    """Return the result of a greedy search over links; None if the search would take too long."""
    if len(sources) * topology.size * max(bound, 1) > MOST_TRIES:
        return None
    rows = (matched_rows if name == MATCHING else rarest_rows)(topology, sources, bound)
    rows = rows[needed_rows(rows, topology, sources)]
    return ItemSpread(name, rows, np.full(len(rows), -1))


def _over_busses(
    name: str, topology: Topology, sources: Ints, bound: int, single: bool
) -> ItemSpread | None:
    """Return a schedule in which busses carry widely lacked items; None if too expensive."""
    if len(sources) * topology.most_wired * max(bound, 1) > MOST_TRIES:
        return None
    rows = rows_over_busses(topology, sources, bound, name == MATCHING, single)
    return ItemSpread(name, np.ascontiguousarray(rows[:, :4]), rows[:, 4].copy())


def _forest(arcs: Arcs, sources: Ints, bound: int, alone: bool) -> ItemSpread | None:
    """Return a schedule down trees from all source processors; None if too large."""
    if not is_packed(arcs, sources):
        return None
    return ItemSpread(TREES, *forest_rows(arcs, packed_trees(arcs, sources), sources, bound, alone))


def _trees(topology: Topology, arcs: Arcs, sources: Ints, bound: int) -> ItemSpread | None:
    """Return a schedule down arc-disjoint trees of one root; None if too expensive to find."""
    root = int(sources[0])
    degree = int(arcs.out_degrees[root])
    if max(looks_of_ways(arcs, root), looks_of_trees(arcs, degree)) > MOST_LOOKS:
        return None
    ways = ways_to_all(arcs, root)
    number = int(ways.min())
    return ItemSpread(
        TREES, *tree_rows(arcs, root, disjoint_trees(arcs, root, number), len(sources))
    )


def _cycle(topology: Topology, arcs: Arcs, sources: Ints, bound: int) -> ItemSpread | None:
    """Return a schedule along a Hamiltonian cycle, on which each item travels once round.

    A processor forwards an item in the step after its arrival. With many sources, the items of a
    source follow each other at intervals of N - 1 steps. With a single source, items start in
    successive steps.
    """
    cycle = topology.cycle()
    assert cycle is not None
    every = np.arange(topology.size)
    ports = cycle.successor(every)
    ahead = topology.neighbor(every, ports)
    rooted = bool((sources == sources[0]).all())
    order = np.argsort(sources, kind="stable")
    turn = np.empty(len(sources), np.int64)
    turn[order] = np.arange(len(sources)) - np.searchsorted(sources[order], sources[order])
    begins = turn if rooted else turn * (topology.size - 1)
    rows, used, at = [], [], sources.copy()
    for hop in range(1, topology.size):
        rows.append(np.stack([begins + hop, at, ahead[at], np.arange(len(sources))], axis=1))
        used.append(ports[at])
        at = ahead[at]
    table, over = np.concatenate(rows), np.concatenate(used)
    by_step = np.lexsort((table[:, 3], table[:, 0]))
    return ItemSpread(CYCLE, table[by_step], over[by_step])


_WAYS: dict[str, Callable[[Topology, Arcs, Ints, int], ItemSpread | None]] = {
    RAREST: partial(_searched, RAREST),
    TREES: _trees,
    MATCHING: partial(_searched, MATCHING),
    CYCLE: _cycle,
}
