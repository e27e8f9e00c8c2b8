"""Table 4: basic properties in the parameters of DLH(m,n), Hex-Cell of i levels, and STH(m,n).

Values are cells of the table, by the network's column.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, sqrt
from typing import Any

from mpinet.claims import Claim, Grid, Measured, claim
from mpinet.papers.sth.grids import (
    DLHS,
    HEXCELLS,
    KINDS,
    SMALL,
    family,
    of,
    sths,
    up_to,
)
from mpinet.papers.sth.measured import (
    common_degree,
    degree,
    diameter,
    extent,
    links,
    nodes,
    width,
)

DLH, HX, STH = "DLH", "HX", "STH"

SHALLOW = 4
"""Levels up to which a Hex-Cell's bisection is searched for with every budget."""


def cost_factor(topology: str) -> int:
    """Degree times diameter."""
    return degree(topology) * extent(topology).diameter


def cost(topology: str) -> int:
    """Links times diameter."""
    return links(topology) * extent(topology).diameter


def _cell(
    id: str,
    column: str,
    statement: str,
    formula: Callable[..., float],
    measured: Callable[[str], Any],
    grid: Grid,
    relation: str = "=",
) -> Claim:
    """A cell of the table: a formula of a network's parameters, and the measure."""

    def found(topology: str) -> Measured:
        value = measured(topology)
        if isinstance(value, Measured):
            return Measured({column: value.value}, value.where)
        return Measured({column: value})

    return claim(
        f"STH-T4-{id}",
        place="table 4",
        statement=statement,
        claimed=lambda topology: {column: of(formula)(topology)},
        relation=relation,
        grid=grid,
    )(found)


def _sth_diameter(m: int, n: int) -> int:
    return m + 1 + ceil((n + 1) / 2)


def _grid(kind: str) -> Grid:
    """STH of one kind."""
    return sths("m=2..6, n<=9", range(2, 7), [kind], range(10)).quick(up_to(1024))


NODES = [
    _cell(
        "nodes-dlh", DLH, "DLH(m,n) has m 2^(n+2) nodes", lambda m, n: m * 2 ** (n + 2), nodes, DLHS
    ),
    _cell(
        "nodes-hx", HX, "a Hex-Cell has 6(2i-1) nodes", lambda i: 6 * (2 * i - 1), nodes, HEXCELLS
    ),
    _cell(
        "nodes-sth",
        STH,
        "STH(m,n) has m 2^(n+3) nodes",
        lambda m, n: m * 2 ** (n + 3),
        nodes,
        SMALL,
    ),
]

DEGREES = [
    _cell(
        "degree-dlh",
        DLH,
        "DLH(m,n) is regular of degree 3+n",
        lambda m, n: 3 + n,
        common_degree,
        DLHS,
    ),
    _cell("degree-hx", HX, "a Hex-Cell has degree 3 at most", lambda i: 3, degree, HEXCELLS, "<="),
    _cell(
        "degree-sth",
        STH,
        "STH(m,n) is regular of degree 4+n",
        lambda m, n: 4 + n,
        common_degree,
        SMALL,
    ),
]

DIAMETERS = [
    _cell(
        "diameter-dlh", DLH, "DLH(m,n) has diameter m+n+1", lambda m, n: m + n + 1, diameter, DLHS
    ),
    _cell(
        "diameter-hx",
        HX,
        "a Hex-Cell has diameter 4 sqrt(2i-1) - 1",
        lambda i: 4 * sqrt(2 * i - 1) - 1,
        diameter,
        HEXCELLS,
    ),
    *(
        _cell(
            f"diameter-sth-{kind}",
            f"{STH} {kind}",
            f"STH(m,n) ({KINDS[kind]}) has diameter m+1 + ceil((n+1)/2)",
            _sth_diameter,
            diameter,
            _grid(kind),
        )
        for kind in KINDS
    ),
]

LINKS = [
    _cell(
        "links-dlh",
        DLH,
        "DLH(m,n) has m 2^(n+1) (3+n) links",
        lambda m, n: m * 2 ** (n + 1) * (3 + n),
        links,
        DLHS,
    ),
    _cell(
        "links-hx",
        HX,
        "a Hex-Cell has 3(3i^2-i) links",
        lambda i: 3 * (3 * i * i - i),
        links,
        HEXCELLS,
    ),
    _cell(
        "links-sth",
        STH,
        "STH(m,n) has m 2^(n+2) (4+n) links",
        lambda m, n: m * 2 ** (n + 2) * (4 + n),
        links,
        SMALL,
    ),
]

COST_FACTORS = [
    _cell(
        "cf-dlh",
        DLH,
        "DLH(m,n) has the cost factor (degree times diameter) (3+n)(m+n+1)",
        lambda m, n: (3 + n) * (m + n + 1),
        cost_factor,
        DLHS,
    ),
    _cell(
        "cf-hx",
        HX,
        "a Hex-Cell of i >= 2 levels has the cost factor 3(4 sqrt(2i-1) - 1)",
        lambda i: 3 * (4 * sqrt(2 * i - 1) - 1),
        cost_factor,
        family("hexcell", range(2, 9), "Hex-Cell, 2..8 levels"),
    ),
    *(
        _cell(
            f"cf-sth-{kind}",
            f"{STH} {kind}",
            f"STH(m,n) ({KINDS[kind]}) has the cost factor (4+n)(m+n+1)",
            lambda m, n: (4 + n) * (m + n + 1),
            cost_factor,
            _grid(kind),
        )
        for kind in KINDS
    ),
]

COSTS = [
    _cell(
        "cost-dlh",
        DLH,
        "DLH(m,n) has the cost (links times diameter) (m+n+1) m 2^(n+1) (3+n)",
        lambda m, n: (m + n + 1) * m * 2 ** (n + 1) * (3 + n),
        cost,
        DLHS,
    ),
    _cell(
        "cost-hx",
        HX,
        "a Hex-Cell has the cost (4 sqrt(2i-1) - 1)(18i-12)",
        lambda i: (4 * sqrt(2 * i - 1) - 1) * (18 * i - 12),
        cost,
        HEXCELLS,
    ),
    *(
        _cell(
            f"cost-sth-{kind}",
            f"{STH} {kind}",
            f"STH(m,n) ({KINDS[kind]}) has the cost (m+1 + ceil((n+1)/2)) m 2^(n+2) (4+n)",
            lambda m, n: _sth_diameter(m, n) * m * 2 ** (n + 2) * (4 + n),
            cost,
            _grid(kind),
        )
        for kind in KINDS
    ),
]


def _width_cell(
    id: str, column: str, statement: str, formula: Callable[..., int], grid: Grid
) -> Claim:
    """A cell of the row of bisection widths."""
    return _cell(
        id,
        column,
        statement,
        formula,
        lambda topology: width(topology, of(formula)(topology)),
        grid,
    )


WIDTHS = [
    _width_cell(
        "bw-dlh",
        DLH,
        "DLH(m,n) has bisection width m 2^n",
        lambda m, n: m * 2**n,
        DLHS.quick(up_to(64)),
    ),
    _width_cell(
        "bw-hx",
        HX,
        "a Hex-Cell has bisection width 2i",
        lambda i: 2 * i,
        HEXCELLS.quick(of(lambda i: i <= SHALLOW)),
    ),
    _width_cell(
        "bw-sth",
        STH,
        "STH(m,n) has bisection width (3m-1) 2^(n+1)",
        lambda m, n: (3 * m - 1) * 2 ** (n + 1),
        SMALL.quick(up_to(64)),
    ),
]
