"""Table 4: basic properties as formulas of DLH(m,n), Hex-Cell of i levels, and STH(m,n).

Values are cells of the table, by the network's column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import sqrt
from typing import Any

from mpinet.claims import Claim, Corrected, Measured, PointGrid, claim
from mpinet.papers.grids import numbers, of, up_to
from mpinet.papers.measured import links, size_of
from mpinet.papers.sth.bisection import width_corrected
from mpinet.papers.sth.formulas import sth_diameter, sth_diameter_by_kind
from mpinet.papers.sth.grids import (
    DLHS,
    HEXCELLS,
    KINDS,
    NOT_FOUR,
    SMALL,
    beyond,
    family,
    sths,
)
from mpinet.papers.sth.measured import common_degree, degree, diameter, extent, width
from mpinet.papers.sweeps import reached
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
"""Column and default grid, by the ending of a claim's id."""

SHALLOW = 4
"""Largest number of levels of a Hex-Cell whose bisection is searched with every budget."""


def cost_factor(topology: str) -> int:
    """Return degree times diameter."""
    return degree(topology) * extent(topology).diameter


def cost(topology: str) -> int:
    """Return links times diameter."""
    return links(topology) * extent(topology).diameter


def _cell(
    id: str,
    measured: Callable[[str], Any],
    statement: str,
    formula: Callable[..., float],
    *,
    relation: str = "=",
    grid: PointGrid | None = None,
    **known: Any,
) -> Claim:
    """Return the claim of a cell: a formula of a network's parameters, and its measurement."""
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
        **known,
    )


def _of_kinds(
    row: str,
    measured: Callable[[str], Any],
    stated: str,
    formula: Callable[..., float],
    refuted: Mapping[str, dict[str, Any]],
) -> list[Claim]:
    """Return the claims of STH's cells for each kind of cube; `refuted` describes refuted cells."""
    return [
        _cell(
            f"{row}-sth-{kind}",
            measured,
            f"STH(m,n) ({KINDS[kind]}) has {stated}",
            formula,
            **refuted.get(kind, {}),
        )
        for kind in KINDS
    ]


def _of_twisted_cube(corrected: Corrected) -> dict[str, dict[str, Any]]:
    """Return the description of a cell that is refuted only with the cube of definition 8."""
    return {"tq": {"cause": "cube", "fails_where": beyond(4), "corrected": corrected}}


def _width_cell(
    id: str, statement: str, formula: Callable[..., int], grid: PointGrid, **known: Any
) -> Claim:
    """Return the claim of a cell of the row of bisection widths."""

    def found(topology: str) -> Measured:
        return width(topology, of(formula)(topology))

    return _cell(id, found, statement, formula, grid=grid, note=CERTIFIED, **known)


SEVERAL_LEVELS = ("i > 1", of(lambda i: i > 1))

CELLS = [
    _cell("nodes-dlh", reached, "DLH(m,n) has m 2^(n+2) nodes", lambda m, n: m * 2 ** (n + 2)),
    _cell(
        "nodes-hx",
        reached,
        "a Hex-Cell has 6(2i-1) nodes",
        lambda i: 6 * (2 * i - 1),
        cause="hexcell",
        fails_where=SEVERAL_LEVELS,
        corrected=Corrected("STH-C-nodes-hx", claimed=of(lambda i: 6 * i * i), measured=reached),
    ),
    _cell("nodes-sth", reached, "STH(m,n) has m 2^(n+3) nodes", lambda m, n: m * 2 ** (n + 3)),
    _cell("degree-dlh", common_degree, "DLH(m,n) is regular of degree 3+n", lambda m, n: 3 + n),
    _cell("degree-hx", degree, "a Hex-Cell has degree 3 at most", lambda i: 3, relation="<="),
    _cell("degree-sth", common_degree, "STH(m,n) is regular of degree 4+n", lambda m, n: 4 + n),
    _cell("diameter-dlh", diameter, "DLH(m,n) has diameter m+n+1", lambda m, n: m + n + 1),
    _cell(
        "diameter-hx",
        diameter,
        "a Hex-Cell has diameter 4 sqrt(2i-1) - 1",
        lambda i: 4 * sqrt(2 * i - 1) - 1,
        cause="hexcell",
        fails_where=SEVERAL_LEVELS,
        corrected=Corrected(
            "STH-C-diameter-hx", claimed=of(lambda i: 4 * i - 1), measured=diameter
        ),
    ),
    *_of_kinds(
        "diameter",
        diameter,
        "diameter m+1 + ceil((n+1)/2)",
        sth_diameter,
        _of_twisted_cube(
            Corrected(
                "STH-C-diameter-sth-tq",
                claimed=of(partial(sth_diameter_by_kind, "tq")),
                measured=diameter,
            )
        ),
    ),
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
        cause="hexcell",
        corrected=Corrected(
            "STH-C-cf-hx", claimed=of(lambda i: 3 * (4 * i - 1)), measured=cost_factor
        ),
    ),
    *_of_kinds(
        "cf",
        cost_factor,
        "the cost factor (4+n)(m+n+1)",
        lambda m, n: (4 + n) * (m + n + 1),
        {
            kind: {
                "cause": "cost-factor",
                "fails_where": beyond(2),
                "corrected": Corrected(
                    f"STH-C-cf-sth-{kind}",
                    f"STH(m,n) ({KINDS[kind]}) has the cost factor (4+n) times its diameter, "
                    + ("m+n, m+3 for n = 2" if kind == "tq" else "m+1 + ceil((n+1)/2)"),
                    claimed=of(lambda m, n, kind=kind: (4 + n) * sth_diameter_by_kind(kind, m, n)),
                    measured=cost_factor,
                ),
            }
            for kind in KINDS
        },
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
        cause="hexcell",
        fails_where=SEVERAL_LEVELS,
        corrected=Corrected(
            "STH-C-cost-hx", claimed=of(lambda i: (9 * i * i - 3 * i) * (4 * i - 1)), measured=cost
        ),
    ),
    *_of_kinds(
        "cost",
        cost,
        "the cost (m+1 + ceil((n+1)/2)) m 2^(n+2) (4+n)",
        lambda m, n: sth_diameter(m, n) * m * 2 ** (n + 2) * (4 + n),
        _of_twisted_cube(
            Corrected(
                "STH-C-cost-sth-tq",
                claimed=of(
                    lambda m, n: sth_diameter_by_kind("tq", m, n) * m * 2 ** (n + 2) * (4 + n)
                ),
                measured=cost,
            )
        ),
    ),
    _width_cell(
        "bw-dlh",
        "DLH(m,n) has bisection width m 2^n",
        lambda m, n: m * 2**n,
        DLHS.quick(up_to(64)),
        cause="widths",
        fails_where=NOT_FOUR,
        corrected=width_corrected(
            "STH-C-dlh-width",
            "the bisection width of DLH(m,n) is 2^(n+2) for every m",
            of(lambda m, n: 2 ** (n + 2)),
        ),
    ),
    _width_cell(
        "bw-hx",
        "a Hex-Cell has bisection width 2i",
        lambda i: 2 * i,
        HEXCELLS.quick(of(lambda i: i <= SHALLOW)),
    ),
    claim(
        "STH-I-hx-width",
        relation="<",
        claimed=lambda topology: sqrt(size_of(topology)),
        grid=HEXCELLS.quick(of(lambda i: i <= SHALLOW)),
        measured=lambda topology: width(topology, 2 * numbers(topology)[0]),
        reading='"too low" is less than the square root of N; the hypercube\'s is N/2.',
        note=CERTIFIED,
    ),
    _width_cell(
        "bw-sth",
        "STH(m,n) has bisection width (3m-1) 2^(n+1)",
        lambda m, n: (3 * m - 1) * 2 ** (n + 1),
        SMALL.quick(up_to(64)),
        cause="widths",
    ),
]
