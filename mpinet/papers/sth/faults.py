"""Lemma 7: connectivity and fault diameters.

D_k is the largest diameter after the failure of any k-1 nodes (definition 6). Disjoint paths give
an upper bound for all removals, and the nodes of one removal give a lower bound.
"""

from __future__ import annotations

from math import inf
from typing import Any

from mpinet import measure
from mpinet.claims import Claim, Corrected, Measured, PointGrid, claim, section
from mpinet.claims.remembered import remembered
from mpinet.papers.grids import networks, numbers, of, up_to
from mpinet.papers.sth.grids import CUBES, KINDS, VALID, factors, family, sth


@remembered
def fault_diameter(topology: str, faults: int) -> Measured:
    """Return the largest diameter after this many faults, with the faults and the proof."""
    found = measure.fault_distance(topology, faults)
    where = {
        "removed": list(found.removed),
        "ends": list(found.ends),
        "pairs": found.pairs,
        "of them by disjoint paths": found.by_paths,
    }
    return Measured("disconnected" if found.value == inf else found.value, where)


def _sum_and_one(topology: str) -> int:
    """Return the bound of Xu, Xu and Hou: the sum of both factors' fault diameters, plus 1."""
    return 1 + sum(
        fault_diameter(factor, measure.connectivity(factor) - 1).value
        for factor in factors(topology)
    )


claim_lemma_7 = section(place="lemma 7")


@claim_lemma_7(
    "STH-L7-xu",
    relation="<=",
    claimed=_sum_and_one,
    grid=networks("STH(2,2), all removals", [sth(2, 2)]),
)
def xu(topology: str) -> Measured:
    """Return the diameter after the removal of k1 + k2 - 1 nodes of the product."""
    # Definition 6 counts k - 1 failures for D_k, and Xu's theorem concerns k1 + k2.
    faults = sum(measure.connectivity(factor) for factor in factors(topology)) - 1
    return fault_diameter(topology, faults)


def connectivity(topology: str) -> Measured:
    """Return the smallest number of nodes whose removal disconnects the network, with the nodes."""
    return Measured(measure.connectivity(topology), {"removed": measure.separating_nodes(topology)})


LOOP_CONNECTIVITY = claim_lemma_7(
    "STH-L7-lst-connectivity", claimed=4, grid=family("lst", range(2, 9)), measured=connectivity
)

LOOP_FAULTS = claim_lemma_7(
    "STH-L7-lst-fault-diameter",
    claimed=of(lambda m: m + 2),
    grid=family("lst", range(2, 17)),
    measured=lambda topology: fault_diameter(topology, 3),
    corrected=Corrected("STH-C-lst-fault-diameter", claimed=of(lambda m: m + 3)),
)

CUBE_CONNECTIVITY = claim_lemma_7(
    "STH-L7-tq-connectivity", claimed=of(lambda n: n), grid=CUBES, measured=connectivity
)


def cube_faults(kind: str, **known: Any) -> Claim:
    """Return the claim on the fault diameter of a kind of cube."""
    return claim(
        f"STH-L7-tq-fault-diameter-{kind}",
        place="lemma 7",
        statement=f"the (n-1)-fault diameter D_n of the cube ({KINDS[kind]}) is n-1",
        claimed=of(lambda n: n - 1),
        grid=family(kind, (n for n in VALID[kind] if 3 <= n <= 8)),
        measured=lambda topology: fault_diameter(topology, numbers(topology)[0] - 1),
        cause="faults",
        **known,
    )


def half_and_two(kind: str) -> Corrected:
    """Return the corrected fault diameter of crossed and HKV cubes."""
    return Corrected(
        f"STH-C-tq-fault-diameter-{kind}",
        f"the (n-1)-fault diameter D_n of the cube ({KINDS[kind]}) is ceil(n/2)+2, but 3 for n = 3",
        claimed=of(lambda n: 3 if n == 3 else (n + 1) // 2 + 2),
    )


CUBE_FAULTS = [
    cube_faults(
        "tq",
        corrected=Corrected(
            "STH-C-tq-fault-diameter-tq", claimed=of(lambda n: 3 if n == 3 else n + 1)
        ),
    ),
    cube_faults(
        "cq",
        fails_where=(
            "n < 6, where it is n, or n > 7, where it is less than n-1",
            of(lambda n: n < 6 or n > 7),
        ),
        corrected=half_and_two("cq"),
    ),
    cube_faults(
        "hkv",
        fails_where=("n < 7, where it is n", of(lambda n: n < 7)),
        corrected=half_and_two("hkv"),
    ),
]

STH_CONNECTIVITY = claim_lemma_7(
    "STH-L7-sth-connectivity",
    claimed=of(lambda m, n: n + 4),
    grid=networks(
        "the smallest, every kind",
        [
            *(sth(2, 1, "cq"), sth(2, 1, "hkv"), sth(2, 2), sth(2, 2, "cq"), sth(3, 2)),
            *(sth(2, 3), sth(2, 3, "cq"), sth(2, 3, "hkv"), sth(3, 3), sth(2, 4)),
        ],
    ).quick(up_to(128)),
    measured=connectivity,
)


def _few(kind: str) -> PointGrid:
    """Return the grid of small STH with one kind of cube."""
    listed = ((2, 2), (2, 3), (3, 2), (3, 3), (2, 4), (4, 3), (3, 4), (2, 5))
    sizes = [(m, n) for m, n in listed if n in VALID[kind]]
    text = ", ".join(f"({m},{n})" for m, n in sizes)
    return networks(text, [sth(m, n, kind) for m, n in sizes])


STH_FAULTS = [
    claim_lemma_7(
        f"STH-L7-sth-fault-diameter-{kind}",
        statement=f"the (n+3)-fault diameter D_(n+4) of STH(m,n) ({KINDS[kind]}) is at most m+n+2",
        relation="<=",
        claimed=of(lambda m, n: m + n + 2),
        grid=_few(kind),
        measured=lambda topology: fault_diameter(topology, numbers(topology)[1] + 3),
    )
    for kind in KINDS
]
