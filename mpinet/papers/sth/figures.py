"""Figures 3 to 12: the series of the tables, drawn.

The figures' numbers are the tables'. A series is compared where the network exists: no Hex-Cell has
the sizes of tables 5 and 6. STH has the cube of definition 8.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from mpinet.claims import Claim, claim, points
from mpinet.papers.sth.grids import dlh_of, hypercube_of, rows, size_of, sth_of, up_to
from mpinet.papers.sth.measured import (
    average,
    density,
    extent,
    links,
    width,
)
from mpinet.papers.sth.printed import TABLE_5, TABLE_6, TABLE_7, TABLE_8, TOLERANCES, Row
from mpinet.papers.sth.table4 import cost, cost_factor
from mpinet.papers.sth.table6 import PRINTED, broadcast_costs
from mpinet.papers.sth.table8 import FAMILIES, SIZES_ARE, percentage

Series = dict[str, tuple[int, Callable[[int], str]]]

WITH_DLH: Series = {"DLH": (0, dlh_of), "STH": (2, sth_of)}
WITH_HC: Series = {"DLH": (0, dlh_of), "HC": (1, hypercube_of), "STH": (2, sth_of)}
"""A figure's series: column of the table, and a row's network."""


def _figure(
    number: int,
    named: str,
    table: tuple[int, dict[int, Row], str],
    series: Series,
    measured: Callable[[str], float],
) -> Claim:
    """A figure over the eight rows of a table."""
    which, printed, column = table

    def cells(topology: str) -> dict[str, float]:
        row = printed[size_of(topology)][column]
        return {name: row[at] for name, (at, _) in series.items()}

    @claim(
        f"STH-F{number}",
        place=f"figure {number}",
        statement=f"the series of {named} ({', '.join(series)}), as in table {which}, are those of "
        "the networks",
        claimed=cells,
        tolerance=PRINTED,
        grid=rows(sth_of),
        cost=lambda topology: size_of(topology) / 4096,
    )
    def found(topology: str) -> dict[str, float]:
        size = size_of(topology)
        return {name: measured(of_row(size)) for name, (_, of_row) in series.items()}

    return found


def _extent(topology: str) -> int:
    return extent(topology).diameter


FIGURES = [
    _figure(3, "diameters", (5, TABLE_5, "D"), WITH_DLH, _extent),
    _figure(4, "links", (5, TABLE_5, "L"), WITH_DLH, links),
    _figure(5, "cost factors", (5, TABLE_5, "d*D"), WITH_DLH, cost_factor),
    _figure(6, "costs", (5, TABLE_5, "L*D"), WITH_DLH, cost),
]


@claim(
    "STH-F7",
    place="figure 7",
    statement="the series of bisection widths (DLH, STH), as in table 6, are those of the networks",
    claimed=lambda topology: _widths(topology),
    grid=rows(sth_of).quick(up_to(1024)),
    cost=lambda topology: 10,
)
def widths(topology: str) -> dict[str, float]:
    """Exact, or by a cut that is narrower than printed."""
    size = size_of(topology)
    printed = _widths(topology)
    return {
        name: width(of_row(size), printed[name]).value for name, (_, of_row) in WITH_DLH.items()
    }


def _widths(topology: str) -> dict[str, float]:
    """The printed ones of a row."""
    row = TABLE_6[size_of(topology)]["width"]
    return {name: row[at] for name, (at, _) in WITH_DLH.items()}


@claim(
    "STH-F8",
    place="figure 8",
    statement="the series of percentages of available sizes, as in table 8, are those of the "
    "families' networks",
    claimed=lambda psi: {
        name: cell[1] for (name, _), cell in zip(FAMILIES.values(), TABLE_8[psi], strict=True)
    },
    tolerance=SIZES_ARE,
    grid=points("psi=2..20", [{"psi": psi} for psi in TOLERANCES]),
)
def percentages(psi: int) -> dict[str, float]:
    """Of the sizes that can be opened."""
    return {name: percentage(family, psi) for family, (name, _) in FAMILIES.items()}


def _broadcast_cost(name: str, topology: str) -> float:
    return broadcast_costs(topology)[name]


BROADCASTS = [
    _figure(
        number,
        f"{name} broadcast costs",
        (6, TABLE_6, name),
        WITH_DLH,
        partial(_broadcast_cost, name),
    )
    for number, name in ((9, "one-to-all"), (10, "all-to-all"))
]

AVERAGES = [
    _figure(11, "average distances", (7, TABLE_7, "average"), WITH_HC, average),
    _figure(12, "traffic densities", (7, TABLE_7, "density"), WITH_HC, density),
]
