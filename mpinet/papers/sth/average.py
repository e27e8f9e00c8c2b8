"""Table 2 and lemma 6: how many nodes are how far, and average distances.

The paper divides by N-1 for a node and by N(N-1) for a network: a node's distance to itself does
not count.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from mpinet import measure
from mpinet.claims import claim
from mpinet.papers.grids import of, up_to
from mpinet.papers.sth.grids import KINDS, SMALL, VALID, factors, family, sths
from mpinet.papers.sth.measured import average, nodes

ROUNDING = 1e-9
"""Far more than the rounding error of an average."""


def first_node(m: int) -> dict[str, object]:
    """A row of table 2: how far the nodes of LST(m) are from node 0."""
    profile = measure.distance_profile(f"lst:{m}", 0)
    return {
        "N": nodes(f"lst:{m}"),
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


@claim(
    "STH-T2-general",
    place="table 2",
    statement="from every node of LST(m) 4 nodes are at distance 1, 8 each at 2..m-1, 7 at m and 4 "
    "at m+1",
    claimed=of(lambda m: [[4, *[8] * (m - 2), 7, 4]]),
    grid=family("lst", range(2, 65)),
)
def profile(topology: str) -> list[list[int]]:
    """The different profiles that nodes have."""
    found = measure.distance_profiles(topology)[:, 1:]
    return np.unique(found, axis=0).tolist()


@claim(
    "STH-L6-lst-node-average",
    place="lemma 6",
    statement="the average distance from each node of LST(m) is m(4m+7)/(8m-1)",
    claimed=of(lambda m: dict.fromkeys(("least", "most"), m * (4 * m + 7) / (8 * m - 1))),
    tolerance=ROUNDING,
    grid=family("lst", range(2, 65)),
)
def node_average(topology: str) -> dict[str, float]:
    """The least and the largest average of a node."""
    matrix = measure.distance_matrix(topology)
    averages = matrix.sum(axis=1, dtype=np.int64) / (len(matrix) - 1)
    return {"least": float(averages.min()), "most": float(averages.max())}


LOOP_AVERAGE = claim(
    "STH-L6-lst-average",
    place="lemma 6",
    statement="the average distance of LST(m) is m(4m+7)/(8m-1)^2",
    claimed=of(lambda m: m * (4 * m + 7) / (8 * m - 1) ** 2),
    tolerance=ROUNDING,
    grid=family("lst", range(2, 65)),
    measured=average,
)


def cube_formula(n: int) -> float:
    """The paper's average distance of the cube."""
    return (n * 2 ** (n - 1) - 1) / (2**n - 1)


def sth_formula(m: int, n: int) -> float:
    """The paper's average distance of STH(m,n)."""
    return m * (4 * m + 7) / (8 * m - 1) ** 2 + cube_formula(n)


CUBE_AVERAGES = [
    claim(
        f"STH-L6-tq-average-{kind}",
        place="lemma 6",
        statement=f"the average distance of the cube ({KINDS[kind]}) is (n 2^(n-1) - 1)/(2^n - 1)",
        claimed=of(cube_formula),
        tolerance=ROUNDING,
        grid=family(kind, (n for n in (*VALID[kind], 10) if n >= 3 and (kind != "hkv" or n % 2))),
        measured=average,
    )
    for kind in KINDS
]

ADDITIVE = claim(
    "STH-L6-additive",
    place="lemma 6",
    statement="the average distance of the product is the sum of those of LST(m) and of the cube",
    claimed=lambda topology: sum(map(average, factors(topology))),
    tolerance=ROUNDING,
    grid=SMALL,
    measured=average,
)

STH_AVERAGES = [
    claim(
        f"STH-L6-sth-average-{kind}",
        place="lemma 6",
        statement=f"the average distance of STH(m,n) ({KINDS[kind]}) is m(4m+7)/(8m-1)^2 + "
        "(n 2^(n-1) - 1)/(2^n - 1)",
        claimed=of(sth_formula),
        tolerance=ROUNDING,
        grid=sths("m=2..8, n=3..8", range(2, 9), [kind], range(3, 9)).quick(up_to(1024)),
        measured=average,
    )
    for kind in KINDS
]
