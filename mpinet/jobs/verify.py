"""``mpinet verify``: judge the papers' claims, or a user's own, by measurements."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from mpinet.base.launched import is_launched
from mpinet.claims import Claim
from mpinet.claims.independent import asked, beside
from mpinet.claims.verdict import Verdict, lasting
from mpinet.commands.job import Job, Listing, Watch
from mpinet.commands.optionrecords import changed
from mpinet.commands.verify import VerifyOptions
from mpinet.errors import UsageError
from mpinet.machine.transport import Local
from mpinet.report.rows import Row
from mpinet.report.tables import cell_text, table


def prepare(options: VerifyOptions) -> Job:
    """Find the claims; refuse options that would have no effect."""
    from mpinet.base.files import require_writable
    from mpinet.claims.ledger import select

    if options.html is not None:
        require_writable(options.html)
    if options.document is not None:
        return _shown_again(options, options.document)
    claims = select(options.claims)
    if options.list:
        for option in _given(options, "budget", "at", "journal", "html", "independent"):
            raise UsageError(f"--{option} does not apply with --list.")
        rows = [
            {name: getattr(claim, name) for name in LISTED} | {"range": claim.grid.text}
            for claim in claims
        ]
        return Listing(rows, {"claim": "id", "place": "place", "statement": "statement"})
    if options.at and options.budget:
        raise UsageError("--budget does not apply with --at, which looks at the full grids.")
    if options.independent is not None:
        if options.html is not None:
            raise UsageError("--html does not apply with --independent, which makes no page.")
        if not options.independent.is_file():
            raise UsageError(f"--independent {options.independent}: there is no such file.")
        return SideBySide(options, options.independent, claims, _arguments(options.at or ()))
    return Verify(options, claims, _arguments(options.at or ()))


def _given(options: VerifyOptions, *names: str) -> list[str]:
    """Return those of the named options that were given, and a checkpoint."""
    # A checkpoint is an option of the command line alone, so the record has no field for it.
    saved = ["checkpoint"] if options.line.checkpoint is not None else []
    return [*changed(options, *names), *saved]


def _shown_again(options: VerifyOptions, document: Path) -> Job:
    """The job that shows a result file; refuse options that would have no effect."""
    from mpinet.report.ledger.reading import read_document

    if options.claims:
        raise UsageError("--from FILE.json shows the claims of the file: name none.")
    for option in _given(options, "budget", "at", "journal", "independent", "list"):
        raise UsageError(f"--{option} does not apply with --from, which measures nothing.")
    return Again(options, read_document(document))


def _arguments(typed: Sequence[str]) -> dict[str, str]:
    """Read ``NAME=VALUE`` words."""
    found: dict[str, str] = {}
    for word in typed:
        name, equals, value = word.partition("=")
        if not (name and equals):
            raise UsageError(f"--at takes NAME=VALUE, not {word!r}.")
        found[name] = value
    return found


def shows_colours() -> bool:
    """Tell if standard output is a person's terminal; a launcher may give ranks one of its own."""
    terminal = sys.stdout is not None and sys.stdout.isatty()
    return terminal and not is_launched() and "NO_COLOR" not in os.environ


LISTED = ("id", "paper", "place", "statement", "relation")
"""Fields of a claim in the list of claims, before its range."""


@dataclass(eq=False, repr=False)
class VerdictLedger(Job):
    """Verdicts, shown in a terminal and as a page."""

    _options: VerifyOptions

    def show(self, result: list[Row]) -> str:
        """The ledger, by paper."""
        from mpinet.report.ledger.terminal import ledger

        return ledger(result, coloured=shows_colours())

    def summary(self, result: list[Row]) -> dict[str, Any]:
        """The counts of every paper."""
        from mpinet.claims.summary import summary

        return summary(result)

    def publish(self, document: dict[str, Any]) -> None:
        """Write the page."""
        if self._options.html is not None:
            from mpinet.report.ledger.page import write_page

            write_page(self._options.html, document)


@dataclass(eq=False, repr=False)
class Verify(VerdictLedger):
    """Claims, judged."""

    unit = "tests of rank 0"

    _claims: list[Claim]
    _at: dict[str, str]

    def run(self, transport: Local, watch: Watch) -> list[Verdict]:
        """Test every claim at its points."""
        from mpinet.claims.verify import verify
        from mpinet.experiments.journal import Journal, version_of

        options = self._options
        files = [name for name in options.claims if name.endswith(".py")]
        journal = None
        folder = options.journal
        # The journal of finished points is all that a checkpoint of a verification has to keep.
        if folder is None and transport.keeper is not None:
            folder = transport.keeper.journal
        if folder is not None:
            name = f"rank-{transport.rank}"
            journal = Journal(folder, name, version_of(files), "--journal", alone=False)
        budget = options.budget or "quick"
        source = "".join(f"{name} " for name in files)
        return verify(self._claims, budget, transport, self._at, journal, source, watch)

    def lasting(self, result: list[Verdict]) -> list[Row]:
        """The verdicts' fields of the digest."""
        return [lasting(asdict(verdict)) for verdict in result]

    def status(self, result: list[Verdict]) -> int:
        """1 if a measurement failed: then not every claim has been evaluated."""
        return int(any(verdict.verdict == "error" for verdict in result))


@dataclass(eq=False, repr=False)
class SideBySide(Job):
    """Claims, judged here and by a program that shares nothing with this one."""

    unit = Verify.unit

    _options: VerifyOptions
    _program: Path
    _claims: list[Claim]
    _at: dict[str, str]

    def run(self, transport: Local, watch: Watch) -> list[Row]:
        """Ask the program on rank 0, and test the claims that it knows at their points."""
        answers = self._answers(transport)
        known = [claim for claim in self._claims if claim.id in answers]
        if not known:
            raise UsageError(f"{self._program} knows none of these claims.")
        # Both programs' values are compared point by point, so all are kept here. The document
        # shows only those that claims keep.
        shown = {claim.id for claim in known if claim.kept}
        kept = [replace(claim, kept=True) for claim in known]
        rows = []
        for verdict in Verify(self._options, kept, self._at).run(transport, watch):
            row = asdict(verdict) | {"independent": asdict(beside(verdict, answers[verdict.id]))}
            rows.append(row if verdict.id in shown else row | {"values": None})
        return rows

    def _answers(self, transport: Local) -> dict[str, Any]:
        """Answers of the program, as rank 0 has heard them (collective)."""
        # One rank starts the other program. Its refusal travels as an answer, so that all ranks
        # raise the same error.
        heard: dict[str, Any] = {}
        if transport.rank == 0:
            try:
                heard = {"answers": asked(self._program)}
            except UsageError as error:
                heard = {"refused": str(error)}
        heard = json.loads(transport.share(json.dumps(heard).encode()))
        if "refused" in heard:
            raise UsageError(heard["refused"])
        answers: dict[str, Any] = heard["answers"]
        return answers

    def show(self, result: list[Row]) -> str:
        """Format a line per claim, then the points that differ."""
        said = [(row, row["independent"]) for row in result]
        lines = [
            [row["id"], row["verdict"], other["verdict"], other["points"], len(other["differing"])]
            for row, other in said
        ]
        heading = ("claim", "mpinet", "independent", "points of both", "differ")
        points = [
            f"{row['id']} at {point['point'] or 'its point'}: {cell_text(point['measured'])} here, "
            f"{cell_text(point['independent'])} there"
            for row, other in said
            for point in other["differing"]
        ]
        agree = sum(other["agrees"] for _, other in said)
        return "\n".join([table(lines, heading), *points, f"{agree} of {len(said)} agree"])

    def lasting(self, result: list[Row]) -> list[Row]:
        """The rows' fields of the digest."""
        return [lasting(row) for row in result]

    def status(self, result: list[Row]) -> int:
        """1 if anything differs."""
        return int(not all(row["independent"]["agrees"] for row in result))


@dataclass(eq=False, repr=False)
class Again(VerdictLedger):
    """Verdicts of an earlier run, from its result file."""

    _document: dict[str, Any]

    def run(self, transport: Local, watch: Watch) -> list[Row]:
        """Return the verdicts of the earlier run."""
        rows: list[Row] = self._document["result"]
        return rows

    def lasting(self, result: list[Row]) -> list[Row]:
        """The verdicts' fields of the digest."""
        return [lasting(row) for row in result]

    def publish(self, document: dict[str, Any]) -> None:
        """Write the page of the run that measured."""
        super().publish({**self._document, "summary": document["summary"]})

    def status(self, result: list[Row]) -> int:
        """1 if a measurement failed, as when it was made."""
        return int(any(row["verdict"] == "error" for row in result))
