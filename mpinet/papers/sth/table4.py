"""Table 4: basic properties in the parameters of DLH(m,n), Hex-Cell of i levels, and STH(m,n).

Values are cells of the table, by the network's column.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

from mpinet.claims import Claim, Grid, Measured, claim
from mpinet.papers.grids import of, up_to
from mpinet.papers.measured import links
from mpinet.papers.sth.formulas import sth_diameter
from mpinet.papers.sth.grids import DLHS, HEXCELLS, KINDS, SMALL, family, sths
from mpinet.papers.sth.measured import common_degree, degree, diameter, extent, nodes, width
from mpinet.papers.widths import CERTIFIED

NETWORKS = {
    "dlh": ("DLH", DLHS),
    "hx": ("HX", HEXCELLS),
    "sth": ("STH", SMALL),
    **{
        f"sth-{kind}": (
            f"STH {kind}",
            sths("m=2..6, n<=9", range(2, 7), [kind], range(10)).quick(up_to(1024)),
        )
        for kind in KINDS
    },
}
"""Column and usual grid, by the end of a claim's id."""

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
    measured: Callable[[str], Any],
    statement: str,
    formula: Callable[..., float],
    *,
    relation: str = "=",
    grid: Grid | None = None,
    note: str = "",
) -> Claim:
    """A cell of the table: a formula of a network's parameters, and the measure."""
    column, usual = NETWORKS[id.partition("-")[2]]

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
        grid=grid or usual,
        measured=found,
        note=note,
    )


def _of_kinds(
    row: str, measured: Callable[[str], Any], stated: str, formula: Callable[..., float]
) -> list[Claim]:
    """The cells of STH with each kind of cube."""
    return [
        _cell(f"{row}-sth-{kind}", measured, f"STH(m,n) ({KINDS[kind]}) has {stated}", formula)
        for kind in KINDS
    ]


def _width_cell(id: str, statement: str, formula: Callable[..., int], grid: Grid) -> Claim:
    """A cell of the row of bisection widths."""

    def found(topology: str) -> Measured:
        return width(topology, of(formula)(topology))

    return _cell(id, found, statement, formula, grid=grid, note=CERTIFIED)


CELLS = [
    _cell("nodes-dlh", nodes, "DLH(m,n) has m 2^(n+2) nodes", lambda m, n: m * 2 ** (n + 2)),
    _cell("nodes-hx", nodes, "a Hex-Cell has 6(2i-1) nodes", lambda i: 6 * (2 * i - 1)),
    _cell("nodes-sth", nodes, "STH(m,n) has m 2^(n+3) nodes", lambda m, n: m * 2 ** (n + 3)),
    _cell("degree-dlh", common_degree, "DLH(m,n) is regular of degree 3+n", lambda m, n: 3 + n),
    _cell("degree-hx", degree, "a Hex-Cell has degree 3 at most", lambda i: 3, relation="<="),
    _cell("degree-sth", common_degree, "STH(m,n) is regular of degree 4+n", lambda m, n: 4 + n),
    _cell("diameter-dlh", diameter, "DLH(m,n) has diameter m+n+1", lambda m, n: m + n + 1),
    _cell(
        "diameter-hx",
        diameter,
        "a Hex-Cell has diameter 4 sqrt(2i-1) - 1",
        lambda i: 4 * sqrt(2 * i - 1) - 1,
    ),
    *_of_kinds("diameter", diameter, "diameter m+1 + ceil((n+1)/2)", sth_diameter),
    _cell(
        "links-dlh",
        links,
        "DLH(m,n) has m 2^(n+1) (3+n) links",
        lambda m, n: m * 2 ** (n + 1) * (3 + n),
    ),
    _cell("links-hx", links, "a Hex-Cell has 3(3i^2-i) links", lambda i: 3 * (3 * i * i - i)),
    _cell(
        "links-sth",
        links,
        "STH(m,n) has m 2^(n+2) (4+n) links",
        lambda m, n: m * 2 ** (n + 2) * (4 + n),
    ),
    _cell(
        "cf-dlh",
        cost_factor,
        "DLH(m,n) has the cost factor (degree times diameter) (3+n)(m+n+1)",
        lambda m, n: (3 + n) * (m + n + 1),
    ),
    _cell(
        "cf-hx",
        cost_factor,
        "a Hex-Cell of i >= 2 levels has the cost factor 3(4 sqrt(2i-1) - 1)",
        lambda i: 3 * (4 * sqrt(2 * i - 1) - 1),
        grid=family("hexcell", range(2, 9), "Hex-Cell, 2..8 levels"),
    ),
    *_of_kinds(
        "cf", cost_factor, "the cost factor (4+n)(m+n+1)", lambda m, n: (4 + n) * (m + n + 1)
    ),
    _cell(
        "cost-dlh",
        cost,
        "DLH(m,n) has the cost (links times diameter) (m+n+1) m 2^(n+1) (3+n)",
        lambda m, n: (m + n + 1) * m * 2 ** (n + 1) * (3 + n),
    ),
    _cell(
        "cost-hx",
        cost,
        "a Hex-Cell has the cost (4 sqrt(2i-1) - 1)(18i-12)",
        lambda i: (4 * sqrt(2 * i - 1) - 1) * (18 * i - 12),
    ),
    *_of_kinds(
        "cost",
        cost,
        "the cost (m+1 + ceil((n+1)/2)) m 2^(n+2) (4+n)",
        lambda m, n: sth_diameter(m, n) * m * 2 ** (n + 2) * (4 + n),
    ),
    _width_cell(
        "bw-dlh", "DLH(m,n) has bisection width m 2^n", lambda m, n: m * 2**n, DLHS.quick(up_to(64))
    ),
    _width_cell(
        "bw-hx",
        "a Hex-Cell has bisection width 2i",
        lambda i: 2 * i,
        HEXCELLS.quick(of(lambda i: i <= SHALLOW)),
    ),
    _width_cell(
        "bw-sth",
        "STH(m,n) has bisection width (3m-1) 2^(n+1)",
        lambda m, n: (3 * m - 1) * 2 ** (n + 1),
        SMALL.quick(up_to(64)),
    ),
]
