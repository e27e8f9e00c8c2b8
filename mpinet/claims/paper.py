"""A paper as the ledger shows it: its citation, claims, tables, plots and main findings."""

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
    """A table of a paper, made again from the ledger: a row a claim, or several claims."""

    title: str
    """The paper's number and what the table shows."""
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    """Each row's label and the claims whose claimed and measured values, objects with a field a
    cell, make it."""

    def claims(self) -> Iterator[str]:
        """The claims that make it."""
        for _, claims in self.rows:
            yield from claims


@dataclass(frozen=True)
class ClaimColumn:
    """A column of a table of measurements: a claim, a row a point."""

    name: str
    """Heading of the column."""
    claim: str
    """The claim's id."""
    points: Mapping[str, str]
    """The point of each row's label, as it is printed."""


@dataclass(frozen=True)
class MeasuredTable:
    """A table of a paper whose columns are claims: what is printed beside what is measured."""

    title: str
    """The paper's number and what the table shows."""
    columns: tuple[ClaimColumn, ...]
    """Columns of the table."""

    def claims(self) -> Iterator[str]:
        """The claims that make it."""
        yield from (column.claim for column in self.columns)


def item_name(title: str) -> str:
    """Return the name by which a table or figure is asked for: ``table-5`` of "Table 5, .."."""
    return re.split("[:.,]", title, maxsplit=1)[0].strip().lower().replace(" ", "-")


def labelled(labels: Iterable[int], network: Callable[[int], str]) -> dict[str, str]:
    """The points of a column that is about a network for each of the table's rows.

    Parameters
    ----------
    labels : iterable of int
        The rows.
    network : callable
        The topology string of a row.
    """
    return {str(label): f"topology={network(label)}" for label in labels}


@dataclass(frozen=True)
class ClaimCurve:
    """A curve of a plot."""

    name: str
    """Label of the curve in the legend."""
    claim: str = ""
    """The id of the claim whose points it goes through; empty where `at` has several claims."""
    value: str = "measured"
    """``"measured"`` or ``"claimed"``."""
    key: str = ""
    """Field of the values, where these are objects."""
    at: Mapping[str, float] = field(default_factory=dict)
    """Places on the horizontal axis of claims of one point each, by their ids."""
    of: Callable[[str], bool] | None = None
    """Returns True if the curve goes through the point of a network; called with the topology
    string. Default: it goes through all."""

    def claims(self) -> tuple[str, ...]:
        """The claims whose points it goes through."""
        return (self.claim,) if self.claim else tuple(self.at)


@dataclass(frozen=True)
class Plot:
    """A plot of what is claimed and measured."""

    title: str
    """The paper's number of the figure, or a word of ours, and what it shows."""
    y: str
    """Label of the vertical axis."""
    curves: tuple[ClaimCurve, ...]
    """Curves of the plot."""
    against: str = "size"
    """The horizontal axis: ``"size"``, the processors of the point's network; ``"claimed"``, the
    claimed value (points above the diagonal exceed it); or the name of one of the point's
    arguments, which is a number."""


@dataclass(frozen=True)
class MainFinding:
    """A finding that the field should know, with a command that shows it."""

    number: int
    """Place among the main findings of all papers."""
    title: str
    """Finding in one sentence."""
    text: str
    """The witness."""
    command: str
    """Command that prints the witness."""
    prints: tuple[str, ...]
    """Pieces of what it prints, in this order."""
    claims: tuple[str, ...]
    """The claims in which it stands; the first is refuted."""


def read_findings(file: Path, room: str) -> tuple[MainFinding, ...]:
    """Read the main findings on a paper from the table of all papers, which numbers them."""
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
        # The first claim of a finding is the refuted one, and ids begin with their room.
        if row["claims"][0].startswith(f"{room.upper()}-")
    )


@described
@dataclass(frozen=True)
class Paper:
    """A paper as the ledger shows it; each room has one by the name PAPER."""

    room: str
    """Room of the paper: its name on the command line."""
    title: str
    """The paper."""
    modules: tuple[str, ...]
    """Modules of the package that hold claims, in the order of the paper."""
    tables: tuple[PaperTable | MeasuredTable, ...] = ()
    """Tables to be made again."""
    degenerate: Predicate | None = None
    """Rule of `Claim.degenerate` for all claims of the paper that have none of their own."""
    causes: Mapping[str, Cause] = field(default_factory=dict)
    """The paper's errors, by the names that its claims have for them (`Claim.cause`): a grade and a
    sentence on each."""
    citation: str = ""
    """Authors, journal, volume, year and pages."""
    doi: str = ""
    """Digital object identifier of the paper, if known."""
    plots: tuple[Plot, ...] = ()
    """Plots of the paper."""
    findings: tuple[MainFinding, ...] = ()
    """Main findings of the paper."""
    corrections: tuple[str, ...] = ()
    """Ids of corrected statements, or patterns of ids, in the order in which the ledger has them,
    behind the paper's claims; those that are not named come last, in the order of their rows."""
    ours: tuple[str, ...] = ()
    """Modules of the package with rows of ours, which the ledger has behind the corrections."""

    def grade(self, cause: str) -> str:
        """Return the grade of one of its errors; empty for no error."""
        return self.causes[cause].grade if cause in self.causes else ""

    def kept(self) -> Iterator[str]:
        """The claims of which tables and plots show every point."""
        for table in self.tables:
            if isinstance(table, MeasuredTable):
                yield from table.claims()
        for plot in self.plots:
            for curve in plot.curves:
                yield from curve.claims()
