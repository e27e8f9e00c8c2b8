"""Plots of figures 3 to 12 and of the length of routes, for the ledger.

The series of a figure come from a table: measured values on networks, with the printed points. The
Hex-Cell has only printed series, because no Hex-Cell has the sizes of tables 5 and 6.
"""

from __future__ import annotations

from mpinet.claims.paper import ClaimCurve, Plot
from mpinet.papers.sth.printed import ROWS


def _hexcell(table: int, key: str) -> ClaimCurve:
    """Return the printed series of Hex-Cells, from a table's rows."""
    return ClaimCurve(
        "Hex-Cell, printed",
        value="claimed",
        key=key,
        at={f"STH-T{table}-{nodes}": nodes for nodes in ROWS},
    )


def _of_kinds(number: int, title: str, y: str, table: int, column: str) -> Plot:
    """Return a figure whose STH has the cube of definition 8, or a crossed cube."""
    claim = f"STH-F{number}-tq"
    return Plot(
        f"Figure {number}. {title}",
        y,
        (
            ClaimCurve("STH, cube of definition 8", claim, key="STH"),
            ClaimCurve("STH, crossed cube", f"STH-F{number}-cq", key="STH"),
            ClaimCurve("DLH", claim, key="DLH"),
            ClaimCurve("STH, printed", claim, "claimed", key="STH"),
            ClaimCurve("DLH, printed", claim, "claimed", key="DLH"),
            _hexcell(table, f"{column} HX"),
        ),
    )


def _of_one(
    number: int, title: str, y: str, names: tuple[str, ...], table: int = 0, column: str = ""
) -> Plot:
    """Return a figure that does not depend on the cube."""
    claim = f"STH-F{number}"
    return Plot(
        f"Figure {number}. {title}",
        y,
        (
            *(ClaimCurve(name, claim, key=name) for name in names),
            *(ClaimCurve(f"{name}, printed", claim, "claimed", key=name) for name in names),
            *((_hexcell(table, f"{column} HX"),) if table else ()),
        ),
    )


def _percentages() -> Plot:
    """Return figure 8."""
    names = {"DLH": "DLH", "HX": "Hex-Cell", "STH": "STH", "TQ": "twisted cube"}
    return Plot(
        "Figure 8. Sizes from 1 to 50000 that are available within psi percent",
        "percent of the sizes",
        (
            *(ClaimCurve(name, "STH-F8", key=key) for key, name in names.items()),
            *(
                ClaimCurve(f"{name}, printed", "STH-F8", "claimed", key)
                for key, name in names.items()
            ),
        ),
        against="psi",
    )


PLOTS = (
    _of_kinds(3, "Diameter", "diameter", 5, "D"),
    _of_one(4, "Number of links", "links", ("STH", "DLH"), 5, "L"),
    _of_kinds(5, "Cost factor: degree times diameter", "cost factor", 5, "d*D"),
    _of_kinds(6, "Cost: links times diameter", "cost", 5, "L*D"),
    _of_one(7, "Bisection width", "bisection width", ("STH", "DLH"), 6, "width"),
    _percentages(),
    _of_kinds(9, "One-to-all broadcast", "cost in microseconds", 6, "one-to-all"),
    _of_kinds(10, "All-to-all broadcast", "cost in microseconds", 6, "all-to-all"),
    _of_one(11, "Average distance", "average distance", ("STH", "DLH", "HC")),
    _of_one(12, "Traffic density", "traffic density", ("STH", "DLH", "HC")),
    Plot(
        "Routing: the longest route of the paper's routing in LST(m), against its claimed diameter",
        "hops",
        (
            ClaimCurve("longest route", "STH-R-optimal"),
            ClaimCurve("diameter m+1", "STH-R-optimal", "claimed"),
        ),
    ),
)
