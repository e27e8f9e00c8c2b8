"""Lemma 7: connectivity and fault diameters.

D_k is the largest diameter that is left after any k-1 nodes have failed (definition 6).
"""

from __future__ import annotations

from math import comb, inf
from typing import Any

import numpy as np

from mpinet import measure
from mpinet.arrays import Ints
from mpinet.claims import Grid, Measured, claim
from mpinet.claims.remembered import remembered
from mpinet.measure.faults import Tries, subsets
from mpinet.measure.wiring import as_topology
from mpinet.networks.shortest import neighbor_table
from mpinet.papers.grids import networks, numbers, of, up_to
from mpinet.papers.sth.grids import CUBES, KINDS, VALID, factors, family, sth

MOST_TRIED = 10**6
"""Removals up to which all are tried."""

DRAWN = 4000
"""Removals that are drawn where not all are tried, besides those round a node."""


@remembered
def fault_diameter(topology: str, faults: int) -> Measured:
    """Largest diameter after so many nodes have failed, and which have.

    In a vertex-symmetric network (checked) node 0 may be taken for one of them. Where there are
    still too many removals, all but one neighbour of a node go, and others that are drawn.
    """
    network = as_topology(topology)
    fixed = int(faults > 0 and measure.vertex_transitive(network))
    if comb(network.size - fixed, faults - fixed) <= MOST_TRIED:
        return _worst_of_all(topology, faults, fixed)
    around = _round_nodes(neighbor_table(network), faults)
    drawn = measure.fault_diameter(network, faults, DRAWN, seed=0)
    found = _worst(network.size, Tries(network), around)
    if drawn.value > found[0]:
        found = drawn.value, drawn.removed
    return _measured(found, f"{len(around)} removals round a node and {drawn.tested} drawn ones")


def _worst_of_all(topology: str, faults: int, fixed: int) -> Measured:
    """Try all removals, with node 0 among them if one is fixed."""
    network = as_topology(topology)
    tries = Tries(network)
    count = comb(network.size - fixed, faults - fixed)
    found: tuple[float, Any] = (-1, ())
    for begin in range(0, count, tries.at_once):
        some = min(tries.at_once, count - begin)
        removals = subsets(network.size - fixed, faults - fixed, begin, some) + fixed
        removals = np.hstack([np.zeros((some, fixed), np.int64), removals])
        worst = _worst(network.size, tries, removals)
        if worst[0] > found[0]:
            found = worst
    return _measured(found, f"all {count} removals" + " with node 0" * fixed)


def _worst(size: int, tries: Tries, removals: Ints) -> tuple[float, Any]:
    """The largest diameter and the first removal that leaves it."""
    found: tuple[float, Any] = (-1, ())
    for begin in range(0, len(removals), tries.at_once):
        some = removals[begin : begin + tries.at_once]
        diameters = tries.diameters(some)
        at = int(diameters.argmax())
        value = inf if diameters[at] == size else int(diameters[at])
        if value > found[0]:
            found = value, some[at].tolist()
    return found


def _round_nodes(table: Ints, faults: int) -> Ints:
    """Removals of so many of a node's neighbours: all but a few of them."""
    places = subsets(table.shape[1], faults, 0, comb(table.shape[1], faults))
    return np.sort(table[:, places].reshape(-1, faults), axis=1)


def _measured(found: tuple[float, Any], tried: str) -> Measured:
    """The largest diameter, the removal that leaves it, and the removals that were tried."""
    value, removed = found
    shown = "disconnected" if value == inf else value
    return Measured(shown, {"removed": list(removed), "tried": tried})


def _sum_and_one(topology: str) -> int:
    """The bound of Xu, Xu and Hou: both factors' own fault diameters, and 1."""
    return 1 + sum(
        fault_diameter(factor, measure.connectivity(factor) - 1).value
        for factor in factors(topology)
    )


@claim(
    "STH-L7-xu",
    place="lemma 7",
    statement="D_(k1+k2) of a product of a k1-connected and a k2-connected network is at most "
    "D_k1 + D_k2 + 1 of the factors (STH(2,2))",
    relation="<=",
    claimed=_sum_and_one,
    grid=networks("STH(2,2), all removals", [sth(2, 2)]),
    cost=lambda topology: 60,
)
def xu(topology: str) -> Measured:
    """Remove k1 + k2 - 1 nodes of the product."""
    faults = sum(measure.connectivity(factor) for factor in factors(topology)) - 1
    return fault_diameter(topology, faults)


def connectivity(topology: str) -> Measured:
    """Fewest nodes that separate others, and which."""
    return Measured(measure.connectivity(topology), {"removed": measure.separating_nodes(topology)})


LOOP_CONNECTIVITY = claim(
    "STH-L7-lst-connectivity",
    place="lemma 7",
    statement="LST(m) is 4-connected: 4 is the least number of nodes that separate others",
    claimed=4,
    grid=family("lst", range(2, 9)),
    measured=connectivity,
)

LOOP_FAULTS = claim(
    "STH-L7-lst-fault-diameter",
    place="lemma 7",
    statement="the 3-fault diameter D_4 of LST(m) is m+2",
    claimed=of(lambda m: m + 2),
    grid=family("lst", range(2, 7)),
    measured=lambda topology: fault_diameter(topology, 3),
)

CUBE_CONNECTIVITY = claim(
    "STH-L7-tq-connectivity",
    place="lemma 7",
    statement="the cube of n dimensions (every kind) is n-connected: n is the least number of "
    "nodes that separate others, or leave one alone",
    claimed=of(lambda n: n),
    grid=CUBES,
    measured=connectivity,
)

CUBE_FAULTS = [
    claim(
        f"STH-L7-tq-fault-diameter-{kind}",
        place="lemma 7",
        statement=f"the (n-1)-fault diameter D_n of the cube ({KINDS[kind]}) is n-1",
        claimed=of(lambda n: n - 1),
        grid=family(kind, (n for n in VALID[kind] if 3 <= n <= 5)),
        measured=lambda topology: fault_diameter(topology, numbers(topology)[0] - 1),
    )
    for kind in KINDS
]

STH_CONNECTIVITY = claim(
    "STH-L7-sth-connectivity",
    place="lemma 7",
    statement="STH(m,n) is (n+4)-connected: n+4 is the least number of nodes that separate others",
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


def _few(kind: str) -> Grid:
    """Small STH with one kind of cube."""
    sizes = [(m, n) for m, n in ((2, 2), (2, 3), (3, 3), (2, 4)) if n in VALID[kind]]
    text = ", ".join(f"({m},{n})" for m, n in sizes)
    return networks(text, [sth(m, n, kind) for m, n in sizes])


STH_FAULTS = [
    claim(
        f"STH-L7-sth-fault-diameter-{kind}",
        place="lemma 7",
        statement=f"the (n+3)-fault diameter D_(n+4) of STH(m,n) ({KINDS[kind]}) is at most m+n+2 "
        "(n >= 3: removals round a node and drawn ones)",
        relation="<=",
        claimed=of(lambda m, n: m + n + 2),
        grid=_few(kind).quick(lambda topology: numbers(topology) in ((2, 3), (2, 4))),
        cost=lambda topology: 60 if numbers(topology) == (2, 2) else 5,
        measured=lambda topology: fault_diameter(topology, numbers(topology)[1] + 3),
    )
    for kind in KINDS
]
