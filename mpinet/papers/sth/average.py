"""Table 2 and lemma 6: numbers of nodes by distance, and average distances.

The paper divides by N-1 for a node and by N(N-1) for a network, because the distance of a node to
itself does not count.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from mpinet import measure
from mpinet.claims import Claim, Corrected, claim, section
from mpinet.papers.grids import of, up_to
from mpinet.papers.sth.grids import KINDS, SMALL, VALID, beyond, factors, family, sths
from mpinet.papers.sth.measured import average, extent
from mpinet.papers.sweeps import reached

ROUNDING = 1e-9
"""Tolerance far above the rounding error of an average."""


def first_node(m: int) -> dict[str, object]:
    """Return a row of table 2: the number of nodes of LST(m) at each distance from node 0."""
    profile = measure.distance_profile(f"lst:{m}", 0)
    return {
        "N": reached(f"lst:{m}"),
        "nodes at distance 1, 2, ..": ", ".join(map(str, profile[1:])),
        "sum": sum(d * count for d, count in enumerate(profile)),
    }


FIRST_NODES = [
    claim(
        f"STH-T2-m{m}",
        place="table 2",
        statement=f"from a node of LST({m}) {printed} nodes are at distance 1, 2, ..; their "
        f"distances make {total}",
        claimed={"N": 8 * m, "nodes at distance 1, 2, ..": printed, "sum": total},
        measured=partial(first_node, m),
    )
    for m, printed, total in ((2, "4, 7, 4", 30), (3, "4, 8, 7, 4", 57), (4, "4, 8, 8, 7, 4", 92))
]


SUMS = [
    claim(
        f"STH-T2-m{m}-sum",
        place="table 2",
        statement=f"the expanded sum of LST({m}) has {printed} summands 1, 2, .., which are the "
        "distances of the other nodes",
        claimed=printed,
        measured=lambda m=m: first_node(m)["nodes at distance 1, 2, .."],
        cause="sums",
    )
    for m, printed in ((2, "4, 8, 4"), (3, "4, 10, 8, 4"))
]


@claim(
    "STH-T2-general",
    claimed=of(lambda m: [[4, *[8] * (m - 2), 7, 4]]),
    grid=family("lst", range(2, 65)),
)
def profile(topology: str) -> list[list[int]]:
    """Return the different distance profiles of nodes."""
    found = measure.distance_profiles(topology)[:, 1:]
    return np.unique(found, axis=0).tolist()


claim_lemma_6 = section(place="lemma 6", tolerance=ROUNDING)


@claim_lemma_6(
    "STH-L6-lst-node-average",
    claimed=of(lambda m: dict.fromkeys(("least", "most"), m * (4 * m + 7) / (8 * m - 1))),
    grid=family("lst", range(2, 65)),
)
def node_average(topology: str) -> dict[str, float]:
    """Return the smallest and the largest average distance of a node."""
    matrix = measure.distance_matrix(topology)
    averages = matrix.sum(axis=1, dtype=np.int64) / (len(matrix) - 1)
    return {"least": float(averages.min()), "most": float(averages.max())}


LOOP_AVERAGE = claim_lemma_6(
    "STH-L6-lst-average",
    claimed=of(lambda m: m * (4 * m + 7) / (8 * m - 1) ** 2),
    grid=family("lst", range(2, 65)),
    measured=average,
    corrected=Corrected("STH-C-lst-average", claimed=of(lambda m: m * (4 * m + 7) / (8 * m - 1))),
)


def cube_formula(n: int) -> float:
    """Return the paper's average distance of the cube."""
    return (n * 2 ** (n - 1) - 1) / (2**n - 1)


def sth_formula(m: int, n: int) -> float:
    """Return the paper's average distance of STH(m,n)."""
    return m * (4 * m + 7) / (8 * m - 1) ** 2 + cube_formula(n)


def cube_distances(n: int) -> int:
    """Return the sum of the distances of all ordered pairs in definition 8's cube."""
    k = n - 2
    return (8 * k + 16) * 4**k - 4 * 3**k + 4


def sth_average(m: int, n: int) -> float:
    """Return the average distance of different nodes of STH(m,n), from both factors' means."""
    size = m * 2 ** (n + 3)
    mean = m * (4 * m + 7) / (8 * m) + cube_distances(n) / 4**n
    # The paper divides by N - 1, because a node's distance to itself does not count.
    return mean * size / (size - 1)


def cube_average_claim(kind: str, corrected: Corrected | None = None) -> Claim:
    """Return the claim on the average distance of a kind of cube."""
    return claim_lemma_6(
        f"STH-L6-tq-average-{kind}",
        statement=f"the average distance of the cube ({KINDS[kind]}) is (n 2^(n-1) - 1)/(2^n - 1)",
        claimed=of(cube_formula),
        grid=family(kind, (n for n in (*VALID[kind], 10) if n >= 3 and (kind != "hkv" or n % 2))),
        measured=average,
        cause="averages",
        fails_where=beyond(3),
        corrected=corrected,
    )


CUBE_AVERAGES = [
    cube_average_claim(
        "tq",
        Corrected(
            "STH-C-tq-average", claimed=of(lambda n: cube_distances(n) / (2**n * (2**n - 1)))
        ),
    ),
    cube_average_claim("cq"),
    cube_average_claim("hkv"),
]


def mean_with_itself(topology: str) -> float:
    """Return the mean distance over all ordered pairs, including each node with itself."""
    found = extent(topology)
    return found.total / found.nodes**2


ADDITIVE = claim_lemma_6(
    "STH-L6-additive",
    claimed=lambda topology: sum(map(average, factors(topology))),
    grid=SMALL,
    measured=average,
    corrected=Corrected(
        "STH-C-additive",
        claimed=lambda topology: sum(map(mean_with_itself, factors(topology))),
        measured=mean_with_itself,
    ),
)


def sth_average_claim(kind: str, corrected: Corrected | None = None) -> Claim:
    """Return the claim on the average distance of STH with a kind of cube."""
    return claim_lemma_6(
        f"STH-L6-sth-average-{kind}",
        statement=f"the average distance of STH(m,n) ({KINDS[kind]}) is m(4m+7)/(8m-1)^2 + "
        "(n 2^(n-1) - 1)/(2^n - 1)",
        claimed=of(sth_formula),
        grid=sths("m=2..8, n=3..8", range(2, 9), [kind], range(3, 9)).quick(up_to(1024)),
        measured=average,
        cause="averages",
        corrected=corrected,
    )


STH_AVERAGES = [
    sth_average_claim(
        "tq",
        Corrected("STH-C-sth-average-tq", claimed=of(sth_average)),
    ),
    sth_average_claim("cq"),
    sth_average_claim("hkv"),
]
