"""Broadcast, gossip, reduction and allreduce of many items, one item a message.

A reduction is a broadcast backwards: what comes is combined with what one has. An allreduce is a
reduction of every item at a processor of its own, and then the same way back: shares of the items
are combined all over the network.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from mpinet.arrays import Ints
from mpinet.machine import Machine
from mpinet.networks.topology import Topology
from mpinet.programs.bounds import Bound
from mpinet.programs.collective import CollectiveResult, require_processor
from mpinet.programs.perform import play
from mpinet.programs.pipelines import bounds
from mpinet.programs.pipelines.arcs import Arcs
from mpinet.programs.pipelines.spreading import TREES, Spread, offered, require_spread, spread
from mpinet.programs.schedules.timetable import Timetable


@dataclass(frozen=True)
class PipelineResult(CollectiveResult):
    """What a collective of many items took.

    Attributes
    ----------
    items : int
        Items: of the root, of everybody (gossip), or to be combined.
    rate : Fraction or None
        Items a step beyond which none can come in the long run; None on networks that are too large
        for its search.
    informed : int
        Processors that ended with all that is meant for them.
    value : int or None
        Of a reduction: what item 0 came to.
    """

    items: int
    rate: Fraction | None
    informed: int
    value: int | None


def broadcast_items(
    machine: Machine, root: int, items: int, algorithm: str | None = None, seed: int = 0
) -> PipelineResult:
    """Bring the root's items to all processors (collective).

    Parameters
    ----------
    machine : Machine
        Moves, polices and counts.
    root : int
        The processor that has the items.
    items : int
        How many.
    algorithm : str, optional
        ``"rarest"`` or ``"trees"`` (all ports), ``"matching"`` or ``"cycle"`` (one port); default:
        what takes the fewest steps.
    seed : int
        Chooses the items' contents.

    Raises
    ------
    NodeError, UsageError, TooLarge
        The root is no processor, there is no such algorithm here, or the network is too large.

    Examples
    --------
    >>> found = broadcast_items(Machine("hypercube:4", "all"), 0, items=100)
    >>> found.steps, found.lower_bound, found.rate
    (28, 28, Fraction(4, 1))
    """
    bound, rate, way = _from_root(machine, root, items, algorithm)
    table = _table(machine, "broadcast", way, items, root=root)
    return _played(machine, table, way, bound, rate, items, seed)


def reduce_items(
    machine: Machine,
    root: int,
    items: int,
    operator: str = "min",
    algorithm: str | None = None,
    seed: int = 0,
) -> PipelineResult:
    """Combine items at the root, of which every processor has one each (collective).

    Parameters and errors are those of `broadcast_items`, which is turned round.

    Examples
    --------
    >>> reduce_items(Machine("hypercube:4", "all"), 0, items=100, operator="sum").steps
    28
    """
    bound, rate, way = _from_root(machine, root, items, algorithm)
    table = _table(machine, "reduce", _turned_round(machine, way), items, True, root)
    return _played(machine, table, way, bound, rate, items, seed, operator)


def gossip_items(
    machine: Machine, items: int, algorithm: str | None = None, seed: int = 0
) -> PipelineResult:
    """Bring as many items of every processor to all processors (collective).

    Parameters and errors are those of `broadcast_items`.

    Examples
    --------
    >>> found = gossip_items(Machine("petersen", "all"), items=4)
    >>> found.steps, found.lower_bound, found.rate
    (12, 12, Fraction(1, 3))
    """
    topology = machine.topology
    require_spread(topology, machine.model, items * topology.hosts, False, algorithm)
    arcs = Arcs.of(topology)
    rate: Fraction | None = None
    bound = Bound(0, "ends")
    if topology.hosts > 1:
        rate, cut = bounds.gossip_rate_of(machine, arcs), bounds.entering(machine)
        bound = bounds.gossip_bound(machine, rate, items, cut)
        if rate is None and cut is not None:
            rate = Fraction(cut[1], cut[0])
    sources = np.repeat(np.arange(topology.hosts), items)
    way = spread(topology, arcs, machine.model, sources, bound, algorithm)
    table = _table(machine, "gossip", way, items)
    return _played(machine, table, way, bound, rate, items, seed)


def allreduce_items(
    machine: Machine,
    items: int,
    operator: str = "min",
    algorithm: str | None = None,
    seed: int = 0,
) -> PipelineResult:
    """Combine items of which every processor has one each, for all of them (collective).

    Parameters and errors are those of `broadcast_items`; the items of ``"trees"`` are combined at
    processor 0.

    Examples
    --------
    >>> found = allreduce_items(Machine("ring:8", "one"), items=8, operator="sum")
    >>> found.algorithm, found.steps, found.lower_bound
    ('cycle', 14, 14)
    """
    topology = machine.topology
    require_spread(topology, machine.model, items, True, algorithm)
    arcs = Arcs.of(topology)
    rate: Fraction | None = None
    bound = Bound(0, "ends")
    if topology.hosts > 1:
        rate = bounds.allreduce_rate(machine, arcs)
        bound = bounds.allreduce_bound(machine, arcs, rate, items)
    half = -(-bound // 2)
    names = [algorithm] if algorithm else offered(topology, machine.model, True)
    ways: list[Spread] = []
    for name in names:
        sources = np.zeros(items, np.int64) if name == TREES else shares(topology, items)
        ways.append(spread(topology, arcs, machine.model, sources, half, name))
        if ways[-1].steps <= half:
            break
    way = min(ways, key=lambda each: each.steps)
    table = _table(machine, "allreduce", _there_and_back(machine, way), items, True)
    add = np.arange(len(table)) < len(way.rows)
    table = replace(table, add=add)
    return _played(machine, table, way, bound, rate, items, seed, operator)


def shares(topology: Topology, items: int) -> Ints:
    """The processor at which each item is combined, as evenly as can be, shape (items,)."""
    return np.arange(items) * topology.hosts // items


def _from_root(
    machine: Machine, root: int, items: int, algorithm: str | None
) -> tuple[Bound, Fraction | None, Spread]:
    """What nothing beats, and the way of items from a root to all."""
    topology = machine.topology
    require_processor(topology, root)
    require_spread(topology, machine.model, items, True, algorithm)
    arcs = Arcs.of(topology)
    rate: Fraction | None = None
    bound = Bound(0, "ends")
    if topology.hosts > 1:
        bound = bounds.broadcast_bound(machine, arcs, root, items)
        rate = bounds.broadcast_rate(machine, arcs, root)
    sources = np.full(items, root)
    return bound, rate, spread(topology, arcs, machine.model, sources, bound, algorithm)


def _turned_round(machine: Machine, way: Spread) -> Spread:
    """Backwards, in the opposite direction of every link."""
    step, sender, receiver, item = way.rows.T
    ports = np.full(len(way.rows), -1)
    known = np.flatnonzero(way.ports >= 0)
    ports[known] = machine.topology.reverse_port(sender[known], way.ports[known])
    rows = np.stack([way.steps + 1 - step, receiver, sender, item], axis=1)[::-1]
    return Spread(way.algorithm, np.ascontiguousarray(rows), ports[::-1].copy())


def _there_and_back(machine: Machine, way: Spread) -> Spread:
    """Backwards, and then forwards."""
    back = _turned_round(machine, way)
    later = way.rows + np.array([way.steps, 0, 0, 0])
    rows = np.concatenate([back.rows, later])
    return Spread(way.algorithm, rows, np.concatenate([back.ports, way.ports]))


def _table(
    machine: Machine,
    collective: str,
    way: Spread,
    items: int,
    add: bool = False,
    root: int | None = None,
) -> Timetable:
    """A way as a timetable; `add`: whether what comes is combined."""
    step, sender, receiver, item = (np.ascontiguousarray(column) for column in way.rows.T)
    return Timetable(
        collective,
        machine.topology.hosts,
        step,
        sender,
        receiver,
        item,
        items,
        root,
        port=way.ports,
        add=np.full(len(step), True) if add else None,
        ports=machine.model.name,
    )


def _played(
    machine: Machine,
    table: Timetable,
    way: Spread,
    bound: Bound,
    rate: Fraction | None,
    items: int,
    seed: int,
    operator: str | None = None,
) -> PipelineResult:
    """Run a timetable, and look at what everybody has (collective)."""
    spent, holdings = play(machine, table, seed, operator=operator or "sum")
    short = holdings.short()
    value = None if operator is None else holdings.value(table.root or 0, 0)
    return PipelineResult.of(
        way.algorithm,
        spent,
        bound,
        short == 0,
        items=items,
        rate=rate,
        informed=machine.topology.hosts - short,
        value=value,
    )
