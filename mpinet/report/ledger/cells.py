"""Cells of the papers' tables: printed and measured value of a claim."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from typing import Any

from mpinet.claims.grid import point_text
from mpinet.claims.paper import ClaimColumn, MeasuredTable, PaperTable
from mpinet.claims.relation import FACTS
from mpinet.report.tables import cell_text

LedgerRows = Mapping[str, Mapping[str, Any]]
"""Verdicts as JSON objects, by claim id."""

SIGNS = {"<=": "≤ ", ">=": "≥ ", "<": "< ", ">": "> ", "~": "~ "}
"""Signs of relations, placed before printed values."""


@dataclass(frozen=True)
class PublishedCell:
    """Cell of a table, or point of a figure's series."""

    row: str | float
    """Label of the cell's row; for a point of a figure, the position on the horizontal axis."""
    column: str
    """Label of the cell's column; for a point of a figure, the name of the series."""
    claim: str
    """Id of the cell's claim."""
    relation: str
    """Relation between measured and printed value that the claim states."""
    printed: Any
    """Value printed in the paper."""
    measured: Any
    """Measured value."""
    agrees: bool
    """True if the relation holds."""
    network: str
    """Point of the measurement, such as ``topology=lst:2``; empty for a claim without arguments."""

    @property
    def form(self) -> str:
        """``rounded`` or ``truncated``: how printed decimals arise from the measured value."""
        if not (isinstance(self.printed, float) and isinstance(self.measured, int | float)):
            return ""
        # Decimal digits are compared, because 100 * 40.23 is less than 4023 in binary.
        step, exact = Decimal(1).scaleb(-_decimals(self.printed)), Decimal(str(self.measured))
        printed = Decimal(str(self.printed))
        if exact.quantize(step, ROUND_HALF_UP) == printed:
            return "rounded"
        return "truncated" if exact.quantize(step, ROUND_DOWN) == printed else ""

    @property
    def sign(self) -> str:
        """Sign of the relation, placed before the printed value; empty for equality."""
        return SIGNS.get(self.relation, "") if self.relation not in FACTS else ""

    def rounded(self, value: Any, digits: int) -> str:
        """Format a value; a cell with decimals gets as many decimals as its column."""
        if isinstance(value, float) and isinstance(self.printed, float):
            return f"{value:.{digits}f}"
        return cell_text(value)


def digits_of(cells: Iterable[PublishedCell]) -> dict[str, int]:
    """Return the largest number of decimals printed in each column."""
    found: dict[str, int] = {}
    for cell in cells:
        if isinstance(cell.printed, float):
            found[cell.column] = max(found.get(cell.column, 0), _decimals(cell.printed))
    return found


def _decimals(printed: float) -> int:
    return len(f"{printed:f}".rstrip("0").partition(".")[2])


def cells_of(table: PaperTable | MeasuredTable, rows: LedgerRows) -> list[PublishedCell]:
    """Return the cells of a table row by row, for claims with a verdict."""
    if isinstance(table, MeasuredTable):
        return [cell for column in table.columns for cell in _column(column, rows)]
    return [
        cell
        for label, claims in table.rows
        for claim in claims
        if claim in rows
        for cell in _row(label, rows[claim])
    ]


def _row(label: str, row: Mapping[str, Any]) -> Iterator[PublishedCell]:
    """Yield the cells of a claim whose values are objects with one field per cell."""
    # A degenerate witness is hardly the network that the paper meant.
    shown = row["nondegenerate"] or row
    claimed, measured, at = shown["claimed"], shown["measured"], shown.get("point", row["at"])
    if isinstance(claimed, Mapping) and isinstance(measured, Mapping):
        # A verdict stores the failing fields in its witness. Without a witness, all cells agree.
        witness = row["nondegenerate"] or row["witness"]
        wrong = witness["where"].get("fields", ()) if witness else ()
        yield from _fields(label, "", row, claimed, measured, wrong, point_text(at or {}))


def _column(column: ClaimColumn, rows: LedgerRows) -> Iterator[PublishedCell]:
    """Yield the cells of a column, one for each point of its claim."""
    row = rows.get(column.claim)
    values = {value["point"]: value for value in row["values"] or ()} if row else {}
    for label, point in column.points.items():
        if row is None or point not in values:
            continue
        found = values[point]
        claimed, measured = found["claimed"], found["measured"]
        if isinstance(claimed, Mapping):
            front = f"{column.name} "
            yield from _fields(label, front, row, claimed, measured, found["fields"], point)
        else:
            kind = row["id"], row["relation"]
            yield PublishedCell(label, column.name, *kind, claimed, measured, found["holds"], point)


def _fields(
    label: str,
    front: str,
    row: Mapping[str, Any],
    claimed: Mapping[str, Any],
    measured: Mapping[str, Any],
    wrong: Iterable[str],
    point: str,
) -> Iterator[PublishedCell]:
    """Yield a cell for each field; its column is `front` followed by the field's name."""
    for name, printed in claimed.items():
        found, kind = measured.get(name), (row["id"], row["relation"])
        yield PublishedCell(label, front + name, *kind, printed, found, name not in wrong, point)
