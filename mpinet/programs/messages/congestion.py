"""Cost of textbook collectives on a network, in steps (longest path) and rounds (busiest link).

An exchange of an algorithm takes as many steps as its farthest message has hops. It takes as many
rounds as its busiest link carries blocks; parallel links share the blocks.
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
    """Sum over all exchanges of the largest number of hops."""
    rounds: int
    """Sum over all exchanges of the blocks on the busiest link."""
    exchanges: int
    """Number of exchanges."""
    most_hops: int
    """Number of hops of the farthest message."""
    link: tuple[int, int]
    """Ends of the link that carries most blocks over all exchanges."""
    carried: int
    """Number of blocks on this link, or on each of its parallel links."""


def joined(topology: Topology) -> tuple[Topology, tuple[int, ...]]:
    """Return the network with parallel links joined, and the number of links per joined class.

    A network without parallel links is returned unchanged.
    """
    counts = {(u, v): count for (u, v), count in link_counts(topology).items() if u < v}
    widths = tuple(sorted(set(counts.values())))
    if max(widths, default=1) == 1:
        return topology, (1,)
    kinds = [widths.index(count) for count in counts.values()]
    graph = StoredGraph(topology.name, range(topology.size), counts, kinds, topology.hosts)
    return graph, widths


def counted(pattern: TransferRounds, topology: Topology, routing: Routing) -> PatternCost:
    """Return the steps and rounds of a pattern on the network's processors.

    Parameters
    ----------
    pattern : TransferRounds
        The transfers.
    topology, routing : Topology, Routing
        Network and routing; parallel links share the load of the first of them.
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
