"""Embedding of the BSN into the GBSN (section IV, Proposition 4.2).

The canonical embedding maps guest node x to host node x (docs/papers/gbsn, 5). The hosts have
maximal a_i, and therefore the most links that the proposition's GBSN(b|m) can have.
"""

from __future__ import annotations

from itertools import combinations, pairwise, permutations

import numpy as np

from mpinet import measure
from mpinet.base.arrays import Ints
from mpinet.claims import Measured, claim, points, section
from mpinet.claims.remembered import remembered
from mpinet.papers.gbsn.definition import Link
from mpinet.papers.gbsn.grids import (
    blocks,
    guest_of,
    hosts,
    largest_parts,
    name,
    powers,
    regular_hosts,
    vectors,
)
from mpinet.papers.gbsn.measured import links, ports
from mpinet.papers.measured import distances

HOSTS = powers(
    "N = 4, 8, 16, and 40 drawn block vectors of N = 32, k >= 2, a_i maximal, all b, a | b, "
    "a <= lg max m",
    2,
    sample=40,
)
"""GBSNs and BSNs with equal b and equal size."""


UNEQUAL = (
    "the blocks are not all of one size",
    lambda topology, **_: len(set(blocks(topology).m)) > 1,
)


claim_prop_4_2 = section(place="Prop. 4.2", grid=HOSTS, relation="<=", cause="embedding")


@claim_prop_4_2(
    "GBSN-P42-partial-existential",
    relation="exists",
    grid=points(
        "N = 8, b = 2, all m with a block of 3 or more",
        [{"topology": name(2, m, largest_parts(m))} for m in vectors(8) if max(m) > 2],
    ),
    fails_where=UNEQUAL,
)
def two_circles(topology: str) -> bool:
    """Return whether some half of the nodes and the other half are both circles of links."""
    others = range(1, 8)
    # Node 0 is in one of the two circles, so each partition is tried once.
    halves = [{0, *three} for three in combinations(others, 3)]
    found = links(topology)
    return any(
        is_on_circle(half, found) and is_on_circle(set(range(8)) - half, found) for half in halves
    )


def is_on_circle(nodes: set[int], found: frozenset[Link]) -> bool:
    """Return whether links connect four nodes to a circle."""
    first, *rest = sorted(nodes)
    ways = ((first, *order, first) for order in permutations(rest))
    return any(all((min(u, v), max(u, v)) in found for u, v in pairwise(way)) for way in ways)


@remembered(most=2)
def mappings(size: int) -> Ints:
    """Return all bijections of some nodes to as many nodes, the identity first."""
    return np.array(list(permutations(range(size))))


@claim_prop_4_2(
    "GBSN-P42-dilation",
    relation="exists",
    grid=points(
        "N = 4 and 8, k >= 2, a_i maximal, all b, a | b, a <= lg max m; all mappings",
        lambda: hosts([m for N in (4, 8) for m in vectors(N) if len(m) > 1]),
    ),
    reading="any mapping may be taken, and the largest blocks are on the path. The congestion is "
    "not judged, because it depends on the paths.",
    fails_where=UNEQUAL,
)
def dilation_of_some_mapping(topology: str, a: int) -> Measured:
    """Return whether a mapping keeps both bounds; the witness has each bound's own mappings."""
    of, images = blocks(topology), mappings(blocks(topology).size)
    guest, far = ports(guest_of(topology, a)), distances(topology)
    block = np.repeat(np.arange(len(of.m)), of.m)
    differing = np.bitwise_count(block[:, np.newaxis] ^ block).astype(int)
    # The proposition's c counts shifts by b bits. A link that changes fewer bits still needs one.
    sums = np.cumsum(sorted(of.m, reverse=True)) / 2
    kept = {}
    for kind, others in (("partial links", guest.partial), ("shift links", guest.shift)):
        nodes, columns = np.nonzero(others >= 0)
        ends = images[:, nodes], images[:, others[nodes, columns]]
        most = np.full(len(images), a)
        if kind == "shift links":
            c = np.maximum(1, -(-differing[ends] // of.b)).max(axis=1, initial=1)
            most = sums[c - 1]
        kept[kind] = far[ends].max(axis=1, initial=0) <= most
    both = kept["partial links"] & kept["shift links"]
    there = {f"mappings that fit {kind}": int(fit.sum()) for kind, fit in kept.items()}
    return Measured(bool(both.any()), there)


@remembered
def cost(topology: str, a: int) -> dict[str, int]:
    """Return dilation and congestion of the canonical embedding, a message per guest link."""
    found = measure.embedding_cost(guest_of(topology, a), topology)
    assert found.dilation is not None
    return {"dilation": found.dilation, "congestion": found.congestion}


embedding_in_equal_blocks = claim(
    "GBSN-P42-regular",
    claimed={"dilation": 1, "congestion": 1},
    grid=regular_hosts(),
    cost=lambda topology, a: 20.0,
    measured=cost,
)
