"""Comparison of G(m,N) with chordal rings and double loops (sections 1 and 7, Table 1)."""

from __future__ import annotations

from collections.abc import Iterable
from math import log2, sqrt
from typing import Any

import numpy as np

from mpinet.claims import Claim, Measured, claim, once, over, points
from mpinet.claims.remembered import remembered
from mpinet.measure.distance import FaultyFloods, diameter
from mpinet.measure.wiring import degrees, links
from mpinet.networks import open as open_topology
from mpinet.papers.gmn import floods
from mpinet.papers.gmn.grids import listed, name, size_of

UNBOUNDED = 2**31
"""Upper limit above any distance in hops."""


def distance_up_to(topology: str, alike: int, most: int) -> int:
    """Return the diameter, or `most` if the diameter is at least `most`.

    Parameters
    ----------
    topology : str
        A network of links.
    alike : int
        Floods start at the nodes 0..alike-1 only, if the translation by `alike` preserves links.
    most : int
        Number of steps after which floods stop.
    """
    network = open_topology(topology)
    # The translation is checked link by link. An unchecked symmetry would make the comparison
    # worthless.
    every = floods.looks_alike(network, alike)
    sources = np.arange(alike if every else network.size)
    reached = found = 0
    for wave in FaultyFloods(network).waves(sources):
        # `most` is the best diameter so far. Most chords are worse, so stopping here saves most of
        # the flood.
        if wave.distance > 0 and wave.distance >= most:
            return most
        reached += wave.total
        found = max(found, wave.distance)
    return found if reached == len(sources) * network.size else UNBOUNDED


def least(family: str, N: int, parameter: str, choices: Iterable[int], alike: int) -> Measured:
    """Return the least diameter of a family's networks of N nodes, with the first best choice."""
    best, chosen = UNBOUNDED, 0
    for choice in choices:
        found = distance_up_to(f"{family}:{N},{choice}", alike, best)
        if found < best:
            best, chosen = found, choice
    return Measured(best, {parameter: chosen})


@remembered
def best_chord(N: int) -> Measured:
    """Return the least diameter of all chordal rings of N nodes, with the chord."""
    return least("chordalring", N, "w", range(3, N // 2 + 1, 2), 2)


@remembered
def best_jump(N: int) -> Measured:
    """Return the least diameter of all double loops of N nodes, with the second jump."""
    return least("doubleloop", N, "s", range(2, (N - 1) // 2 + 1), 1)


@claim(
    "GMN-I-chsqrt",
    note="Our constant for O(sqrt N): 2; 1.07 is the largest measured.",
    relation="<=",
    claimed=2,
    grid=over("even N <= 400", N=range(6, 401, 2)).quick(lambda N: N <= 120),
    cost=lambda N: 200 * N,
)
def best_chordal_ring(N: int) -> Measured:
    """Return the least diameter of a chordal ring, in units of sqrt N."""
    found = best_chord(N)
    return Measured(found.value / sqrt(N), {"diameter": found.value} | found.where)


best_double_loop = claim(
    "GMN-I-dlbound",
    relation=">=",
    claimed=lambda N: (sqrt(2 * N - 1) - 1) / 2,
    grid=over("N <= 300, every s", N=range(5, 301)).quick(lambda N: N <= 100),
    cost=lambda N: 500 * N,
    measured=best_jump,
)


@claim(
    "GMN-I-superior",
    relation="all",
    grid=points("all G(m,N) with N <= 400", lambda: listed(3, 10, 400)).quick(
        lambda topology: size_of(topology) <= 256
    ),
    cost=lambda topology: 800 * size_of(topology),
    fails_where=("N <= 208", lambda topology: size_of(topology) <= 208),
)
def superior(topology: str) -> Measured:
    """Return whether G(m,N) has a smaller diameter than all chordal rings and double loops."""
    N, own = size_of(topology), floods.diameter(topology).value
    chordal, double = best_chord(N), best_jump(N)
    there = {"diameter": own, "chordal ring": chordal.value, **chordal.where}
    there |= {"double loop": double.value, **double.where}
    return Measured(own < min(chordal.value, double.value), there)


doubled = claim(
    "GMN-I-doubled",
    relation=">=",
    claimed=2,
    grid=over(family=("moebius", "debruijn", "ccc"), n=range(3, 16)),
    measured=lambda family, n: _nodes(f"{family}:{n + 1}") / _nodes(f"{family}:{n}"),
)


fixed_degrees = claim(
    "GMN-I-fixed-degree",
    relation="<=",
    claimed=lambda family, n: {"degree": 3 + (family == "debruijn"), "diameter / log2 N": 2},
    note="Our constant for O(log N): 2; 1.73 is the largest measured.",
    grid=over(family=("moebius", "debruijn", "ccc"), n=range(3, 11)),
    measured=lambda family, n: {
        "degree": max(degrees(f"{family}:{n}")),
        "diameter / log2 N": diameter(f"{family}:{n}") / log2(_nodes(f"{family}:{n}")),
    },
)


def _nodes(topology: str) -> int:
    return open_topology(topology).size


LEAST_CHORDAL = {96: 9, 256: 15, 640: 25, 1536: 38, 3584: 59}
LEAST_DOUBLE = {96: 7, 256: 11, 640: 18, 1536: 28, 3584: 42}
MOST_OWN = {96: 8, 256: 11, 640: 14, 1536: 17, 3584: 19}
"""Printed diameters of Table 1, by N."""

CHORDAL_LINKS = {96: 144, 256: 384, 640: 960, 1536: 2304, 3584: 5376}
DOUBLE_LINKS = {96: 192, 256: 512, 640: 1280, 1536: 3072, 3584: 7168}
OWN_LINKS = {96: 152, 256: 400, 640: 992, 1536: 2368, 3584: 5504}
"""Printed numbers of links of Table 1, by N."""

SECTORS = {96: 6, 256: 8, 640: 10, 1536: 12, 3584: 14}
"""Value of m for each N."""


def chordal_links(N: int) -> Measured:
    """Return the number of links of the chordal ring with chord 5."""
    return Measured(links(f"chordalring:{N},5"), {"w": 5})


def double_links(N: int) -> Measured:
    """Return the number of links of the double loop with second jump 2."""
    return Measured(links(f"doubleloop:{N},2"), {"s": 2})


def own_links(N: int) -> Measured:
    """Return the number of links of G(m,N)."""
    return Measured(links(name(SECTORS[N], N)))


def own_diameter(N: int) -> Measured:
    """Return the diameter of G(m,N)."""
    return floods.diameter(name(SECTORS[N], N))


COLUMNS: tuple[tuple[str, str, str, dict[int, int], Any, str], ...] = (
    ("ch-links", "chordal ring: links", "=", CHORDAL_LINKS, chordal_links, ""),
    ("ch-diam", "chordal ring: diameter", ">=", LEAST_CHORDAL, best_chord, "for every odd chord"),
    ("dl-links", "double loop: links", "=", DOUBLE_LINKS, double_links, ""),
    ("dl-diam", "double loop: diameter", ">=", LEAST_DOUBLE, best_jump, "for every s"),
    ("links", "G(m,N): links", "=", OWN_LINKS, own_links, ""),
    ("diam", "G(m,N): diameter", "<=", MOST_OWN, own_diameter, ""),
)
"""Columns of Table 1: ending of the ids, heading, relation, printed values, and measurement."""


def cell_claim(N: int, column: tuple[str, str, str, dict[int, int], Any, str]) -> Claim:
    """Return the claim of a cell of Table 1."""
    ending, heading, relation, printed, measure, what = column

    def cell() -> Measured:
        found = measure(N)
        return Measured({heading: found.value}, found.where)

    return claim(
        f"GMN-TB1-{N}-{ending}",
        place="Table 1",
        statement=f"N = {N}, {heading} {relation} {printed[N]} {what}".strip(),
        relation=relation,
        claimed={heading: printed[N]},
        grid=once(f"N = {N} {what}".strip()),
        # All chords are tried, with a flood for each; other columns only count links.
        cost=(lambda: N**2 * 1.5) if measure in (best_chord, best_jump) else None,
        measured=cell,
        cause="comparison" if measure is best_chord and N > 96 else "",
    )


CELLS = [cell_claim(N, column) for N in SECTORS for column in COLUMNS]
"""Claims of Table 1."""
