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
    claim_3_2(
        "GMN-D-case1a",
        statement="where source and target are in different halves and all hops of H beyond them, "
        "traversal 2 takes at most m edges besides the hops",
        measured=lambda topology: census(topology).turned,
    ),
    claim_3_2(
        "GMN-D-nonH",
        statement="an order of the hops exists in which every route has at most m edges besides "
        "the hops of H and the diagonal; an additional hop of type 0 is one of them",
        measured=lambda topology: best_orders(topology)[BESIDES],
        reading=f"{CHOSEN} An additional hop counts, as in the proof (line 169).",
        cause="ends-of-routes",
        fails_where=("N >= 112", lambda topology: size_of(topology) >= 112),
        corrected=Corrected(
            "GMN-C-nonH",
            "an order of the hops exists in which every route has at most m + 1 edges besides the "
            "hops of H and the diagonal",
            relation="<=",
            claimed=lambda topology: sector_length(topology) + 1,
        ),
    ),
    claim_3_2(
        "GMN-D-cedges",
        statement="an order of the hops exists in which every route has at most m edges of the "
        "ring",
        measured=lambda topology: best_orders(topology)[AROUND],
        reading=f"{CHOSEN} Only edges of the ring count, as in the sentence.",
        cause="ends-of-routes",
        fails_where=("m = 12 and N >= 1176", of(lambda m, N: m == 12 and N >= 1176)),
    ),
    claim_3_2(
        "GMN-D-traversal-1",
        statement="where source and target are in different halves, s + d < m and all hops of H "
        "are beyond d, traversal 1 takes at most m edges besides the hops",
        measured=lambda topology: traversal_1(topology),
        cause="ends-of-routes",
        fails_where=("m mod 4 is 3, m > 3", of(lambda m, N: m % 4 == 3 < m)),
    ),
    claim(
        "GMN-X-nonH-printed",
        place=BEYOND,
        statement="in the printed order every route has at most m + 2 edges besides the hops of H "
        "and the diagonal",
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
    statement="nodes of which both positions are in one half (the hop of type 0 is in both) are "
    "at most 5m//4 + 2 apart",
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
        "GMN-T1-D",
        statement="the diameter is at most m + B2",
        claimed=longest_stated,
        grid=ALL,
        cost=size_of,
        measured=floods.diameter,
    ),
    claim_th_1(
        "GMN-T1-Lhat",
        statement="m + B2 is at most 11m//8, and 1 more where m mod 8 is 2, 4 or 5",
        measures=False,
        claimed=lambda m: 11 * m // 8 + (m % 8 in (2, 4, 5)),
        grid=each_m(19999, 1999),
        measured=lambda m: m + bound_2(m),
    ),
    claim_th_1(
        "GMN-T1-mod",
        statement="the diameter is at most 11m//8, and 1 more where m mod 8 is 2, 4 or 5",
        claimed=of(lambda m, N: 11 * m // 8 + (m % 8 in (2, 4, 5))),
        grid=ALL,
        cost=size_of,
        measured=floods.diameter,
    ),
    claim(
        "GMN-T1-abs",
        statement="the diameter is at most 11m//8 + 1",
        relation="<=",
        claimed=lambda topology: 11 * sector_length(topology) // 8 + 1,
        grid=ALL,
        cost=size_of,
        measured=floods.diameter,
    ),
)


@claim(
    "GMN-I-log",
    statement="the diameter is O(log N): at most 11/4 log2 N, as 2m < 4 log2 N",
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
