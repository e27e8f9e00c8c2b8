"""Textbooks' collectives on a network, in steps and rounds: how far, and over which busy link.

An exchange of an algorithm takes as many steps as its farthest message has hops, and as many rounds
as its busiest link carries blocks, parallel links sharing them.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import pairwise, zip_longest
from typing import NamedTuple

import numpy as np

from mpinet.networks.adjacency import link_counts, parallel_links
from mpinet.networks.graph import StoredGraph
from mpinet.networks.routing import Routing, path
from mpinet.networks.topology import Topology
from mpinet.programs.messages.pattern import TransferRounds


class PatternCost(NamedTuple):
    """Steps and rounds of a pattern."""

    steps: int
    """Sum of the most hops in each exchange."""
    rounds: int
    """Sum of the blocks on the busiest link in each exchange."""
    exchanges: int
    """Number of exchanges."""
    most_hops: int
    """Hops of the farthest message."""
    link: tuple[int, int]
    """Ends of the link that carries most blocks over all exchanges."""
    carried: int
    """Blocks on that link, or on each of its parallel links."""


def joined(topology: Topology) -> tuple[Topology, tuple[int, ...]]:
    """Return the network with one thick link in place of parallel ones, and its classes' widths.

    A network without parallel links is returned as it is.
    """
    counts = {(u, v): count for (u, v), count in link_counts(topology).items() if u < v}
    widths = tuple(sorted(set(counts.values())))
    if max(widths, default=1) == 1:
        return topology, (1,)
    kinds = [widths.index(count) for count in counts.values()]
    graph = StoredGraph(topology.name, range(topology.size), counts, kinds, topology.hosts)
    return graph, widths


def counted(pattern: TransferRounds, topology: Topology, routing: Routing) -> PatternCost:
    """Count the steps and rounds of a pattern whose processors are the network's.

    Parameters
    ----------
    pattern : TransferRounds
        What is sent.
    topology, routing : Topology, Routing
        How it goes; parallel links share what goes over the first of them.
    """
    parallel = parallel_links(topology)

    @cache
    def way(source: int, target: int) -> list[int]:
        return path(topology, routing, source, target)[0]

    steps = rounds = most_hops = 0
    total = Counter[tuple[int, int]]()
    exchanges = list(zip_longest(*pattern.streams))
    for together in exchanges:
        hops, loads = 0, Counter[tuple[int, int]]()
        for each in filter(None, together):
            widths = np.bincount(each.owners, each.width, len(each.senders)).astype(np.int64)
            columns = (each.senders, each.receivers, widths)
            rows = zip(*(column.tolist() for column in columns), strict=True)
            for sender, receiver, blocks in rows:
                nodes = way(sender, receiver)
                hops = max(hops, len(nodes) - 1)
                for link in pairwise(nodes):
                    loads[link] += blocks
        shares = {link: -(-load // parallel.get(link, 1)) for link, load in loads.items()}
        total.update(shares)
        steps, most_hops = steps + hops, max(most_hops, hops)
        rounds += max(shares.values(), default=0)
    link = min(total, key=lambda link: (-total[link], link), default=(0, 0))
    return PatternCost(steps, rounds, len(exchanges), most_hops, link, total[link])
