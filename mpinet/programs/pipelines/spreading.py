"""Items from where they are to all processors: which way takes the fewest steps.

``rarest`` (all ports): everybody takes from its neighbours what fewest have. ``trees`` (all ports):
down trees that together fill the links, as many as there can be. ``matching`` (one port): in every
step a largest matching of those who can tell something new. ``cycle`` (one port): along a
Hamiltonian cycle. Over busses the first and the third let each bus carry what most of its members
lack. ``paths``: from processor to processor through switches that forward and do nothing else, as
in what is turned round. Every rank finds the same schedule.
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
"""Way of an allreduce that does not spread: `mpinet.programs.pipelines.dimensions`."""

MOST_ITEMS = 2**20
"""Most items of a collective."""

MOST_PAIRS = 2**24
"""Most pairs of a node and an item that it gets."""

MOST_TRIES = 2**28
"""Pairs, times the steps that nothing beats, up to which a search looks at all of them."""


@dataclass(frozen=True, eq=False)
class ItemSpread:
    """Spread of items: who sends which one to whom, and when."""

    algorithm: str
    """Name of the search that found the schedule."""
    rows: Ints
    """Step, sender, receiver and item, by step. Nobody gets an item twice. Shape (k, 4)."""
    channels: Ints
    """The senders' ports, -1 for any that leads there; or the busses. Shape (k,)."""
    skipped: tuple[str, ...] = ()
    """Algorithms that were not tried to the end, because they would take too long."""

    @property
    def steps(self) -> int:
        """Steps that it takes."""
        return int(self.rows[:, 0].max(initial=0))


def offered(
    topology: Topology, model: PortModel, rooted: bool, switches: str | None = None
) -> list[str]:
    """The algorithms for a network, a port model, and items of one root or of many.

    `switches` is as of `behavior`.
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
    """Raise `UsageError` unless so many items can be brought to all, in this way.

    `everywhere` says that they are combined at all processors, as in an allreduce.

    Raises
    ------
    UsageError
        There is no such algorithm, or none for half-duplex links or the port model.
    TooLarge
        There are too many items, or too many nodes that get them.
    """
    limits = (model.send, model.receive)
    if model.half_duplex or limits not in ((1, 1), (None, None)):
        raise UsageError(
            "Pipelines need links of full duplex and one port or all: on half-duplex links both "
            "directions would share what each is planned for."
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
        The processor that has each item first.
    bound : int
        Steps that nothing beats: there the search ends.
    algorithm : str, optional
        Default: what takes the fewest steps.
    single : bool
        Whether all will be turned round: one member alone takes what a bus carries, and an item
        comes to a switch once in a step.
    switches : str, optional
        As of `behavior`: `COMBINE` where they may combine, when it is turned round, what they
        multiply now.

    Raises
    ------
    TooLarge
        Every way would take too long to find.

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
    """A greedy search over links, unless it would take too long."""
    if len(sources) * topology.size * max(bound, 1) > MOST_TRIES:
        return None
    rows = (matched_rows if name == MATCHING else rarest_rows)(topology, sources, bound)
    rows = rows[needed_rows(rows, topology, sources)]
    return ItemSpread(name, rows, np.full(len(rows), -1))


def _over_busses(
    name: str, topology: Topology, sources: Ints, bound: int, single: bool
) -> ItemSpread | None:
    """Spread what most members of a bus lack, unless it would take too long."""
    if len(sources) * topology.most_wired * max(bound, 1) > MOST_TRIES:
        return None
    rows = rows_over_busses(topology, sources, bound, name == MATCHING, single)
    return ItemSpread(name, np.ascontiguousarray(rows[:, :4]), rows[:, 4].copy())


def _forest(arcs: Arcs, sources: Ints, bound: int, alone: bool) -> ItemSpread | None:
    """Down trees from all processors that have items, past the switches between them."""
    if not is_packed(arcs, sources):
        return None
    return ItemSpread(TREES, *forest_rows(arcs, packed_trees(arcs, sources), sources, bound, alone))


def _trees(topology: Topology, arcs: Arcs, sources: Ints, bound: int) -> ItemSpread | None:
    """Down arc-disjoint trees of one root."""
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
    """Each item goes once round, as soon as those that its source had before are on their way.

    Everybody passes on, a step later, what came; one item of each source at a time, or, where one
    processor has them all, one after the other.
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
