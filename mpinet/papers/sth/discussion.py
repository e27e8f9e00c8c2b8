"""The text's comparison of networks (results and discussion).

The rows are those of tables 5 to 7, with the cube of definition 8 in STH. No Hex-Cell has these
sizes. If less is better, STH is compared with the largest Hex-Cell of at most N nodes. If more is
better, STH is compared with the smallest of at least N. Differences are STH's value minus the best
other value.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from mpinet.claims import Claim, Corrected, Measured, PointGrid, claim, over
from mpinet.claims.remembered import remembered
from mpinet.claims.statement import Predicate
from mpinet.measure import connectivity, loads
from mpinet.networks.catalogue import open_topology
from mpinet.papers.grids import networks, numbers, of, up_to
from mpinet.papers.measured import links, size_of
from mpinet.papers.sth.formulas import ONE_TO_ALL, all_to_all, one_to_all
from mpinet.papers.sth.grids import (
    KINDS,
    dlh_of,
    factors,
    hexcell_from,
    hexcell_up_to,
    hypercube_of,
    rows,
    sth,
    sth_of,
)
from mpinet.papers.sth.measured import (
    average,
    common_degree,
    degree,
    density,
    extent,
    levels,
    plain_cut,
)
from mpinet.papers.sth.printed import ROWS, TABLE_7, TOLERANCES
from mpinet.papers.sth.table8 import available, percentage
from mpinet.papers.sth.tables import broadcast_costs

ROWS_OF_STH = rows(sth_of)

GROWING = ROWS[1:]
"""Rows with a previous row."""


STANDS_IN = (
    "STH has the cube of definition 8. No Hex-Cell has the rows' sizes: the largest of at most N "
    "nodes stands in where less is better, the smallest of at least N where more is."
)


def _network_cost(topology: str) -> float:
    return size_of(topology) / 4096


def difference(
    id: str,
    *,
    place: str,
    statement: str,
    measured: Callable[[str], Any],
    relation: str = "<",
    grid: PointGrid = ROWS_OF_STH,
    cause: str = "",
    fails_where: tuple[str, Predicate] | None = None,
) -> Claim:
    """Return a claim on the sign of a difference, row by row."""
    return claim(
        f"STH-S-{id}",
        place=f"discussion, {place}",
        statement=statement,
        relation=relation,
        claimed=0,
        grid=grid,
        cost=_network_cost,
        note=STANDS_IN,
        measured=measured,
        cause=cause,
        fails_where=fails_where,
    )


@remembered
def hexcell_diameter(topology: str) -> int:
    """Return a lower bound on a Hex-Cell's diameter: the eccentricity of its last node."""
    counts, _ = levels(open_topology(topology), size_of(topology) - 1)
    return len(counts) - 1


DEGREES = claim(
    "STH-S-degree7",
    claimed={"DLH": 10, "STH": 11},
    measured=lambda: {"DLH": common_degree("dlh:2,7"), "STH": common_degree("sth:2,7")},
)


def times_diameter(topology: str, factor: Callable[[str], int]) -> Measured:
    """Return STH's product of a number and the diameter, minus the lowest of the other networks.

    Diameters are measured by floods. The Hex-Cell's diameter is replaced by a lower bound.
    """
    size = size_of(topology)
    hexcell = hexcell_up_to(size)
    own, dlh = (factor(name) * extent(name).diameter for name in (topology, dlh_of(size)))
    hx = factor(hexcell) * hexcell_diameter(hexcell)
    return Measured(own - min(dlh, hx), {"STH": own, "DLH": dlh, "HX at least": hx})


SEVEN = networks("rows 2 to 8", map(sth_of, GROWING))
BEYOND_TWO = ("m > 2", of(lambda m, n: m > 2))


def minus_others(
    measure: Callable[[str], float], *others: Callable[[int], str]
) -> Callable[[str], float]:
    """Return the function of STH's value minus the largest value of the other networks."""
    return lambda topology: (
        measure(topology) - max(measure(of_row(size_of(topology))) for of_row in others)
    )


PAIRS = [
    difference(
        "degree-largest",
        place="degree and diameter",
        statement="STH(m,7) has a larger degree than DLH(m',7) and Hex-Cell: the difference is "
        "positive",
        relation=">",
        grid=SEVEN,
        measured=minus_others(degree, dlh_of, hexcell_up_to),
    ),
    difference(
        "degree-largest-hc",
        place="degree and diameter",
        statement="STH(m,7) has a larger degree than the hypercube of table 7: the difference is "
        "positive",
        relation=">",
        grid=SEVEN,
        measured=minus_others(degree, hypercube_of),
        cause="fixed-dimension",
    ),
    difference(
        "average-dlh",
        place="abstract",
        statement="STH has a smaller average distance than DLH: the difference is negative",
        measured=minus_others(average, dlh_of),
    ),
    difference(
        "average-hc",
        place="abstract",
        statement="STH has a smaller average distance than the hypercube: the difference is "
        "negative",
        measured=minus_others(average, hypercube_of),
        cause="averages",
        fails_where=BEYOND_TWO,
    ),
]

PRINTED_AVERAGE = claim(
    "STH-S-average-printed",
    relation="<",
    claimed=lambda nodes: TABLE_7[nodes]["average"][0],
    grid=over("the 8 rows, N=2^10..2^17", nodes=ROWS),
    measures=False,
    measured=lambda nodes: TABLE_7[nodes]["average"][2],
    fails_where=("N is 2048 or 4096", lambda nodes: nodes in (2048, 4096)),
)

DIAMETER = difference(
    "diameter-smallest",
    place="degree and diameter; figure 3",
    statement="STH(m,7) has a smaller diameter than DLH(m',7) and Hex-Cell of N nodes, up to more "
    "than 10^6: the difference is negative",
    grid=networks("N=2^10..2^20", [sth_of(2**bits) for bits in range(10, 21)]).quick(up_to(2**14)),
    measured=partial(times_diameter, factor=lambda topology: 1),
)

COST_FACTOR = difference(
    "cost-factor-lowest",
    place="cost factor; figure 5",
    statement="STH has a lower cost factor (degree times diameter) than DLH and Hex-Cell: the "
    "difference is negative",
    measured=partial(times_diameter, factor=degree),
)

COST = difference(
    "cost-lowest",
    place="cost; figure 6",
    statement="STH has a lower cost (links times diameter) than DLH and Hex-Cell: the difference "
    "is negative",
    measured=partial(times_diameter, factor=links),
)


def links_difference(topology: str) -> Measured:
    """Return STH's number of links minus the largest of the other networks."""
    size = size_of(topology)
    own, dlh, hx = links(topology), links(dlh_of(size)), links(hexcell_from(size))
    return Measured(own - max(dlh, hx), {"STH": own, "DLH": dlh, "HX": hx})


LINKS = difference(
    "links-max",
    place="links; figure 4",
    statement="STH has at least as many links as DLH and Hex-Cell: the difference is not negative",
    relation=">=",
    measured=links_difference,
)


def width_difference(topology: str) -> Measured:
    """Return a lower bound of STH's width minus the cuts of the other networks."""
    size = size_of(topology)
    own = product_bound(topology)
    dlh, hx = plain_cut(dlh_of(size))[0], plain_cut(hexcell_from(size))[0]
    return Measured(own - max(dlh, hx), {"STH at least": own, "DLH at most": dlh, "HX at most": hx})


WIDTH = difference(
    "bisection-best",
    place="bisection width; figure 7",
    statement="STH's bisection width is at least the bisection width of DLH and Hex-Cell: a "
    "lower bound of STH's "
    "less the width of a cut of the others is not negative",
    relation=">=",
    measured=width_difference,
)


def product_bound(topology: str) -> float:
    """Return a lower bound on the bisection width of a product of a loop and a cube.

    All pairs of nodes exchange messages, first in the loop, then in the cube. A cut into halves
    separates N^2/4 pairs in each direction, and no link of the cut carries more than the busiest
    link.
    """
    loop, cube = factors(topology)
    # A message crosses loop links in its source's copy of the loop and cube links in its target's
    # column.
    busiest = max(size_of(cube) * loop_load(loop), size_of(loop) * cube_load(cube))
    return size_of(topology) ** 2 / 4 / busiest


@remembered
def loop_load(loop: str) -> int:
    """Return the messages over the busiest channel of LST(m) if all pairs use shortest routes.

    The rule depends only on offsets, so a channel's load is the number of hops on its port over all
    routes from node 0.
    """
    pairs = np.stack([np.zeros(size_of(loop), np.int64), np.arange(size_of(loop))], axis=1)
    found = loads(loop, "optimal", pairs[1:])
    return int(np.bincount(found.ports[:, 1], found.channels).max())


@remembered
def cube_load(cube: str) -> int:
    """Return the messages over a cube's busiest channel if all pairs use dimension order."""
    return int(loads(cube, "dimension").channels.max())


AVERAGE_CONSTANT = claim(
    "STH-S-average-constant",
    note="STH has the cube of definition 8; the claim also fails with a crossed cube.",
    relation="~",
    claimed=3,
    tolerance=0.25,
    grid=ROWS_OF_STH,
    cost=_network_cost,
    measured=average,
    corrected=Corrected("STH-C-average-grows", relation=">=", claimed=of(lambda m, n: m / 2)),
)


def growing(
    id: str,
    place: str,
    named: str,
    measured: Callable[[str], float],
    of_row: Callable[[int], str],
) -> Claim:
    """Return a claim that a value grows from row to row, so that each difference is positive."""
    return difference(
        id,
        place=place,
        statement=f"{named} grows from row to row",
        relation=">",
        grid=networks("rows 2 to 8", map(of_row, GROWING)),
        measured=lambda topology: measured(topology) - measured(of_row(size_of(topology) // 2)),
    )


AVERAGES_GROW = [
    growing(f"average-{id}-grows", "average distance", named, average, of_row)
    for id, named, of_row in (
        ("hc", "the hypercube's average distance", hypercube_of),
        ("dlh", "the average distance of DLH", dlh_of),
    )
]

DENSITY_CONSTANT = claim(
    "STH-S-density-sth",
    note="STH has the cube of definition 8; the claim also fails with a crossed cube.",
    relation="~",
    claimed=0.65,
    tolerance=0.05,
    grid=ROWS_OF_STH,
    cost=_network_cost,
    measured=density,
)

HYPERCUBE_DENSITY = claim(
    "STH-S-density-hc",
    place="discussion, traffic density",
    relation="~",
    claimed=1,
    tolerance=0.01,
    grid=rows(hypercube_of),
    cost=_network_cost,
    measured=density,
)

DENSITY_GROWS = growing(
    "density-dlh", "traffic density", "the traffic density of DLH", density, dlh_of
)


def density_difference(topology: str) -> Measured:
    """Return STH's density minus the lowest of the other networks."""
    size = size_of(topology)
    own, hc, dlh = (density(name) for name in (topology, hypercube_of(size), dlh_of(size)))
    return Measured(own - min(hc, dlh), {"STH": own, "HC": hc, "DLH": dlh})


DENSITY = difference(
    "density-lowest",
    place="traffic density",
    statement="STH has a lower traffic density than the hypercube and DLH: the difference is "
    "negative",
    measured=density_difference,
    cause="averages",
    fails_where=BEYOND_TWO,
)

SCALABILITY = [
    claim(
        f"STH-S-scal99-{family}",
        place="discussion, scalability; figure 8",
        statement=f"{name} offers more than 99 percent of the sizes 1..50000 with a deviation of "
        "less than 2 percent",
        relation=">",
        claimed=99,
        measured=lambda family=family: available(family, 2) / 500,
        cause="hexcell" if family == "hx" else "",
    )
    for family, name in (("dlh", "DLH"), ("hx", "Hex-Cell"), ("sth", "STH"))
]

AT_PAR = claim(
    "STH-S-scal-par",
    relation="<",
    claimed=1,
    reading='"at par" is within a percent point.',
    measured=lambda: max(
        percentage(family, psi) - percentage("sth", psi)
        for family in ("dlh", "hx")
        for psi in TOLERANCES
    ),
)

TWISTED_SCALABILITY = claim(
    "STH-S-scal-tq55", relation="<=", claimed=55, measured=lambda: available("tq", 20) / 500
)


@claim(
    "STH-S-broadcast-lowest",
    relation="<",
    note=f"{STANDS_IN} {ONE_TO_ALL}",
    claimed={"one-to-all": 0, "all-to-all": 0},
    grid=ROWS_OF_STH,
    cost=_network_cost,
)
def broadcast_difference(topology: str) -> dict[str, float]:
    """Return STH's cost minus the lower of the other costs (for the Hex-Cell, a lower bound)."""
    size = size_of(topology)
    hexcell = hexcell_up_to(size)
    d, D = degree(hexcell), hexcell_diameter(hexcell)
    hx = {"one-to-all": one_to_all(d, D), "all-to-all": all_to_all(size_of(hexcell), d, D)}
    own, dlh = broadcast_costs(topology), broadcast_costs(dlh_of(size))
    return {name: own[name] - min(dlh[name], hx[name]) for name in own}


LARGER_CUBE = [
    claim(
        f"STH-S-larger-cube-{kind}",
        place="discussion, diameter",
        statement="with a larger cube the diameter is smaller: STH(m,n) has a smaller diameter "
        f"than STH(2m,n-1), which has as many nodes ({KINDS[kind]})",
        relation="<",
        claimed=lambda topology, kind=kind: extent(_smaller_cube(topology, kind)).diameter,
        grid=networks(
            f"m=2..8, n=3..6, {KINDS[kind]}",
            [sth(m, n, kind) for n in range(3, 7) for m in range(2, 9)],
        ).quick(up_to(1024)),
        cost=_network_cost,
        measured=lambda topology: extent(topology).diameter,
    )
    for kind in ("tq", "cq")
]


def _smaller_cube(topology: str, kind: str) -> str:
    """Return STH(2m,n-1), which has as many nodes as STH(m,n)."""
    m, n = numbers(topology)[:2]
    return sth(2 * m, n - 1, kind)


@claim(
    "STH-S-most-fault-tolerant",
    relation=">",
    claimed=of(lambda m, n: max(connectivity(f"dlh:{2 * m},{n}"), 3)),
    grid=networks("m=2..4, n=2..4", [sth(m, n) for n in (2, 3, 4) for m in (2, 3, 4)]).quick(
        up_to(128)
    ),
    cost=lambda topology: size_of(topology) / 10,
)
def survived_faults(topology: str) -> int:
    """Return the fewest nodes whose removal disconnects the network, by flows."""
    return connectivity(topology)


@claim(
    "STH-S-constant-ports", claimed=lambda n: [n + 4], grid=over("n=2..6, m=2..9", n=range(2, 7))
)
def ports_as_it_grows(n: int) -> list[int]:
    """Return the occurring degrees of all nodes, for every m."""
    return sorted({degree(sth(m, n)) for m in range(2, 10)})
