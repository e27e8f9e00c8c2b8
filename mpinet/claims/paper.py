"""A paper as shown in the ledger: its citation, claims, tables, plots and main findings."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mpinet.base.fielddocs import described
from mpinet.claims.cause import Cause
from mpinet.claims.statement import Predicate


@described
@dataclass(frozen=True)
class PaperTable:
    """A table of a paper, reproduced from the ledger; each row shows one or several claims."""

    title: str
    """The paper's number of the table, and its subject."""
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    """Label and claims of each row. The claimed and measured values of these claims are objects
    with one field per cell.
    """

    def claims(self) -> Iterator[str]:
        """Yield the ids of the claims in the table."""
        for _, claims in self.rows:
            yield from claims


@dataclass(frozen=True)
class ClaimColumn:
    """A column of a table of measurements: one claim, with one point per row."""

    name: str
    """Heading of the column."""
    claim: str
    """The claim's id."""
    points: Mapping[str, str]
    """Printed form of the point in each row, by the row's label."""


@dataclass(frozen=True)
class MeasuredTable:
    """A table of a paper whose columns are claims, with printed and measured values."""

    title: str
    """The paper's number of the table, and its subject."""
    columns: tuple[ClaimColumn, ...]
    """Columns of the table."""

    def claims(self) -> Iterator[str]:
        """Yield the ids of the claims in the table."""
        yield from (column.claim for column in self.columns)


def item_name(title: str) -> str:
    """Return the name of a table or figure on the command line: ``table-5`` for "Table 5, .."."""
    return re.split("[:.,]", title, maxsplit=1)[0].strip().lower().replace(" ", "-")


def labelled(labels: Iterable[int], network: Callable[[int], str]) -> dict[str, str]:
    """Return the points of a column in which each row of the table is a network.

    Parameters
    ----------
    labels : iterable of int
        The rows.
    network : callable
        Function that returns the topology string of a row.
    """
    return {str(label): f"topology={network(label)}" for label in labels}


@dataclass(frozen=True)
class ClaimCurve:
    """A curve of a plot."""

    name: str
    """Label of the curve in the legend."""
    claim: str = ""
    """The id of the claim with the curve's points; empty if `at` lists several claims."""
    value: str = "measured"
    """Values to plot: ``"measured"`` or ``"claimed"``."""
    key: str = ""
    """Field of the values, if the values are objects."""
    at: Mapping[str, float] = field(default_factory=dict)
    """Positions on the horizontal axis of claims with one point each, by the claims' ids."""
    of: Callable[[str], bool] | None = None
    """Function that returns True for networks on the curve, called with the topology string.
    Default: all networks.
    """

    def claims(self) -> tuple[str, ...]:
        """Return the ids of the claims with the curve's points."""
        return (self.claim,) if self.claim else tuple(self.at)


@dataclass(frozen=True)
class Plot:
    """A plot of claimed and measured values."""

    title: str
    """The paper's number of the figure, or our own word for it, and its subject."""
    y: str
    """Label of the vertical axis."""
    curves: tuple[ClaimCurve, ...]
    """Curves of the plot."""
    against: str = "size"
    """The horizontal axis: ``"size"``, the number of processors of the point's network;
    ``"claimed"``, the claimed value (points above the diagonal exceed it); or the name of a numeric
    argument of the point.
    """


@dataclass(frozen=True)
class MainFinding:
    """A finding of general interest, with a command that shows it."""

    number: int
    """Position among the main findings of all papers."""
    title: str
    """Finding in one sentence."""
    text: str
    """Description of the witness."""
    command: str
    """Command that prints the witness."""
    prints: tuple[str, ...]
    """Excerpts of the command's output, in order."""
    claims: tuple[str, ...]
    """Ids of the claims with this finding; the first claim is refuted."""


def read_findings(file: Path, room: str) -> tuple[MainFinding, ...]:
    """Read a paper's main findings from the numbered table of all papers."""
    rows = tomllib.loads(file.read_text(encoding="utf-8"))["finding"]
    return tuple(
        MainFinding(
            number,
            row["title"],
            row["text"],
            row["command"],
            tuple(row["prints"]),
            tuple(row["claims"]),
        )
        for number, row in enumerate(rows, 1)
        # The first claim of a finding is the refuted claim, and ids begin with their room.
        if row["claims"][0].startswith(f"{room.upper()}-")
    )


@described
@dataclass(frozen=True)
class Paper:
    """A paper as shown in the ledger; each room defines its paper under the name PAPER."""

    room: str
    """Room of the paper: its name on the command line."""
    title: str
    """Title of the paper."""
    modules: tuple[str, ...]
    """Modules of the room with claims, in the order of the paper."""
    tables: tuple[PaperTable | MeasuredTable, ...] = ()
    """Tables to reproduce."""
    degenerate: Predicate | None = None
    """Default rule for degenerate points (`Claim.degenerate`) of all claims of the paper."""
    causes: Mapping[str, Cause] = field(default_factory=dict)
    """The paper's errors, each with a grade and a sentence, by the names used in its claims
    (`Claim.cause`).
    """
    citation: str = ""
    """Authors, journal, volume, year and pages."""
    doi: str = ""
    """Digital object identifier of the paper, if known."""
    plots: tuple[Plot, ...] = ()
    """Plots of the paper."""
    findings: tuple[MainFinding, ...] = ()
    """Main findings of the paper."""
    ours: tuple[str, ...] = ()
    """Modules of the room with our own rows, placed in the ledger after the corrections."""

    def grade(self, cause: str) -> str:
        """Return the grade of an error of the paper; empty for an unknown name."""
        return self.causes[cause].grade if cause in self.causes else ""

    def kept(self) -> Iterator[str]:
        """Yield the ids of claims with all points shown in tables or plots."""
        for table in self.tables:
            if isinstance(table, MeasuredTable):
                yield from table.claims()
        for plot in self.plots:
            for curve in plot.curves:
                yield from curve.claims()
