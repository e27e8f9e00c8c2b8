"""The diameter (section 3.2, Theorem 1). Other modules compare it as in section 1."""

from __future__ import annotations

from math import log2

import numpy as np

from mpinet.claims import BEYOND, Corrected, Measured, claim, points, section
from mpinet.papers.gmn import floods
from mpinet.papers.gmn.census import census
from mpinet.papers.gmn.digits import bound_2
from mpinet.papers.gmn.grids import ALL, MID, each_m, is_small, listed, parameters, size_of
from mpinet.papers.gmn.orders import AROUND, BESIDES, best_orders
from mpinet.papers.gmn.routing import CHOSEN, PRINTED_ORDER, cost_of_pairs, longest_stated
from mpinet.papers.gmn.structure import hop_types, position_of
from mpinet.papers.grids import of
from mpinet.papers.witness import farthest


def sector_length(topology: str) -> int:
    """Return the m of a topology string."""
    return parameters(topology)[0]


def traversal_1(topology: str) -> Measured:
    """Return the most edges of traversal 1, by steps along the ring between the hops' nodes."""
    m = sector_length(topology)
    middle, last = position_of(0, topology), max(p for p, _ in hop_types(topology, 0))
    found = {
        (s, d): (s - (middle - m)) + 1 + (d - middle)
        for s in range(middle + 1)
        for d in range(middle, last)
        if s + d < m
    }
    pair = max(found, key=lambda pair: found[pair], default=(0, 0))
    return Measured(found.get(pair, 0), {"s": pair[0], "d": pair[1]})


claim_3_2 = section(place="3.2", grid=MID, cost=cost_of_pairs, relation="<=", claimed=sector_length)

EDGES_BESIDE_HOPS = (
    claim_3_2("GMN-D-case1a", measured=lambda topology: census(topology).turned),
    claim_3_2(
        "GMN-D-nonH",
        measured=lambda topology: best_orders(topology)[BESIDES],
        reading=f"{CHOSEN} An additional hop counts, as in the proof (line 169).",
        fails_where=("N >= 112", lambda topology: size_of(topology) >= 112),
        corrected=Corrected(
            "GMN-C-nonH", relation="<=", claimed=lambda topology: sector_length(topology) + 1
        ),
    ),
    claim_3_2(
        "GMN-D-cedges",
        measured=lambda topology: best_orders(topology)[AROUND],
        reading=f"{CHOSEN} Only edges of the ring count, as in the sentence.",
        fails_where=("m = 12 and N >= 1176", of(lambda m, N: m == 12 and N >= 1176)),
    ),
    claim_3_2(
        "GMN-D-traversal-1",
        measured=lambda topology: traversal_1(topology),
        fails_where=("m mod 4 is 3, m > 3", of(lambda m, N: m % 4 == 3 < m)),
    ),
    claim(
        "GMN-X-nonH-printed",
        place=BEYOND,
        relation="<=",
        claimed=lambda topology: sector_length(topology) + 2,
        grid=MID,
        cost=cost_of_pairs,
        measured=lambda topology: census(topology).walked,
        reading=PRINTED_ORDER,
    ),
)


@claim(
    "GMN-D-case2",
    relation="<=",
    claimed=lambda topology: 5 * parameters(topology)[0] // 4 + 2,
    grid=points("all m <= 14", lambda: listed(3, 14)).quick(is_small),
    cost=size_of,
)
def farthest_in_one_half(topology: str) -> Measured:
    """Return the largest distance within a half of a sector, with the first pair."""
    m, _ = parameters(topology)
    found = floods.sector_distances(topology)
    border = position_of(0, topology)
    first, last = np.arange(len(found))[:, np.newaxis] % m, np.arange(found.shape[1]) % m
    # The node of type 0 belongs to both halves, as in the paper's remark.
    lower = (first <= border) & (last <= border)
    upper = (first >= border) & (last >= border)
    return farthest(np.where(lower | upper, found, -1))


claim_th_1 = section(place="Th. 1", relation="<=")

THEOREM_1 = (
    claim_th_1(
        "GMN-T1-D", claimed=longest_stated, grid=ALL, cost=size_of, measured=floods.diameter
    ),
    claim_th_1(
        "GMN-T1-Lhat",
        measures=False,
        claimed=lambda m: 11 * m // 8 + (m % 8 in (2, 4, 5)),
        grid=each_m(19999, 1999),
        measured=lambda m: m + bound_2(m),
    ),
    claim_th_1(
        "GMN-T1-mod",
        claimed=of(lambda m, N: 11 * m // 8 + (m % 8 in (2, 4, 5))),
        grid=ALL,
        cost=size_of,
        measured=floods.diameter,
    ),
    claim(
        "GMN-T1-abs",
        relation="<=",
        claimed=lambda topology: 11 * sector_length(topology) // 8 + 1,
        grid=ALL,
        cost=size_of,
        measured=floods.diameter,
    ),
)


@claim(
    "GMN-I-log",
    note="Our constant for O(log N): 11/4; 1.67 is the largest measured.",
    relation="<=",
    claimed=2.75,
    grid=ALL,
    cost=size_of,
)
def diameter_by_logarithm(topology: str) -> Measured:
    """Return the diameter, found by floods, divided by log2 N."""
    found = floods.diameter(topology)
    return Measured(found.value / log2(size_of(topology)), {"diameter": found.value})
