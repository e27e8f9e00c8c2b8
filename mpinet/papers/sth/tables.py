"""Tables 5 to 7: the rows of 2^10 to 2^17 nodes, by the paper's formulas and as measured.

Table 5 has diameter, links, cost factor and cost. Table 6 has bisection widths, and lower bounds of
the costs of broadcasts in microseconds. Table 7 has average distance and message traffic density.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from mpinet.claims import Claim, Measured, claim, over, unsettled
from mpinet.claims.statement import Predicate
from mpinet.papers.grids import networks, up_to
from mpinet.papers.measured import links, size_of
from mpinet.papers.sth.bisection import width_claim
from mpinet.papers.sth.formulas import (
    ONE_TO_ALL,
    all_to_all,
    average_cells,
    basic_cells,
    broadcast_cells,
    one_to_all,
    one_to_all_printed,
)
from mpinet.papers.sth.grids import (
    KINDS,
    NOT_FOUR,
    dlh_of,
    hexcell_from,
    hexcell_up_to,
    hypercube_of,
    rows,
    sth_of,
)
from mpinet.papers.sth.measured import average, degree, density, diameter, extent
from mpinet.papers.sth.printed import ROWS, TABLE_5, TABLE_6, TABLE_7
from mpinet.papers.sweeps import reached

COLUMNS = ("DLH", "HX", "STH")


def cells(groups: Mapping[str, Sequence[float]], columns: tuple[str, ...]) -> dict[str, float]:
    """Return the cells of a row by name (measure and network)."""
    return {
        f"{name} {column}": value
        for name, values in groups.items()
        for column, value in zip(columns, values, strict=True)
    }


def _by_formulas(
    number: int,
    statement: str,
    printed: Mapping[int, Mapping[str, Sequence[float]]],
    formula: Callable[[int], Mapping[str, Sequence[float]]],
    columns: tuple[str, ...],
    **said: Any,
) -> list[Claim]:
    """Return the claims that the rows of a table follow from the paper's formulas."""
    return [
        claim(
            f"STH-T{number}-{nodes}",
            place=f"table {number}, row {nodes}",
            statement=statement,
            claimed=cells(printed[nodes], columns),
            measures=False,
            measured=lambda nodes=nodes: cells(formula(nodes), columns),
            **said,
        )
        for nodes in ROWS
    ]


TABLE_5_BY_FORMULAS = _by_formulas(
    5,
    "the row's 12 cells follow from the paper's formulas (Hex-Cell: at sqrt(N/6) levels)",
    TABLE_5,
    basic_cells,
    COLUMNS,
)


def four_cells(topology: str) -> dict[str, int]:
    """Return the row's four measures of one network."""
    d, D, L = degree(topology), extent(topology).diameter, links(topology)
    return {"D": D, "L": L, "d*D": d * D, "L*D": L * D}


def _row_of(nodes: int, network: str, named: str, topology: str, cause: str = "") -> Claim:
    """Return the claim of the four cells of one network in a row."""
    column = named.partition(" ")[0]
    at = COLUMNS.index(column)

    def found(topology: str) -> Measured:
        values = {f"{name} {named}": value for name, value in four_cells(topology).items()}
        return Measured(values, diameter(topology).where)

    return claim(
        f"STH-T5-{nodes}-{network}",
        place=f"table 5, row {nodes}",
        statement=f"the row's cells of {column} equal the values of the network {topology}",
        claimed={f"{name} {named}": values[at] for name, values in TABLE_5[nodes].items()},
        grid=networks(topology, [topology]),
        cost=lambda topology: nodes / 4096,
        measured=found,
        cause=cause,
    )


DLH_ROWS = [_row_of(nodes, "dlh", "DLH", dlh_of(nodes)) for nodes in ROWS]

STH_ROWS = [
    _row_of(nodes, f"sth-{kind}", f"STH {kind}", sth_of(nodes, kind), cause)
    for nodes in ROWS
    for kind, cause in (("tq", "cube"), ("cq", ""))
]


@claim(
    "STH-T5-hx",
    relation="exists",
    grid=over("the 8 rows, N=2^10..2^17", nodes=ROWS),
    note="No Hex-Cell has so many nodes: 6 d^2 = 2^k has no solution.",
)
def hexcells(nodes: int) -> Measured:
    """Return whether a Hex-Cell has the row's cells, testing the two sizes closest to N."""
    printed = {name: values[1] for name, values in TABLE_5[nodes].items()}
    # 6 d^2 = 2^k has no solution, so the two nearest sizes show the error of the printed row.
    below, above = near = hexcell_up_to(nodes), hexcell_from(nodes)
    for topology in near:
        if size_of(topology) == nodes and four_cells(topology) == printed:
            return Measured(True, {"hexcell": topology})
    sizes = {
        "next smaller": [below, size_of(below)],
        "next larger": [above, size_of(above)],
    }
    return Measured(False, {"N": nodes, **sizes})


PRINTED = 2e-6
"""Tolerance of numbers with six decimals."""

TABLE_6_BY_FORMULAS = _by_formulas(
    6,
    "the row's 9 cells follow from the paper's formulas (Hex-Cell: at sqrt(N/6) levels)",
    TABLE_6,
    broadcast_cells,
    COLUMNS,
    tolerance=PRINTED,
    note=ONE_TO_ALL,
)


def _widths(
    network: str,
    column: str,
    statement: str,
    of_row: Callable[[int], str],
    fails_where: tuple[str, Predicate] | None = None,
) -> Claim:
    """Return the claim of a column of widths."""
    at = COLUMNS.index(column)
    printed = {of_row(nodes): TABLE_6[nodes]["width"][at] for nodes in ROWS}
    return width_claim(
        f"STH-T6-bw-{network}",
        place="table 6",
        statement=statement,
        claimed=lambda topology: printed[topology],
        grid=networks("the 8 rows, N=2^10..2^17", printed).quick(up_to(1024)),
        # Above the size limit of the search, a plain cut decides at once.
        cost=lambda topology: 10 if size_of(topology) <= 2048 else 2,
        cause="widths",
        fails_where=fails_where,
    )


WIDTHS = [
    _widths("dlh", "DLH", "the row's width of DLH is its bisection width", dlh_of, NOT_FOUR),
    _widths("sth", "STH", "the row's width of STH is its bisection width", sth_of),
    unsettled(
        "STH-T6-bw-hx",
        place="table 6",
        statement="the row's width of Hex-Cell is the bisection width of a Hex-Cell",
        reason="no Hex-Cell has 2^k nodes (6 d^2 = 2^k has no solution), and what is printed is no "
        "whole number: 26.13 for 1024 nodes, where the Hex-Cell of 1014 has 26",
        relation="=",
    ),
]


def broadcast_costs(topology: str) -> dict[str, float]:
    """Return both bounds at the network's measured size, degree and diameter."""
    d, D = degree(topology), extent(topology).diameter
    return {"one-to-all": one_to_all(d, D), "all-to-all": all_to_all(reached(topology), d, D)}


def _costs(network: str, named: str, of_row: Callable[[int], str], cause: str = "") -> Claim:
    """Return the claim of the two columns of costs, at measured degrees and diameters."""
    at = COLUMNS.index(named.partition(" ")[0])
    names = ("one-to-all", "all-to-all")
    printed = {of_row(nodes): {name: TABLE_6[nodes][name][at] for name in names} for nodes in ROWS}
    return claim(
        f"STH-T6-bc-{network}",
        place="table 6",
        statement=f"the row's costs of broadcasts equal the costs of {named} with its "
        f"measured diameter",
        claimed=lambda topology: printed[topology],
        tolerance=PRINTED,
        grid=rows(of_row),
        cost=lambda topology: size_of(topology) / 4096,
        note=ONE_TO_ALL,
        measured=lambda topology: Measured(
            broadcast_costs(topology), {"diameter": extent(topology).diameter}
        ),
        cause=cause,
    )


PRINTED_BOUND = claim(
    "STH-T6-one-to-all-printed",
    claimed=lambda nodes: TABLE_6[nodes]["one-to-all"][0],
    tolerance=PRINTED,
    grid=over("the 8 rows, N=2^10..2^17", nodes=ROWS),
    measures=False,
    measured=lambda nodes: one_to_all_printed(10, TABLE_5[nodes]["D"][0]),
)

COSTS = [
    _costs("dlh", "DLH", dlh_of),
    *(
        _costs(f"sth-{kind}", f"STH ({KINDS[kind]})", partial(sth_of, kind=kind), cause)
        for kind, cause in (("tq", "cube"), ("cq", ""))
    ),
]

TABLE_7_BY_FORMULAS = _by_formulas(
    7,
    "the row's cells of HC and STH follow from N log2(N)/(2(N-1)) and lemma 6",
    {nodes: {name: row[1:] for name, row in TABLE_7[nodes].items()} for nodes in ROWS},
    average_cells,
    ("HC", "STH"),
    tolerance=PRINTED,
)
"""Claims of table 7 by the paper's formulas, which do not cover the cells of DLH."""

DLH_DENSITY = claim(
    "STH-T7-dlh-densities",
    claimed=lambda nodes: TABLE_7[nodes]["density"][0],
    tolerance=PRINTED,
    grid=over("the 8 rows, N=2^10..2^17", nodes=ROWS),
    measures=False,
    measured=lambda nodes: TABLE_7[nodes]["average"][0] * nodes / TABLE_5[nodes]["L"][0],
)

NETWORKS: dict[str, tuple[int, str, Callable[[int], str]]] = {
    "dlh": (0, "DLH", dlh_of),
    "hc": (1, "HC", hypercube_of),
    **{
        f"sth-{kind}": (2, f"STH ({KINDS[kind]})", partial(sth_of, kind=kind))
        for kind in ("tq", "cq")
    },
}
"""Column, name, and the row's network."""


def _column(
    id: str, measure: str, named: str, network: str, measured: Callable[[str], float]
) -> Claim:
    """Return the claim of a column of the table."""
    at, name, of_row = NETWORKS[network]
    printed = {of_row(nodes): TABLE_7[nodes][measure][at] for nodes in ROWS}
    return claim(
        f"STH-T7-{id}-{network}",
        place="table 7",
        statement=f"the row's {named} of {name} equals the network's value",
        claimed=lambda topology: printed[topology],
        tolerance=PRINTED,
        grid=rows(of_row),
        cost=lambda topology: size_of(topology) / 4096,
        measured=measured,
        cause="" if network == "hc" else "averages",
    )


AVERAGES = [_column("avg", "average", "average distance", name, average) for name in NETWORKS]

DENSITIES = [_column("density", "density", "traffic density", name, density) for name in NETWORKS]
