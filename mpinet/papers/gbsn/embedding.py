"""Embedding of the BSN into the GBSN (section IV, Proposition 4.2).

The canonical embedding maps guest node x to host node x (docs/papers/gbsn, 5). The hosts have
maximal a_i, and therefore the most links that the proposition's GBSN(b|m) can have.
"""

from __future__ import annotations

from itertools import combinations, pairwise, permutations

import numpy as np

from mpinet import measure
from mpinet.claims import Measured, claim, points, section
from mpinet.claims.remembered import remembered
from mpinet.networks.shortest import neighbor_table
from mpinet.papers.gbsn.definition import Link, shift_links
from mpinet.papers.gbsn.grids import (
    blocks,
    guest_of,
    largest_parts,
    name,
    powers,
    regular_hosts,
    vectors,
)
from mpinet.papers.gbsn.measured import first_ports, links, network, ports
from mpinet.papers.measured import distances

EMBEDDING = (
    "this refutes our embedding, which maps node x to node x; the proposition only states that an "
    "embedding exists."
)


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
    statement="the partial links of BSN(1,2) on 3 bits, two circles of four nodes, fit on links of "
    "every GBSN(2|m) of 8 nodes, a_i maximal",
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


dilation_of_partial_links = claim_prop_4_2(
    "GBSN-P42-dil-partial",
    statement="in the canonical embedding partial links of BSN(a,b) have dilation at most a",
    claimed=lambda topology, a: a,
    reading=EMBEDDING,
    measured=lambda topology, a: dilation(topology, ports(guest_of(topology, a)).partial),
    fails_where=UNEQUAL,
)


def path_of_shift_links(topology: str, a: int) -> float:
    """Return the proposition's bound for shift links: half the nodes of the c largest blocks."""
    of = blocks(topology)
    block = [number for number, size in enumerate(of.m) for _ in range(size)]
    hamming = [
        (block[x] ^ block[y]).bit_count() for x, y in shift_links(of.b, of.size.bit_length() - 1)
    ]
    # The proposition's c counts shifts by b bits. A link that changes fewer bits still needs one.
    c = max([1, *(-(-bits // of.b) for bits in hamming)])
    return sum(sorted(of.m, reverse=True)[:c]) / 2


dilation_of_shift_links = claim_prop_4_2(
    "GBSN-P42-dil-shift",
    statement="in the canonical embedding shift links have dilation at most m'_1/2 + .. + m'_c/2, "
    "the c = max(1, ceil(Ham/b)) largest blocks",
    claimed=path_of_shift_links,
    reading=EMBEDDING,
    measured=lambda topology, a: dilation(topology, ports(guest_of(topology, a)).shift),
)


def dilation(topology: str, others: np.ndarray) -> Measured:
    """Return the largest host distance between a node and a node of its row; -1 marks no node."""
    nodes, columns = np.nonzero(others >= 0)
    if not len(nodes):
        return Measured(0)
    ends = others[nodes, columns]
    far = distances(topology)[nodes, ends]
    at = int(far.argmax())
    return Measured(int(far[at]), {"link": [int(nodes[at]), int(ends[at])]})


@remembered
def congestion(topology: str, a: int) -> Measured:
    """Return the largest number of guest links over a host link.

    A guest link uses its host link if there is one, otherwise the route from its lower to its
    higher end.
    """
    table, first = neighbor_table(network(topology)), first_ports(topology)
    ends = np.array(sorted(links(guest_of(topology, a))))
    size, (nodes, goals) = len(table), ends.T.copy()
    # A guest link that is also a host link uses it directly; a longer route would only add
    # congestion.
    direct = (table[nodes] == goals[:, np.newaxis]).any(axis=1)
    counts = np.zeros(size * size, np.int64)
    for _ in range(size):
        going = np.flatnonzero(nodes != goals)
        if not len(going):
            break
        here, goal = nodes[going], goals[going]
        following = np.where(direct[going], goal, table[here, first[here, goal]])
        counts += np.bincount(
            np.minimum(here, following) * size + np.maximum(here, following), minlength=size * size
        )
        nodes[going] = following
    busiest = int(counts.argmax())
    return Measured(int(counts[busiest]), {"link": divmod(busiest, size)})


@remembered
def cost(topology: str, a: int) -> dict[str, int]:
    """Return dilation and congestion of the canonical embedding, a message per guest link."""
    found = measure.embedding_cost(guest_of(topology, a), topology)
    assert found.dilation is not None
    return {"dilation": found.dilation, "congestion": found.congestion}


CONGESTION = (
    claim_prop_4_2(
        "GBSN-P42-congestion",
        statement="in the canonical embedding, with the GBSN's routes, no host link carries more "
        "than 2^a - 2 + m'_1/2 + .. + m'_c/2 guest links",
        claimed=lambda topology, a: 2**a - 2 + path_of_shift_links(topology, a),
        reading=EMBEDDING,
        measured=congestion,
        fails_where=UNEQUAL,
    ),
    claim(
        "GBSN-P42-regular",
        place="IV",
        statement="where all blocks have 2^b nodes dilation and congestion are 1",
        claimed={"dilation": 1, "congestion": 1},
        grid=regular_hosts(),
        cost=lambda topology, a: 20.0,
        measured=cost,
    ),
)
