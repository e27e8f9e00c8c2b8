"""Upper bound on throughput, from the load of the busiest channel.

The busiest channel carries at most one flit per step. Suppose that every processor sends one flit
per step under the traffic pattern. The load of a channel is then the sum of the flits between all
pairs whose route uses the channel.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import inlined
from mpinet.machine.transport import world
from mpinet.measure.pairs import own_pairs
from mpinet.networks.routing import Routing
from mpinet.networks.shortest import neighbor_table
from mpinet.networks.topology import Topology
from mpinet.networks.walks import rules, walk
from mpinet.programs.patterns import Pattern
from mpinet.programs.shares import PAIRS_AT_ONCE, Share, shares

MOST_PAIRS = 2**24
"""Largest number of pairs whose routes are followed for a bound, which takes seconds."""


def saturation_bound(
    topology: Topology,
    routing: Routing,
    pattern: Pattern,
    seed: int = 0,
    one_ejects: bool = True,
    most: int = MOST_PAIRS,
) -> float | None:
    """Return the largest rate that the busiest channel allows, in flits per processor and step.

    The function is collective.

    Parameters
    ----------
    topology, routing
        The network, and the routing of its messages.
    pattern : Pattern
        Sources and targets of the messages.
    seed : int
        Seed of random patterns.
    one_ejects : bool
        True if a processor accepts one flit per step; its input then counts as a channel.
    most : int
        Largest number of pairs to follow.

    Returns
    -------
    float or None
        None for traces, for randomized routings without a drawn intermediate processor (`valiant`),
        and for more than `most` pairs. For an adaptive routing over shortest paths: the rate
        allowed by all channels together.

    Examples
    --------
    >>> import mpinet
    >>> from mpinet.programs.patterns import pattern_of
    >>> torus = mpinet.open("torus:8x8")
    >>> saturation_bound(torus, torus.routing(), pattern_of(torus, "uniform"))
    0.8
    >>> saturation_bound(torus, torus.routing("parity"), pattern_of(torus, "uniform"))
    1.0
    """
    if routing.adaptive and not routing.shortest:
        return None
    parts = shares(topology, pattern, seed)
    base = routing.base
    walked = sum(part.pairs for part in parts or ()) if base is None else topology.hosts**2
    if parts is None or walked > most:
        return None
    # A routing that depends on the message's number takes a different path each time. A single walk
    # then does not represent a pair.
    if routing.numbered if base is None else topology.waypoint is not None:
        return None
    # Loads are sums of whole numbers times a part's weight: fractions keep them exact.
    heights: dict[tuple[int, ...], Fraction] = {}
    if base is None:
        carried = [_carried(topology, routing, part) for part in parts]
    else:
        carried = [_scattered(topology, base, part) for part in parts]
    every = np.stack([loads for loads, _ in carried] or [np.zeros(1, np.int64)], axis=1)
    taken = np.stack([ends for _, ends in carried] or [np.zeros(1, np.int64)], axis=1)
    kinds = [taken] if one_ejects else []
    kinds += [] if routing.adaptive else [every]
    for row in np.unique(np.concatenate([taken[:0], *kinds]), axis=0).tolist():
        # Many channels carry the same flits from every part. Equal rows are weighted once, because
        # fractions are slow.
        heights[tuple(row)] = _weighed(row, parts)
    if routing.adaptive:
        # Nodes choose the channel of each message, but not the number of hops. At best all channels
        # carry the same load.
        channels = int((neighbor_table(topology) >= 0).sum())
        heights[()] = _weighed(every.sum(axis=0).tolist(), parts) / channels
    busiest = max(heights.values(), default=Fraction(0)) / (1 if base is None else topology.hosts)
    return float(1 / busiest) if busiest else None


def bound_needs(topology: Topology, pattern: Pattern, ranks: int) -> int:
    """Return an upper bound on the memory, in bytes, that the bound needs on a rank.

    Every rank creates blocks of pairs, holds a block while it creates the next, copies the ends of
    its share, and stores the flits. On several ranks the classes' pairs, computed before, may need
    more.
    """
    pairs = topology.hosts**2
    if pattern.rows is not None or pairs > MOST_PAIRS:
        return 0
    before = 16 if pairs > PAIRS_AT_ONCE else 0
    return min(pairs, PAIRS_AT_ONCE) * (before + 17 + max(24 // ranks, 17))


def _weighed(flits: list[int], parts: list[Share]) -> Fraction:
    """Return the total flits for one flit per pair of every part, weighted by part."""
    return sum((n * part.weight for n, part in zip(flits, parts, strict=True)), Fraction(0))


def _carried(topology: Topology, routing: Routing, part: Share) -> tuple[Ints, Ints]:
    """Return the flits over each channel (node, port) and to each processor, one flit per pair."""
    transport = world()
    loads = np.zeros(topology.size * topology.ports, np.int64)
    ends = np.zeros(topology.size, np.int64)
    for sources, targets in part.blocks():
        ways = own_pairs(transport, sources, targets)
        flits = np.ones(len(ways[0]), np.int64)
        add_loads(rules(topology, routing), *ways, ChannelLoads(flits, loads))
        ends += np.bincount(ways[1], minlength=topology.size)
    return transport.sum(_by_bus(topology, loads)), transport.sum(ends)


def _scattered(topology: Topology, base: Routing, part: Share) -> tuple[Ints, Ints]:
    """Return the same flits for paths over a drawn processor, summed over all N draws.

    For a message from s to t, N - 2 of the N draws lead over an intermediate processor. Two draws
    lead from s to t directly. In total, the path from a to b is used once for each message from a
    to another processor, and once for each message from another processor to b. This includes
    messages from a to b.
    """
    transport, hosts = world(), topology.hosts
    loads = np.zeros(topology.size * topology.ports, np.int64)
    leaving, coming = (np.zeros(topology.size, np.int64) for _ in range(2))
    ends = np.zeros(topology.size, np.int64)
    for sources, targets in part.blocks():
        others = sources != targets
        leaving += np.bincount(sources[others], minlength=topology.size)
        coming += np.bincount(targets[others], minlength=topology.size)
        ends += np.bincount(targets, minlength=topology.size)
    for sources, targets in Share(Fraction(1), hosts, own=False).blocks():
        ways = own_pairs(transport, sources, targets)
        flits = leaving[ways[0]] + coming[ways[1]]
        add_loads(rules(topology, base), *ways, ChannelLoads(flits, loads))
    return transport.sum(_by_bus(topology, loads)), hosts * ends


def _by_bus(topology: Topology, loads: Ints) -> Ints:
    """Return the loads of busses, summed over all members' ports; loads of links are unchanged."""
    if topology.links:
        return loads
    used = np.flatnonzero(loads)
    every = np.zeros(topology.busses or 0, np.int64)
    np.add.at(every, topology.channel(*np.divmod(used, topology.ports)), loads[used])
    return every


class ChannelLoads(NamedTuple):
    """Arguments and results of `add_loads`: flits of each pair, and flits over each channel."""

    flits: Ints
    loads: Ints


@inlined
def add_flits(visit, header, notes):
    """Add the flits of a message to the channel of its current hop."""
    notes.loads[visit.channel] += notes.flits[visit.pair]
    return False


add_loads = walk.bind("add_loads", notes=ChannelLoads, hop=add_flits)
