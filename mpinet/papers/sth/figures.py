"""Figures 3 to 12, which draw the series of the tables.

The figures have the numbers of the tables. A series is compared only if the network exists: no
Hex-Cell has the sizes of tables 5 and 6. Values that depend on STH's cube are tested with the cube
of definition 8 and with a crossed cube.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from mpinet.claims import Claim, claim, points
from mpinet.papers.grids import up_to
from mpinet.papers.measured import links, size_of
from mpinet.papers.sth.formulas import ONE_TO_ALL
from mpinet.papers.sth.grids import KINDS, dlh_of, hypercube_of, rows, sth_of
from mpinet.papers.sth.measured import (
    average,
    density,
    extent,
    width,
)
from mpinet.papers.sth.printed import TABLE_5, TABLE_6, TABLE_7, TABLE_8, TOLERANCES, PrintedRow
from mpinet.papers.sth.table4 import cost, cost_factor
from mpinet.papers.sth.table8 import FAMILIES, SIZES_ARE, WITH_SINGLE_LINK, percentage
from mpinet.papers.sth.tables import PRINTED, broadcast_costs
from mpinet.papers.widths import CERTIFIED

Series = dict[str, tuple[int, Callable[[int], str]]]

WITH_DLH: Series = {"DLH": (0, dlh_of), "STH": (2, sth_of)}
WITH_HC: Series = {"DLH": (0, dlh_of), "HC": (1, hypercube_of), "STH": (2, sth_of)}
WITH_KIND: dict[str, Series] = {
    kind: {"DLH": (0, dlh_of), "STH": (2, partial(sth_of, kind=kind))} for kind in ("tq", "cq")
}
"""Series of a figure: column of the table, and function from a row's size to its network."""


def printed_cells(
    topology: str, table: dict[int, PrintedRow], column: str, series: Series
) -> dict[str, float]:
    """Return a figure's points at the size of an STH, from the table."""
    # Rows of the tables are keyed by their number of nodes, which equals the network's size.
    row = table[size_of(topology)][column]
    return {name: row[at] for name, (at, _) in series.items()}


READING = (
    "Reading of the cube: the formulas belong to a crossed cube, the definition to another cube."
)

EITHER = "STH has the cube of definition 8; the figure also fails with a crossed cube."


def _of_kinds(
    number: int,
    named: str,
    table: tuple[int, dict[int, PrintedRow], str],
    measured: Callable[[str], float],
    note: str = "",
) -> list[Claim]:
    """Return the claims of a figure, with each of the two cubes in STH."""
    return [
        _figure(number, named, table, WITH_KIND[kind], measured, kind, note, cause)
        for kind, cause in (("tq", "cube"), ("cq", ""))
    ]


def _figure(
    number: int,
    named: str,
    table: tuple[int, dict[int, PrintedRow], str],
    series: Series,
    measured: Callable[[str], float],
    kind: str = "",
    note: str = "",
    cause: str = "",
) -> Claim:
    """Return the claim of a figure over the eight rows of a table, by kind of cube if needed."""
    which, printed, column = table

    def found(topology: str) -> dict[str, float]:
        size = size_of(topology)
        return {name: measured(of_row(size)) for name, (_, of_row) in series.items()}

    return claim(
        f"STH-F{number}-{kind}" if kind else f"STH-F{number}",
        place=f"figure {number}",
        statement=f"the series of {named} ({', '.join(series)}), as in table {which}, equal "
        "the values of the networks" + (f", STH with the {KINDS[kind]}" if kind else ""),
        claimed=partial(printed_cells, table=printed, column=column, series=series),
        tolerance=PRINTED,
        grid=rows(partial(sth_of, kind=kind) if kind else sth_of),
        cost=lambda topology: size_of(topology) / 4096,
        note=note or (READING if kind else ""),
        measured=found,
        cause=cause,
    )


FIGURES = [
    *_of_kinds(3, "diameters", (5, TABLE_5, "D"), lambda name: extent(name).diameter),
    _figure(4, "links", (5, TABLE_5, "L"), WITH_DLH, links),
    *_of_kinds(5, "cost factors", (5, TABLE_5, "d*D"), cost_factor),
    *_of_kinds(6, "costs", (5, TABLE_5, "L*D"), cost),
]


printed_widths = partial(printed_cells, table=TABLE_6, column="width", series=WITH_DLH)


@claim(
    "STH-F7",
    claimed=printed_widths,
    grid=rows(sth_of).quick(up_to(1024)),
    cost=lambda topology: 10,
    note=f"{EITHER} {CERTIFIED}",
)
def widths(topology: str) -> dict[str, float]:
    """Return the widths: exact, or a cut narrower than printed."""
    size, printed = size_of(topology), printed_widths(topology)
    return {
        name: width(of_row(size), printed[name]).value for name, (_, of_row) in WITH_DLH.items()
    }


PERCENTAGES = claim(
    "STH-F8",
    claimed=lambda psi: {
        FAMILIES[family][0]: cell[1]
        for family, cell in zip(WITH_SINGLE_LINK, TABLE_8[psi], strict=True)
    },
    note="Where definition 8 has no TQ_1 a single link stands in, as the table's counts need it.",
    tolerance=SIZES_ARE,
    grid=points("psi=2..20", [{"psi": psi} for psi in TOLERANCES]),
    measured=lambda psi: {
        FAMILIES[family][0]: percentage(family, psi) for family in WITH_SINGLE_LINK
    },
)


def broadcast_cost(name: str, topology: str) -> float:
    """Return one of the two bounds on the broadcast cost."""
    return broadcast_costs(topology)[name]


BROADCASTS = [
    figure
    for number, name, note in (
        (9, "one-to-all", f"{READING} {ONE_TO_ALL}"),
        (10, "all-to-all", READING),
    )
    for figure in _of_kinds(
        number,
        f"{name} broadcast costs",
        (6, TABLE_6, name),
        partial(broadcast_cost, name),
        note,
    )
]

AVERAGES = [
    _figure(
        11,
        "average distances",
        (7, TABLE_7, "average"),
        WITH_HC,
        average,
        note=EITHER,
        cause="averages",
    ),
    _figure(
        12,
        "traffic densities",
        (7, TABLE_7, "density"),
        WITH_HC,
        density,
        note=EITHER,
        cause="averages",
    ),
]
