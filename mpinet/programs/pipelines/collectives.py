"""Broadcast, gossip, reduction and allreduce of many items, one item per message.

A reduction is a reversed broadcast, in which receivers combine items with their own. An allreduce
is a reduction of every item, followed by the reversed schedule. Each item is reduced at one of the
processors, so the combining is spread over the network. A reduce-scatter is a reversed gossip.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from mpinet.base.arrays import Flags, Ints
from mpinet.errors import TooLarge, UsageError
from mpinet.machine import Machine, PortModel
from mpinet.networks.topology import Topology
from mpinet.programs.bounds import Bound, combining_gossip_bound
from mpinet.programs.collective import CollectiveOutcome, require_processor
from mpinet.programs.exchange import FARTHEST, require_algorithm
from mpinet.programs.farthest import farthest_timetable
from mpinet.programs.holdings import KeyedChunks
from mpinet.programs.kinds import OF_EACH, SUMS
from mpinet.programs.pipelines import bounds
from mpinet.programs.pipelines.arcs import Arcs
from mpinet.programs.pipelines.bounds import EXCHANGE
from mpinet.programs.pipelines.dimensions import Exchanged, exchanged
from mpinet.programs.pipelines.interleaving import Party, interleaved
from mpinet.programs.pipelines.spreading import (
    DIMENSIONS,
    PATHS,
    TREES,
    ItemSpread,
    offered,
    require_spread,
    spread,
)
from mpinet.programs.pipelines.switching import COPY, behavior, only_forwards
from mpinet.programs.playing import play_rows
from mpinet.programs.schedules.timetable import Timetable, ports_of


def move_items(
    machine: Machine,
    collective: str,
    items: int,
    root: int | None = None,
    operator: str = "min",
    algorithm: str | None = None,
    seed: int = 0,
    switches: str = COPY,
) -> CollectiveOutcome:
    """Run a collective of many items, one item per message (collective).

    Parameters
    ----------
    machine : Machine
        Runs the steps, enforces the port model and counts.
    collective : str
        ``"broadcast"``, ``"reduce"``, ``"gossip"``, ``"reducescatter"``, ``"allreduce"`` or
        ``"exchange"``.
    items : int
        Number of items: of the root, of every processor, of each pair, or to combine.
    root : int, optional
        Processor that holds or receives the items of a broadcast or reduction.
    operator : str
        Operator of sums: ``"min"``, ``"max"`` or ``"sum"``.
    algorithm : str, optional
        ``"rarest"`` or ``"trees"`` (all ports), ``"matching"`` or ``"cycle"`` (one port),
        ``"dimensions"`` (allreduce). Default: the algorithm with the fewest steps. An allreduce by
        ``"trees"`` combines at processor 0.
    seed : int
        Seed of the items' contents.
    switches : str
        Behavior of switches. ``"forward"``: send each message on once. ``"copy"``: also send a
        spread message on several times. ``"combine"``: also combine several messages in a
        reduction.

    Raises
    ------
    NodeError, UsageError, TooLarge
        The root is not a processor, the algorithm is not available, or the network is too large.

    Examples
    --------
    >>> found = move_items(Machine("hypercube:4", "all"), "broadcast", 100, root=0)
    >>> found.steps, found.lower_bound, found.rate
    (28, 28, Fraction(4, 1))
    >>> found = move_items(Machine("petersen", "all"), "gossip", 4)
    >>> found.steps, found.lower_bound, found.rate
    (12, 12, Fraction(1, 3))
    >>> found = move_items(Machine("ring:8", "one"), "allreduce", 8, operator="sum")
    >>> found.algorithm, found.steps, found.lower_bound
    ('cycle', 14, 14)
    """
    planned = plan(machine, collective, items, root, algorithm, switches)
    sums = collective in SUMS
    spent, held = play_rows(
        machine, planned.table, seed, operator=operator if sums else "sum", checked=False
    )
    short = held.short()
    return CollectiveOutcome.of(
        planned.algorithm,
        spent,
        planned.bound,
        short == 0,
        items=planned.items,
        rate=planned.rate,
        skipped=planned.skipped,
        informed=machine.topology.hosts - short,
        value=held.value(root or 0, 0) if sums and isinstance(held, KeyedChunks) else None,
    )


@dataclass(frozen=True, eq=False)
class PipelinePlan:
    """Schedule and bounds of a collective of many items, before the run."""

    algorithm: str
    """Name of the search that found the schedule."""
    table: Timetable
    """Schedule of the collective."""
    items: int
    """Number of items of the root or of each processor, or of items to combine; see
    `CollectiveOutcome`.
    """
    bound: Bound
    """Lower bound of the steps."""
    rate: Fraction | None
    """Upper bound of the items per step in the long run; None on networks too large for its
    search.
    """
    skipped: tuple[str, ...] = ()
    """Candidates that were not compared, because they would exceed the budget of work."""


def plan(
    machine: Machine,
    collective: str,
    items: int,
    root: int | None = None,
    algorithm: str | None = None,
    switches: str = COPY,
    parts: bool = True,
) -> PipelinePlan:
    """Return the schedule of a collective of many items, with its bounds (collective).

    Parameters
    ----------
    machine, collective, items, root, algorithm, switches
        As in `move_items`.
    parts : bool
        If True, messages may carry a part of a sum, as rows of a timetable with `since` do.

    Raises
    ------
    NodeError, UsageError, TooLarge
        As in `move_items`.

    Examples
    --------
    >>> found = plan(Machine("ring:8", "one"), "allreduce", items=8)
    >>> found.algorithm, found.table.last, found.bound
    ('cycle', 14, 14)
    """
    topology = machine.topology
    if collective == EXCHANGE:
        return _of_all_pairs(machine, items)
    if root is not None:
        require_processor(topology, root)
    of_each = collective in OF_EACH
    number = items * topology.hosts if of_each else items
    turning = behavior(collective, switches)
    everywhere = collective == "allreduce"
    require_spread(topology, machine.model, number, not of_each, algorithm, turning, everywhere)
    arcs = Arcs.of(topology)
    forwarded = only_forwards(topology, switches if everywhere else turning)
    bound, rate = bounds.steps_and_rate(machine, collective, root or 0, items, forwarded)
    if everywhere:
        wanted = (algorithm, switches, parts)
        return AllreduceSearch(machine, arcs, items, bound, rate, *wanted).plan()
    owners = np.arange(topology.hosts) if of_each else np.full(1, root)
    sources, back = np.repeat(owners, items), collective in SUMS
    way = spread(topology, arcs, machine.model, sources, bound, algorithm, back, turning)
    if not back:
        table = _table(machine, collective, way, items, root)
    else:
        table = _table(machine, collective, _turned_round(machine, way), items, root)
        table = replace(table, add=_combines(topology, table, way))
    return PipelinePlan(way.algorithm, table, items, bound, rate, way.skipped)


MOST_ROWS = 2**20
"""Maximum number of messages in a total exchange of many items."""


def require_exchange(topology: Topology, model: PortModel, items: int) -> None:
    """Raise an error unless a total exchange with `items` items per pair is possible.

    Raises
    ------
    UsageError, TooLarge
        The network has busses or half-duplex links, `items` is 0, or processors or messages are too
        many.
    """
    require_algorithm(topology, FARTHEST, model)
    if not 1 <= items <= MOST_ROWS:
        raise UsageError(f"A total exchange moves 1 to {MOST_ROWS:,} items, not {items}.")
    if items * topology.hosts * (topology.hosts - 1) > MOST_ROWS:
        raise TooLarge(
            f"{items:,} items for each pair of {topology.hosts:,} processors are more than "
            f"{MOST_ROWS:,} messages."
        )


def _of_all_pairs(machine: Machine, items: int) -> PipelinePlan:
    """Return a total exchange of many items: exchanges of one item, merged into common steps."""
    topology, model = machine.topology, machine.model
    require_exchange(topology, model, items)
    bound, rate = bounds.steps_and_rate(machine, EXCHANGE, 0, items)
    one = farthest_timetable(topology, model.send == 1, -(-bound // items)).ordered()
    one = replace(one, port=ports_of(topology, one))
    party = Party(topology, np.arange(topology.size), FARTHEST, one, bound)
    steps = [each.step for each in interleaved(topology, model, [party] * items)]
    everything = np.tile(np.arange(len(one)), items)
    item = np.repeat(np.arange(items), len(one))
    table = replace(
        one.rows(everything),
        step=np.concatenate(steps),
        chunk=one.chunk[everything] * items + item,
        chunks=items,
    )
    return PipelinePlan(FARTHEST, table.ordered(), items, bound, rate)


class AllreduceSearch(NamedTuple):
    """Search for an allreduce of many items, with its bounds."""

    machine: Machine
    """Machine for the items."""
    arcs: Arcs
    """Arcs of its network."""
    items: int
    """Number of items."""
    bound: Bound
    """Lower bound of the steps."""
    rate: Fraction | None
    """Upper bound of the items per step; see `PipelinePlan`."""
    algorithm: str | None
    """Name of the algorithm; None: the one with the fewest steps."""
    switches: str
    """Behavior of switches; see `move_items`."""
    parts: bool
    """True if messages may carry a part of a sum."""

    def plan(self) -> PipelinePlan:
        """Return the best allreduce: a reduction and its reverse, or an exchange by dimensions."""
        machine, items, algorithm, bound = self.machine, self.items, self.algorithm, self.bound
        topology = machine.topology
        if algorithm != DIMENSIONS:
            way, back = self._there_and_back()
            table = _table(machine, "allreduce", way, items)
            add = (np.arange(len(table)) < back) & _combines(topology, table, way)
            table = replace(table, add=add)
            found = PipelinePlan(way.algorithm, table, items, bound, self.rate, way.skipped)
            if algorithm or way.steps <= max(bound, items * combining_gossip_bound(machine)):
                return found
        along = exchanged(topology, self.arcs, machine.model, bound)
        if along is None and algorithm == DIMENSIONS:
            raise UsageError(
                f"{topology.name} has no dimensions for an allreduce on "
                f"{machine.model.name} port{'s' * (machine.model.send is None)}: give another "
                "--algorithm, or none."
            )
        if algorithm is None and (
            along is None or along.steps * items >= way.steps or (along.in_parts and not self.parts)
        ):
            return found
        assert along is not None
        skipped = () if algorithm else found.skipped
        return PipelinePlan(DIMENSIONS, self._along(along), items, bound, self.rate, skipped)

    def _along(self, along: Exchanged) -> Timetable:
        """Return a timetable that runs every step of an exchange for one item after the other."""
        items = self.items
        step, sender, receiver, port, since = (np.repeat(row, items) for row in along.rows.T)
        item = np.tile(np.arange(items), len(along.rows))
        later = (since - 1) * items + item + 1
        rows = np.stack([(step - 1) * items + item + 1, sender, receiver, item], axis=1)
        more = {"add": np.ones(len(item), bool), "ports": self.machine.model.name}
        if along.in_parts:
            more["since"] = np.where(since > 0, later, since)
        topology = self.machine.topology
        return Timetable.of("allreduce", topology, rows, port, chunks=items, **more)

    def _there_and_back(self) -> tuple[ItemSpread, int]:
        """Return the best result of `_both_halves`.

        With the default algorithm one item never takes more steps than two items. A search for two
        items combines them at two processors and may find a shorter schedule, so it is tried for
        one item.
        """
        best = self._both_halves(self.items)
        if self.items != 1 or self.algorithm or best[0].steps <= self.bound:
            return best
        with suppress(TooLarge):
            two = self._both_halves(2)
            if two[0].steps < best[0].steps:
                best = min((_of_item(*two, item) for item in (0, 1)), key=lambda way: way[0].steps)
        return best

    def _both_halves(self, items: int) -> tuple[ItemSpread, int]:
        """Return a reduction followed by a broadcast of all items, and the rows of the reduction.

        The algorithm with the fewest steps is used. Over busses, and through switches that only
        forward, the two halves are different schedules, because in the broadcast one message
        becomes several.
        """
        machine, arcs, half = self.machine, self.arcs, -(-self.bound // 2)
        topology, model = machine.topology, machine.model
        turning, spreading = (behavior(of, self.switches) for of in ("allreduce", "broadcast"))
        best: tuple[ItemSpread, ItemSpread] | None = None
        skipped, refused = [], None
        names = [self.algorithm] if self.algorithm else offered(topology, model, True, turning)
        for name in names:
            through = topology.links and topology.size > topology.hosts and name in (PATHS, TREES)
            one = name == TREES and not through
            sources = np.zeros(items, np.int64) if one else shares(topology, items)
            try:
                back = forth = spread(topology, arcs, model, sources, half, name, True, turning)
                if not topology.links or through:
                    way = None if through else name
                    forth = spread(topology, arcs, model, sources, 0, way, switches=spreading)
            except TooLarge as error:
                skipped.append(name)
                refused = error
                continue
            if best is None or back.steps + forth.steps < sum(way.steps for way in best):
                best = back, forth
            if back.steps <= half:
                break
        if best is None:
            assert refused is not None
            raise refused
        back, forth = _turned_round(machine, best[0]), best[1]
        later = forth.rows + np.array([back.steps, 0, 0, 0])
        rows = np.concatenate([back.rows, later])
        channels = np.concatenate([back.channels, forth.channels])
        return ItemSpread(back.algorithm, rows, channels, tuple(skipped)), len(back.rows)


def _combines(topology: Topology, table: Timetable, way: ItemSpread) -> Flags:
    """Return True for rows of a reduction whose receiver adds the message to its own value."""
    return (table.receiver < topology.hosts) | (way.algorithm not in (PATHS, TREES))


def shares(topology: Topology, items: int) -> Ints:
    """Return the processor that combines each item, as evenly as possible, shape (items,)."""
    return np.arange(items) * topology.hosts // items


def _turned_round(machine: Machine, way: ItemSpread) -> ItemSpread:
    """Return the reversed spread, in the opposite direction of every link."""
    step, sender, receiver, item = way.rows.T
    channels = way.channels.copy()
    if machine.topology.links:
        known = np.flatnonzero(way.channels >= 0)
        channels[known] = machine.topology.reverse_port(sender[known], way.channels[known])
    rows = np.stack([way.steps + 1 - step, receiver, sender, item], axis=1)[::-1]
    return ItemSpread(way.algorithm, np.ascontiguousarray(rows), channels[::-1].copy())


def _of_item(way: ItemSpread, back: int, item: int) -> tuple[ItemSpread, int]:
    """Return the rows of one item, without steps of other items alone.

    Also return the number of its rows in the first half.
    """
    kept = np.flatnonzero(way.rows[:, 3] == item)
    rows = way.rows[kept]
    rows[:, 0] = np.unique(rows[:, 0], return_inverse=True)[1] + 1
    rows[:, 3] = 0
    return replace(way, rows=rows, channels=way.channels[kept]), int((kept < back).sum())


def _table(
    machine: Machine, collective: str, way: ItemSpread, items: int, root: int | None = None
) -> Timetable:
    """Return a spread as a timetable."""
    more = {"chunks": items, "root": root, "ports": machine.model.name}
    return Timetable.of(collective, machine.topology, way.rows, way.channels, **more)
