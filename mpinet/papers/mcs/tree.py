"""The complete binary tree (sections 10.1 to 10.6)."""

from __future__ import annotations

import networkx

from mpinet.claims import Corrected, Measured, claim, over, section
from mpinet.papers.mcs.congestion import least, unique_congestion, ways
from mpinet.papers.mcs.measured import (
    diameter,
    largest_switch,
    lengths_differ,
    lg,
    network,
    sizes,
    switch_sizes,
)

TREES = sizes(32)


@claim("MCS-tree-example", claimed={"from 1 to 3": 6, "most": 6})
def example() -> dict[str, int]:
    """Return the lengths of the path from input 1 to output 3 and of a shortest path."""
    (walk,) = ways("tree", 4)[1, 3]
    return {"from 1 to 3": len(walk) + 1, "most": diameter("tree", 4).value}


SIZES = (
    claim(
        "MCS-tree-diameter",
        claimed=lambda N: 2 * lg(N) + 2,
        grid=sizes(256),
        measured=lambda N: diameter("tree", N),
    ),
    claim("MCS-tree-1024", claimed=22, grid=over(N=[1024]), measured=lambda N: diameter("tree", N)),
    claim(
        "MCS-tree-switches",
        claimed=lambda N: 2 * N - 1,
        grid=sizes(256),
        measured=lambda N: network("tree", N).switches,
    ),
    claim(
        "MCS-tree-switch-size",
        claimed=(3, 3),
        grid=sizes(64),
        measured=lambda N: largest_switch("tree", N),
        reading="The table gives the largest switch of each network.",
        fails_where=("N = 2", lambda N: N == 2),
        corrected=Corrected("MCS-tree-switch-size-4", grid=over(N=[4, 8, 16, 32, 64])),
    ),
)


@claim(
    "MCS-tree-levels",
    claimed=lambda N: tuple(2**level for level in range(lg(N) + 1)),
    grid=sizes(64),
)
def levels(N: int) -> tuple[int, ...]:
    """Return the number of switches at each distance from the root."""
    graph = networkx.Graph(network("tree", N).arcs)
    # Levels are measured by distance from the root, because numbers of switches would only repeat
    # the wiring.
    far = list(networkx.single_source_shortest_path_length(graph, 0).values())
    return tuple(far.count(level) for level in range(max(far) + 1))


@claim(
    "MCS-tree-most-3x3",
    relation=">",
    claimed=0.5,
    grid=sizes(64),
    corrected=Corrected(
        "MCS-tree-share-3x3", claimed=lambda N: (N - 2) / (2 * N - 1), relation="="
    ),
)
def share_of_3x3(N: int) -> float:
    """Return the fraction of 3x3 switches, by counting the wires of each switch."""
    return switch_sizes("tree", N)[3, 3] / network("tree", N).switches


@claim("MCS-tree-unique", place="10.2", relation="all", grid=TREES)
def unique(N: int) -> bool:
    """Return whether paths are unique, by listing all paths."""
    return all(len(walks) == 1 for walks in ways("tree", N).values())


claim_10_6 = section(place="10.6", grid=TREES)

CONGESTION = (
    claim_10_6(
        "MCS-tree-congestion", claimed=lambda N: N, measured=lambda N: unique_congestion("tree", N)
    ),
    claim_10_6(
        "MCS-tree-reversal",
        claimed=lambda N: N,
        measured=lambda N: sum(0 in ways("tree", N)[i, N - 1 - i][0] for i in range(N)),
    ),
    claim_10_6(
        "MCS-tree-identity", claimed=1, measured=lambda N: least(ways("tree", N), tuple(range(N)))
    ),
    claim(
        "MCS-tree-latency",
        relation="all",
        grid=TREES,
        measured=lambda N: not lengths_differ("tree", N),
    ),
)


@claim_10_6("MCS-tree-root-fails", claimed=lambda N: (N - 1, N - 1), grid=sizes(64))
def without_root(N: int) -> Measured:
    """Return the sizes of the pieces after removing the root."""
    graph = networkx.Graph(network("tree", N).arcs)
    graph.remove_node(0)
    pieces = sorted(map(len, networkx.connected_components(graph)))
    return Measured(tuple(pieces), {"switch": 0})
