"""The busiest channel's load if every processor sends one flit a step: a bound on throughput.

No network accepts more than one flit a step for its busiest channel. The load of a channel is the
sum, over the pairs whose route passes it, of the flits that the pattern sends between them.
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
"""Pairs whose routes are followed for a bound: seconds."""


def saturation_bound(
    topology: Topology,
    routing: Routing,
    pattern: Pattern,
    seed: int = 0,
    one_ejects: bool = True,
    most: int = MOST_PAIRS,
) -> float | None:
    """The most flits of a processor a step that the busiest channel allows (collective).

    Parameters
    ----------
    topology, routing
        The network, and how messages find their way.
    pattern : Pattern
        Who sends to whom.
    seed : int
        For patterns that are drawn.
    one_ejects : bool
        Whether a processor takes one flit a step: then what it takes is a channel, too.
    most : int
        Pairs that are followed.

    Returns
    -------
    float or None
        None for traces, for routings that draw other than by a drawn processor (`valiant`), and
        where there are more pairs than that. Of an adaptive routing over shortest paths, what all
        channels together allow.

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
    # A routing that draws by the message's number takes another way each time. No single walk then
    # stands for a pair.
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
        # Many channels carry the same flits from every part. Equal rows are weighed once, since
        # fractions are slow.
        heights[tuple(row)] = _weighed(row, parts)
    if routing.adaptive:
        # Nodes choose who carries what, but not how many hops there are: at best all carry as much.
        channels = int((neighbor_table(topology) >= 0).sum())
        heights[()] = _weighed(every.sum(axis=0).tolist(), parts) / channels
    busiest = max(heights.values(), default=Fraction(0)) / (1 if base is None else topology.hosts)
    return float(1 / busiest) if busiest else None


def bound_needs(topology: Topology, pattern: Pattern, ranks: int) -> int:
    """Return the bytes of a rank that looks for the bound, at most.

    Every rank makes blocks of pairs, holds one while it makes the next, copies the ends of its
    share, and writes down the flits; on several ranks the classes' pairs before that take more.
    """
    pairs = topology.hosts**2
    if pattern.rows is not None or pairs > MOST_PAIRS:
        return 0
    before = 16 if pairs > PAIRS_AT_ONCE else 0
    return min(pairs, PAIRS_AT_ONCE) * (before + 17 + max(24 // ranks, 17))


def _weighed(flits: list[int], parts: list[Share]) -> Fraction:
    """Flits if each pair of every part sends one, each part by its weight."""
    return sum((n * part.weight for n, part in zip(flits, parts, strict=True)), Fraction(0))


def _carried(topology: Topology, routing: Routing, part: Share) -> tuple[Ints, Ints]:
    """Flits over every channel (node, port), and to every processor, if each pair sends one."""
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
    """The same by drawn processors, N times as many, as all of N draws were made once.

    Of a message from s to t, N - 2 of the N draws lead from s to another processor m and from m
    to t, the two others from s to t directly. All in all the way from a to b is taken as often as
    messages leave a for others, and others' come to b: what is sent from a to b is no exception.
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
    """The loads of busses, on which all members' ports share; those of links as they are."""
    if topology.links:
        return loads
    used = np.flatnonzero(loads)
    every = np.zeros(topology.busses or 0, np.int64)
    np.add.at(every, topology.channel(*np.divmod(used, topology.ports)), loads[used])
    return every


class ChannelLoads(NamedTuple):
    """Arguments and results of `add_loads`: flits of each pair, and over each channel."""

    flits: Ints
    loads: Ints


@inlined
def add_flits(visit, header, notes):
    """Add the flits of a message to the channel that it takes."""
    notes.loads[visit.channel] += notes.flits[visit.pair]
    return False


add_loads = walk.bind("add_loads", notes=ChannelLoads, hop=add_flits)
