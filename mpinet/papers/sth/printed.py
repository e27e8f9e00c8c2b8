"""Printed numbers of the paper's tables 5 to 8, from the table ``printed.csv``."""

from __future__ import annotations

import csv
from pathlib import Path

PrintedRow = dict[str, tuple[float, ...]]


def _tables() -> dict[str, dict[int, PrintedRow]]:
    """Return the rows of each table by number of nodes or psi, with a number for each network."""
    tables: dict[str, dict[int, PrintedRow]] = {}
    with Path(__file__).with_name("printed.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            row = tables.setdefault(line["table"], {}).setdefault(int(line["row"]), {})
            row[line["quantity"]] = tuple(map(_number, line["printed"].split()))
    return tables


def _number(text: str) -> float:
    # A claim's value is shown as printed, so integers must not become floats.
    return float(text) if "." in text else int(text)


_PRINTED = _tables()

TABLE_5 = _PRINTED["5"]
"""Values for DLH, Hex-Cell and STH: diameter, links, cost factor, cost."""

TABLE_6 = _PRINTED["6"]
"""Values for DLH, Hex-Cell and STH: bisection width and broadcast costs in microseconds."""

TABLE_7 = _PRINTED["7"]
"""Values for DLH, hypercube and STH: average distance in hops, and traffic density."""

TABLE_8 = {
    psi: tuple(zip(row["sizes"], row["percent"], strict=True)) for psi, row in _PRINTED["8"].items()
}
"""Values for DLH, Hex-Cell, STH and TQ: number and percentage of sizes available within psi
percent.
"""

ROWS = tuple(TABLE_5)
"""Numbers of nodes of the rows of tables 5, 6 and 7."""

TOLERANCES = tuple(TABLE_8)
"""Percentages psi of the rows of table 8."""
