"""Table 6: bisection widths, and lower bounds of the costs of broadcasts in microseconds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from mpinet.claims import Claim, Measured, claim, unsettled
from mpinet.claims.statement import Predicate
from mpinet.papers.grids import networks, up_to
from mpinet.papers.measured import size_of
from mpinet.papers.sth.bisection import width_claim
from mpinet.papers.sth.formulas import ONE_TO_ALL, all_to_all, broadcast_cells, one_to_all
from mpinet.papers.sth.grids import KINDS, NOT_FOUR, dlh_of, rows, sth_of
from mpinet.papers.sth.measured import degree, extent
from mpinet.papers.sth.printed import ROWS, TABLE_6
from mpinet.papers.sth.table5 import COLUMNS, cells
from mpinet.papers.sweeps import reached

PRINTED = 2e-6
"""Tolerance of numbers with six decimals."""

BY_FORMULAS = [
    claim(
        f"STH-T6-{nodes}",
        place=f"table 6, row {nodes}",
        statement="the row's 9 cells follow from the paper's formulas (Hex-Cell: at sqrt(N/6) "
        "levels)",
        claimed=cells(TABLE_6[nodes], COLUMNS),
        tolerance=PRINTED,
        measures=False,
        note=ONE_TO_ALL,
        measured=lambda nodes=nodes: cells(broadcast_cells(nodes), COLUMNS),
    )
    for nodes in ROWS
]


def _widths(
    network: str,
    column: str,
    statement: str,
    of_row: Callable[[int], str],
    fails_where: tuple[str, Predicate] | None = None,
) -> Claim:
    """A column of widths."""
    at = COLUMNS.index(column)
    printed = {of_row(nodes): TABLE_6[nodes]["width"][at] for nodes in ROWS}
    return width_claim(
        f"STH-T6-bw-{network}",
        place="table 6",
        statement=statement,
        claimed=lambda topology: printed[topology],
        grid=networks("the 8 rows, N=2^10..2^17", printed).quick(up_to(1024)),
        # Beyond the sizes that are searched a plain cut decides at once.
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
    """Both bounds at the network's measured size, degree and diameter."""
    d, D = degree(topology), extent(topology).diameter
    return {"one-to-all": one_to_all(d, D), "all-to-all": all_to_all(reached(topology), d, D)}


def _costs(network: str, named: str, of_row: Callable[[int], str], cause: str = "") -> Claim:
    """The two columns of costs, at measured degrees and diameters."""
    at = COLUMNS.index(named.partition(" ")[0])
    names = ("one-to-all", "all-to-all")
    printed = {of_row(nodes): {name: TABLE_6[nodes][name][at] for name in names} for nodes in ROWS}
    return claim(
        f"STH-T6-bc-{network}",
        place="table 6",
        statement=f"the row's costs of broadcasts are those of {named} with its measured diameter",
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


COSTS = [
    _costs("dlh", "DLH", dlh_of),
    *(
        _costs(f"sth-{kind}", f"STH ({KINDS[kind]})", partial(sth_of, kind=kind), cause)
        for kind, cause in (("tq", "cube"), ("cq", ""))
    ),
]
