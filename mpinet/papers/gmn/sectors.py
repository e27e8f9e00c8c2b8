"""Hops of a sector, and the graph of sectors (section 2 and its remark)."""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.claims import Corrected, Measured, OutOfReach, over, points, section
from mpinet.claims.remembered import remembered
from mpinet.measure.wiring import degrees, edges
from mpinet.papers.gmn.grids import (
    ALL,
    HALF_ROUND,
    WIDEST_MADE,
    jumps_half,
    largest_size,
    name,
    parameters,
    sectors_of,
    size_of,
)
from mpinet.papers.gmn.structure import half_of_jumps, hop_types

Links = Ints
"""Links as integers: MOST_SECTORS u + v for u < v, ascending."""

MOST_SECTORS = 1 << 20
"""Limit above the number of sectors of any network that is compared as a whole."""

EACH_M = points(
    "m < 200, the largest N",
    lambda: [{"topology": name(m, largest_size(m))} for m in range(3, 200)],
)


def some_sectors(topology: str) -> list[int]:
    """Return the sectors to be tested: the first two, one in the middle, and the last."""
    m, N = parameters(topology)
    if m > WIDEST_MADE:
        raise OutOfReach(f"the ports of G({m},{N}) have numbers of more than 64 bits")
    sectors = N // m
    # Wraparound and the diagonal affect the ends and the middle. Sectors between them are
    # translations of the first.
    return sorted({0, 1, sectors // 2 - 1, sectors - 1})


def counted_types(topology: str) -> dict[str, Any]:
    """Return the hops of a sector with m nodes as counted by the paper."""
    m, _ = parameters(topology)
    alternate, types = list(range(1, 2 * (m // 2), 2)), list(range(m // 2))
    return {"hop nodes": m // 2, "positions": alternate, "types": types, "largest": m // 2 - 1}


claim_2 = section(place="2", grid=EACH_M)


@claim_2("GMN-S-hopnodes", claimed=counted_types)
def hop_nodes(topology: str) -> Measured | dict[str, Any]:
    """Return the hop nodes of the first sector unlike the others, or of all sectors."""
    first: dict[str, Any] = {}
    for sector in some_sectors(topology):
        found = hop_types(topology, sector)
        positions, types = [p for p, _ in found], sorted(t for _, t in found)
        seen = {"hop nodes": len(found), "positions": positions, "types": types}
        seen["largest"] = max(types)
        first = first or seen
        if seen != first:
            return Measured(seen, {"sector": sector})
    return first


@claim_2("GMN-S-halves", relation="all")
def halves(topology: str) -> Measured | bool:
    """Return whether `some_sectors` have the stated halves, with the first that does not."""
    for sector in some_sectors(topology):
        found = half_of_jumps(topology, sector)
        if found is not True:
            return found
    return True


@remembered
def coalesced(topology: str) -> Links:
    """Return the links between different sectors."""
    m, _ = parameters(topology)
    pairs = np.sort(edges(topology) // m, axis=1)
    return np.unique(keys(pairs[pairs[:, 0] != pairs[:, 1]]))


def links_of(topology: str) -> Links:
    """Return the links of a network."""
    return np.unique(keys(edges(topology)))


def keys(pairs: Ints) -> Links:
    """Return an integer for each pair (u, v) of nodes."""
    # With one integer per pair, sets of links are compared as sorted arrays instead of Python sets.
    return pairs @ np.array([MOST_SECTORS, 1])


def paper_circulant(topology: str) -> str:
    """Return the circulant of N/m nodes with the jumps 1, 2, .., 2^(floor(log2(N/m)) - 1)."""
    sectors = sectors_of(topology)
    return f"circulant:{sectors},jumps=" + "-".join(
        str(2**i) for i in range(sectors.bit_length() - 1)
    )


def missing(topology: str, part: str) -> Measured | bool:
    """Return whether the graph of sectors has all links of another network."""
    lacking = np.setdiff1d(links_of(part), coalesced(topology))
    if not len(lacking):
        return True
    u, v = divmod(int(lacking[0]), MOST_SECTORS)
    return Measured(False, {"circulant": part, "missing link": f"{u}-{v}"})


def has_jumps_beyond(topology: str) -> bool:
    """Return whether the circulant has a jump made neither by a hop nor by the ring."""
    m, sectors = parameters(topology)[0], sectors_of(topology)
    return sectors > 2 ** (m // 2) and sectors.bit_count() > 2


claim_2_remark = section(place="2 remark", grid=ALL)

GRAPH_OF_SECTORS = (
    claim_2_remark(
        "GMN-S-super",
        relation="superset",
        cost=size_of,
        measured=lambda topology: missing(topology, paper_circulant(topology)),
    ),
    claim_2_remark(
        "GMN-S-super-rc",
        relation="superset",
        cost=size_of,
        measured=lambda topology: missing(topology, f"rcirculant:{sectors_of(topology)},2"),
        fails_where=(
            "N/m is larger than 2^floor(m/2), and no power of 2 nor the sum of two",
            has_jumps_beyond,
        ),
    ),
    claim_2_remark(
        "GMN-S-super-eq",
        claimed=lambda topology: size_of(topology) == largest_size(parameters(topology)[0]),
        cost=size_of,
        measured=lambda topology: np.array_equal(
            links_of(paper_circulant(topology)), coalesced(topology)
        ),
        fails_where=HALF_ROUND,
        corrected=Corrected(
            "GMN-C-super-eq",
            claimed=lambda topology: (
                size_of(topology) == largest_size(parameters(topology)[0]) or jumps_half(topology)
            ),
        ),
    ),
    claim_2_remark(
        "GMN-S-rcdeg",
        tolerance=1,
        claimed=lambda n: n,
        grid=over(n=range(2, 15)),
        measured=lambda n: max(degrees(f"rcirculant:{2**n},2")),
        fails_where=("n > 2", lambda n: n > 2),
        corrected=Corrected("GMN-C-rcdeg", claimed=lambda n: 2 * n - 1, tolerance=0),
    ),
)
