"""What the text says of the comparison (results and discussion).

The rows are those of tables 5 to 7, with the cube of definition 8 in STH. No Hex-Cell has their
sizes: where less is better the largest one of at most N nodes is compared, where more is better the
smallest one of at least N. Differences are STH's value less the best of the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.claims import Measured, claim
from mpinet.claims.remembered import remembered
from mpinet.measure import loads
from mpinet.measure.wiring import opened
from mpinet.papers.sth.formulas import all_to_all, one_to_all
from mpinet.papers.sth.grids import (
    dlh_of,
    factors,
    hexcell_from,
    hexcell_up_to,
    hypercube_of,
    networks,
    rows,
    size_of,
    sth_of,
    up_to,
)
from mpinet.papers.sth.measured import (
    average,
    common_degree,
    degree,
    density,
    extent,
    levels,
    links,
    plain_cut,
)
from mpinet.papers.sth.printed import ROWS
from mpinet.papers.sth.table6 import broadcast_costs
from mpinet.papers.sth.table8 import available

ROWS_OF_STH = rows(sth_of)

GROWING = ROWS[1:]
"""Rows that have one before them."""


def _network_cost(topology: str) -> float:
    return size_of(topology) / 4096


@remembered
def hexcell_diameter(topology: str) -> int:
    """What a Hex-Cell's diameter is not below: how far the others are from its last node."""
    counts, _ = levels(opened(topology), size_of(topology) - 1)
    return len(counts) - 1


@claim(
    "STH-S-degree7",
    place="discussion, degree and diameter",
    statement="with a cube of 7 dimensions, DLH has degree 10 and STH degree 11",
    claimed={"DLH": 10, "STH": 11},
)
def degrees() -> dict[str, Any]:
    """Counted."""
    return {"DLH": common_degree("dlh:2,7"), "STH": common_degree("sth:2,7")}


@claim(
    "STH-S-diameter-smallest",
    place="discussion, degree and diameter; figure 3",
    statement="STH(m,7) has a smaller diameter than DLH(m',7) and Hex-Cell of N nodes, up to more "
    "than 10^6: the difference is negative",
    relation="<",
    claimed=0,
    grid=networks("N=2^10..2^20", [sth_of(2**bits) for bits in range(10, 21)]).quick(up_to(2**14)),
    cost=_network_cost,
)
def diameter_difference(topology: str) -> Measured:
    """Diameters by flooding; of the Hex-Cell a lower bound."""
    size = size_of(topology)
    own = extent(topology).diameter
    dlh, hx = extent(dlh_of(size)).diameter, hexcell_diameter(hexcell_up_to(size))
    return Measured(own - min(dlh, hx), {"STH": own, "DLH": dlh, "HX at least": hx})


@claim(
    "STH-S-cost-factor-lowest",
    place="discussion, cost factor; figure 5",
    statement="STH has a lower cost factor (degree times diameter) than DLH and Hex-Cell: the "
    "difference is negative",
    relation="<",
    claimed=0,
    grid=ROWS_OF_STH,
    cost=_network_cost,
)
def cost_factor_difference(topology: str) -> Measured:
    """At measured diameters; of the Hex-Cell a lower bound."""
    size = size_of(topology)
    hexcell = hexcell_up_to(size)
    own, dlh = (degree(name) * extent(name).diameter for name in (topology, dlh_of(size)))
    hx = degree(hexcell) * hexcell_diameter(hexcell)
    return Measured(own - min(dlh, hx), {"STH": own, "DLH": dlh, "HX at least": hx})


@claim(
    "STH-S-cost-lowest",
    place="discussion, cost; figure 6",
    statement="STH has a lower cost (links times diameter) than DLH and Hex-Cell: the difference "
    "is negative",
    relation="<",
    claimed=0,
    grid=ROWS_OF_STH,
    cost=_network_cost,
)
def cost_difference(topology: str) -> Measured:
    """At measured diameters; of the Hex-Cell a lower bound."""
    size = size_of(topology)
    hexcell = hexcell_up_to(size)
    own, dlh = (links(name) * extent(name).diameter for name in (topology, dlh_of(size)))
    hx = links(hexcell) * hexcell_diameter(hexcell)
    return Measured(own - min(dlh, hx), {"STH": own, "DLH": dlh, "HX at least": hx})


@claim(
    "STH-S-links-max",
    place="discussion, links; figure 4",
    statement="STH has at least as many links as DLH and Hex-Cell: the difference is not negative",
    relation=">=",
    claimed=0,
    grid=ROWS_OF_STH,
    cost=_network_cost,
)
def links_difference(topology: str) -> Measured:
    """Counted."""
    size = size_of(topology)
    own, dlh, hx = links(topology), links(dlh_of(size)), links(hexcell_from(size))
    return Measured(own - max(dlh, hx), {"STH": own, "DLH": dlh, "HX": hx})


@claim(
    "STH-S-bisection-best",
    place="discussion, bisection width; figure 7",
    statement="STH's bisection width is at least that of DLH and Hex-Cell: a lower bound of STH's "
    "less the width of a cut of the others is not negative",
    relation=">=",
    claimed=0,
    grid=ROWS_OF_STH,
    cost=_network_cost,
)
def width_difference(topology: str) -> Measured:
    """The least by which STH is wider."""
    size = size_of(topology)
    own = product_bound(topology)
    dlh, hx = plain_cut(dlh_of(size))[0], plain_cut(hexcell_from(size))[0]
    return Measured(own - max(dlh, hx), {"STH at least": own, "DLH at most": dlh, "HX at most": hx})


def product_bound(topology: str) -> float:
    """What the bisection width of a product of a loop and a cube is not below.

    Every two nodes exchange messages, first in the loop, then in the cube. A cut into halves parts
    N^2/4 pairs in each direction, and none of its links carries more than the busiest.
    """
    loop, cube = factors(topology)
    busiest = max(size_of(cube) * loop_load(loop), size_of(loop) * cube_load(cube))
    return size_of(topology) ** 2 / 4 / busiest


@remembered
def loop_load(loop: str) -> int:
    """Messages over the busiest channel of LST(m) if every pair exchanges them by the shortest way.

    The rule looks at offsets only: a channel carries what leaves by its port in the routes that
    begin at node 0.
    """
    pairs = np.stack([np.zeros(size_of(loop), np.int64), np.arange(size_of(loop))], axis=1)
    found = loads(loop, "optimal", pairs[1:])
    return int(np.bincount(found.ports[:, 1], found.channels).max())


@remembered
def cube_load(cube: str) -> int:
    """The same of a cube if every pair exchanges messages by dimensions."""
    return int(loads(cube, "dimension").channels.max())


@claim(
    "STH-S-average-constant",
    place="discussion, average distance; figure 11",
    statement="STH's average distance remains almost constant, close to 3: within 25 percent, as "
    "the printed ones are",
    relation="~",
    claimed=3,
    tolerance=0.25,
    grid=ROWS_OF_STH,
    cost=_network_cost,
)
def sth_average(topology: str) -> float:
    """By flooding."""
    return average(topology)


@claim(
    "STH-S-average-hc-grows",
    place="discussion, average distance",
    statement="the hypercube's average distance grows from row to row",
    relation=">",
    claimed=0,
    grid=networks("rows 2 to 8", map(hypercube_of, GROWING)),
    cost=_network_cost,
)
def hypercube_growth(topology: str) -> float:
    """By how much, since the row before."""
    return average(topology) - average(hypercube_of(size_of(topology) // 2))


@claim(
    "STH-S-average-dlh-grows",
    place="discussion, average distance",
    statement="the average distance of DLH grows from row to row",
    relation=">",
    claimed=0,
    grid=networks("rows 2 to 8", map(dlh_of, GROWING)),
    cost=_network_cost,
)
def dlh_growth(topology: str) -> float:
    """By how much, since the row before."""
    return average(topology) - average(dlh_of(size_of(topology) // 2))


@claim(
    "STH-S-density-sth",
    place="discussion, traffic density; figure 12",
    statement="STH's traffic density is constant, close to 0.65: within 5 percent, as the printed "
    "ones are",
    relation="~",
    claimed=0.65,
    tolerance=0.05,
    grid=ROWS_OF_STH,
    cost=_network_cost,
)
def sth_density(topology: str) -> float:
    """By flooding."""
    return density(topology)


@claim(
    "STH-S-density-hc",
    place="discussion, traffic density",
    statement="the hypercube's traffic density is almost constant, close to 1: within 1 percent",
    relation="~",
    claimed=1,
    tolerance=0.01,
    grid=rows(hypercube_of),
    cost=_network_cost,
)
def hypercube_density(topology: str) -> float:
    """By flooding."""
    return density(topology)


@claim(
    "STH-S-density-dlh",
    place="discussion, traffic density",
    statement="the traffic density of DLH grows from row to row",
    relation=">",
    claimed=0,
    grid=networks("rows 2 to 8", map(dlh_of, GROWING)),
    cost=_network_cost,
)
def dlh_density_growth(topology: str) -> float:
    """By how much, since the row before."""
    return density(topology) - density(dlh_of(size_of(topology) // 2))


@claim(
    "STH-S-density-lowest",
    place="discussion, traffic density",
    statement="STH has a lower traffic density than the hypercube and DLH: the difference is "
    "negative",
    relation="<",
    claimed=0,
    grid=ROWS_OF_STH,
    cost=_network_cost,
)
def density_difference(topology: str) -> Measured:
    """By flooding."""
    size = size_of(topology)
    own, hc, dlh = (density(name) for name in (topology, hypercube_of(size), dlh_of(size)))
    return Measured(own - min(hc, dlh), {"STH": own, "HC": hc, "DLH": dlh})


SCALABILITY = [
    claim(
        f"STH-S-scal99-{family}",
        place="discussion, scalability; figure 8",
        statement=f"{name} offers more than 99 percent of the sizes 1..50000 with a deviation of "
        "less than 2 percent",
        relation=">",
        claimed=99,
    )(lambda family=family: available(family, 2) / 500)
    for family, name in (("dlh", "DLH"), ("hx", "Hex-Cell"), ("sth", "STH"))
]


@claim(
    "STH-S-scal-tq55",
    place="discussion, scalability",
    statement="TQ offers at most 55 percent of the sizes 1..50000 with a deviation of less than 20 "
    "percent",
    relation="<=",
    claimed=55,
)
def twisted_scalability() -> float:
    """Of sizes, in percent."""
    return available("tq", 20) / 500


@claim(
    "STH-S-broadcast-lowest",
    place="discussion, broadcasts; figures 9, 10",
    statement="both bounds of broadcast costs are lower for STH than for DLH and Hex-Cell, at "
    "measured diameters: the differences are negative",
    relation="<",
    claimed={"one-to-all": 0, "all-to-all": 0},
    grid=ROWS_OF_STH,
    cost=_network_cost,
)
def broadcast_difference(topology: str) -> dict[str, float]:
    """STH's cost less the lower of the others' (of the Hex-Cell a lower bound)."""
    size = size_of(topology)
    hexcell = hexcell_up_to(size)
    d, D = degree(hexcell), hexcell_diameter(hexcell)
    hx = {"one-to-all": one_to_all(d, D), "all-to-all": all_to_all(size_of(hexcell), d, D)}
    own, dlh = broadcast_costs(topology), broadcast_costs(dlh_of(size))
    return {name: own[name] - min(dlh[name], hx[name]) for name in own}
