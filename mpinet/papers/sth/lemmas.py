"""Lemmas 1 to 4: size, degree, diameter and symmetry."""

from __future__ import annotations

from itertools import combinations
from math import ceil
from typing import Any

import numpy as np

from mpinet import measure
from mpinet.claims import Claim, Corrected, Measured, claim, section
from mpinet.networks.catalogue import open_topology
from mpinet.papers.grids import networks, of, up_to
from mpinet.papers.measured import degrees
from mpinet.papers.sth.formulas import sth_diameter, sth_diameter_by_kind, twisted_diameter
from mpinet.papers.sth.grids import KINDS, SMALL, VALID, beyond, factors, family, sth, sths
from mpinet.papers.sth.measured import common_degree, diameter, extent
from mpinet.papers.sweeps import reached
from mpinet.papers.witness import first_pair

NODES = claim(
    "STH-L1-nodes", claimed=of(lambda m, n: m * 2 ** (n + 3)), grid=SMALL, measured=reached
)

DEGREE = claim("STH-L2-degree", claimed=of(lambda m, n: n + 4), grid=SMALL, measured=common_degree)


LOOP_EXAMPLES = claim(
    "STH-L3-lst-examples",
    claimed={"LST(2)": 3, "LST(3)": 4, "LST(4)": 5},
    note="Corrected text: the third is printed LST(5), which has the diameter 6.",
    measured=lambda: {f"LST({m})": extent(f"lst:{m}").diameter for m in (2, 3, 4)},
)

LOOP_DIAMETER = claim(
    "STH-L3-lst-diameter",
    claimed=of(lambda m: m + 1),
    grid=family("lst", range(2, 129)).quick(up_to(512)),
    measured=diameter,
)


def cube_diameter_claim(kind: str, **known: Any) -> Claim:
    """Return the claim on the diameter of a kind of cube."""
    return claim(
        f"STH-L3-tq-diameter-{kind}",
        place="lemma 3",
        statement=f"the diameter of the cube of n dimensions ({KINDS[kind]}) is ceil((n+1)/2)",
        claimed=of(lambda n: ceil((n + 1) / 2)),
        grid=family(kind, VALID[kind]),
        measured=diameter,
        **known,
    )


CUBE_DIAMETERS = [
    cube_diameter_claim(
        "tq",
        cause="cube",
        fails_where=beyond(4),
        corrected=Corrected("STH-C-tq-diameter", claimed=of(twisted_diameter)),
    ),
    cube_diameter_claim("cq"),
    cube_diameter_claim("hkv"),
]


def sth_diameter_claim(kind: str, **known: Any) -> Claim:
    """Return the claim on the diameter of STH with a kind of cube."""
    return claim(
        f"STH-L3-sth-diameter-{kind}",
        place="lemma 3",
        statement=f"the diameter of STH(m,n) ({KINDS[kind]}) is m+1 + ceil((n+1)/2)",
        claimed=of(sth_diameter),
        grid=sths("m=2..8, n<=9", range(2, 9), [kind], range(10)).quick(up_to(1024)),
        measured=diameter,
        **known,
    )


STH_DIAMETERS = [
    sth_diameter_claim(
        "tq",
        cause="cube",
        fails_where=beyond(4),
        corrected=Corrected(
            "STH-C-sth-diameter-tq", claimed=of(lambda m, n: sth_diameter_by_kind("tq", m, n))
        ),
    ),
    sth_diameter_claim("cq"),
    sth_diameter_claim("hkv"),
]

SUM = claim(
    "STH-L3-sum",
    claimed=lambda topology: sum(extent(factor).diameter for factor in factors(topology)),
    grid=SMALL,
    measured=diameter,
)


@claim(
    "STH-L3-antipodal",
    relation="iff",
    grid=networks(
        "STH(2,3) and (3,4) by definition 8, (2,4) crossed, (2,5) HKV",
        (sth(2, 3), sth(2, 4, "cq"), sth(3, 4), sth(2, 5, "hkv")),
    ),
)
def antipodal(topology: str) -> Measured:
    """Return whether the farthest pairs of a product are the farthest pairs of both factors."""
    loop, cube = (measure.distance_matrix(factor) for factor in factors(topology))
    # The loop's part of a product's node number varies fastest, as in `kron`.
    both = np.kron(cube == cube.max(), loop == loop.max())
    matrix = measure.distance_matrix(topology)
    wrong = both != (matrix == matrix.max())
    return Measured(not wrong.any(), first_pair(wrong))


claim_lemma_4 = section(place="lemma 4", relation="all")


@claim_lemma_4("STH-L4-regular", grid=SMALL)
def regular(topology: str) -> Measured:
    """Return whether all degrees are equal; the witness counts the nodes by degree."""
    found = degrees(topology)
    return Measured(len(found) == 1, {"degrees": found})


def transitive(topology: str) -> Measured:
    """Search for automorphisms; the witness is two nodes not related by any automorphism."""
    found = measure.orbits(topology)
    if len(found) == 1:
        return Measured(True)
    return Measured(False, {"orbits": len(found), "source": found[0][0], "target": found[1][0]})


any_permutation = claim_lemma_4(
    "STH-L4-permutation",
    place="proof of lemma 4",
    grid=family("lst", range(2, 9)),
    measured=of(lambda m: measure.is_automorphism(f"lst:{m}", [1, 0, *range(2, 8 * m)])),
)

AT_MOST_SYMMETRIC = {"tq": 3, "cq": 4, "hkv": 3}
"""Largest dimension at which each kind of cube is vertex-symmetric."""

CUBES_TRANSITIVE = [
    claim_lemma_4(
        f"STH-L4-tq-transitive-{kind}",
        statement=f"the cube of n dimensions ({KINDS[kind]}) is vertex-symmetric",
        grid=family(kind, (n for n in VALID[kind] if n <= 6)),
        measured=transitive,
        cause="symmetry",
        fails_where=beyond(most),
        corrected=Corrected(
            f"STH-C-tq-transitive-{kind}",
            f"the cube of n dimensions ({KINDS[kind]}) is vertex-symmetric if and only if "
            f"n <= {most}",
            claimed=of(lambda n, most=most: n <= most),
            measured=measure.vertex_transitive,
        ),
    )
    for kind, most in AT_MOST_SYMMETRIC.items()
]


@claim_lemma_4("STH-L4-tq-cayley", grid=family("tq", (3, 4)), fails_where=beyond(3))
def cayley(topology: str) -> Measured:
    """Search for regular subgroups, with up to three generators, of the automorphism group."""
    size = open_topology(topology).size
    if not measure.vertex_transitive(topology):
        return transitive(topology)
    group = _closure([tuple(g) for g in measure.automorphism_group(topology).generators.tolist()])
    # In a regular group only the identity fixes a node, so only elements without fixed nodes can be
    # generators.
    moving = sorted(g for g in group if all(g[node] != node for node in range(size)))
    for count in (1, 2, 3):
        for chosen in combinations(moving, count):
            found = _closure(list(chosen))
            if len(found) == size and len({g[0] for g in found}) == size:
                return Measured(True, {"generators": chosen})
    return Measured(False, {"automorphisms": len(group)})


def _closure(generators: list[tuple[int, ...]]) -> set[tuple[int, ...]]:
    """Return the group generated by some permutations."""
    fresh = {tuple(range(len(generators[0])))}
    group = set(fresh)
    while fresh:
        fresh = {tuple(g[h[i]] for i in range(len(h))) for g in generators for h in fresh} - group
        group |= fresh
    return group


STH_TRANSITIVE = [
    claim_lemma_4(
        f"STH-L4-sth-transitive-{kind}",
        statement=f"STH(2,n) ({KINDS[kind]}), n <= 5, is vertex-symmetric",
        grid=networks("m=2, n<=5", [sth(2, n, kind) for n in VALID[kind] if n <= 5]),
        measured=transitive,
        cause="symmetry",
        fails_where=beyond(most),
        corrected=Corrected(
            f"STH-C-sth-transitive-{kind}",
            f"STH(2,n) ({KINDS[kind]}), n <= 5, is vertex-symmetric if and only if its cube "
            f"is: n <= {most}",
            claimed=of(lambda m, n, most=most: n <= most),
            measured=measure.vertex_transitive,
        ),
    )
    for kind, most in AT_MOST_SYMMETRIC.items()
]
