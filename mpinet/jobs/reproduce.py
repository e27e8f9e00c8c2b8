"""``mpinet reproduce``: repeat the papers' tables and figures, with measured and printed values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mpinet.base.files import make_folder, require_folder, whole_file, write_text
from mpinet.base.meant import hint
from mpinet.base.plain import plain
from mpinet.claims import Claim
from mpinet.claims.ledger import PAPERS, ROOMS, claims_of
from mpinet.claims.ledger import paper as paper_of
from mpinet.commands.job import Job, Watch
from mpinet.commands.reproduce import ReproduceOptions
from mpinet.errors import UsageError
from mpinet.machine.transport import Local
from mpinet.report.files import as_csv
from mpinet.report.ledger.reproduced import (
    Item,
    counted,
    items_of,
    picture_of,
    report,
    rows_of,
    text_of,
)
from mpinet.report.rows import Row

ALL = "all"
"""Name for all papers together."""


def prepare(options: ReproduceOptions) -> Job:
    """Find the requested tables and figures; raise an error if one is unknown."""
    if options.paper == ALL and options.items:
        raise UsageError("reproduce all makes every table and figure: leave out their names.")
    if options.paper not in (ALL, *ROOMS):
        meant = hint(options.paper, [ALL, *ROOMS], 1) or f"papers are {', '.join(ROOMS)}."
        raise UsageError(f"There is no paper {options.paper!r}: {meant}")
    rooms = PAPERS if options.paper == ALL else (options.paper,)
    every = [item for room in rooms for item in items_of(paper_of(room))]
    names = [item.name for item in every]
    for name in options.items:
        if name not in names:
            raise UsageError(f"{options.paper} has no {name!r}; it has {', '.join(names)}.")
    chosen = [item for item in every if not options.items or item.name in options.items]
    folder = None if options.folder is None else Path(options.folder)
    if folder is not None:
        require_folder(folder)
        # A missing matplotlib is reported now, not after hours of measurements.
        if any(item.plots for item in chosen):
            from mpinet.report.drawing.figure import library

            library()
    wanted = {claim for item in chosen for claim in item.claims()}
    claims = [claim for room in rooms for claim in claims_of(room) if claim.id in wanted]
    return Reproduce(options, chosen, claims, folder)


@dataclass(eq=False, repr=False)
class Reproduce(Job):
    """Tables and figures, filled with the measured values of claims."""

    unit = "tests of rank 0"

    _options: ReproduceOptions
    _items: Sequence[Item]
    _claims: Sequence[Claim]
    _folder: Path | None
    _verdicts: dict[str, Any] = field(default_factory=dict, init=False)

    def run(self, transport: Local, watch: Watch) -> list[Row]:
        """Test the claims, and put their values into tables and series."""
        from mpinet.claims.verify import verify
        from mpinet.experiments.journal import journal_of

        journal = journal_of(transport, None, "--checkpoint", alone=False)
        found = verify(self._claims, self._options.budget, transport, None, journal, "", watch)
        if transport.rank:
            return []
        self._verdicts = {verdict.id: plain(asdict(verdict)) for verdict in found}
        return [row for item in self._items for row in rows_of(item, self._verdicts)]

    def keep(self, transport: Local) -> None:
        """Write the folder's files, on rank 0."""
        # Pictures and pages need the complete results, which only rank 0 has.
        if self._folder is None or transport.rank:
            return

        make_folder(self._folder)
        for item in self._items:
            self._write(item)
        for paper in {item.paper.room: item.paper for item in self._items}.values():
            own = [item for item in self._items if item.paper.room == paper.room]
            words = ["mpinet reproduce", paper.room, *self._options.items]
            made = " ".join([*words, "--budget", self._options.budget])
            page = report(paper, own, self._verdicts, made)
            write_text(self._folder / f"{paper.room}.html", page)

    def _write(self, item: Item) -> None:
        """Write a table or figure as text, CSV and picture."""
        assert self._folder is not None
        rows = plain(rows_of(item, self._verdicts))
        name = f"{item.paper.room}-{item.name}"
        write_text(self._folder / f"{name}.txt", text_of(rows) + "\n")
        write_text(self._folder / f"{name}.csv", as_csv(rows))
        kind = self._options.pictures
        for number, plot in enumerate(item.plots):
            picture = picture_of(plot, self._verdicts, kind)
            if picture is not None:
                ending = f"-{number + 1}" if len(item.plots) > 1 else ""
                with whole_file(self._folder / f"{name}{ending}.{kind}") as file:
                    file.write(picture)

    def show(self, result: list[Row]) -> str:
        """Format tables and figures requested by name as tables; format whole papers as counts."""
        if not self._options.items:
            return counted(result)
        return "\n\n".join(
            text_of([row for row in result if row["item"] == item.name]) for item in self._items
        )

    def status(self, result: list[Row]) -> int:
        """Return 1 if a measurement failed, which leaves cells empty."""
        return int(any(row["verdict"] == "error" for row in self._verdicts.values()))
