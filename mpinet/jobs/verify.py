"""``mpinet verify``: test claims of the papers, or your own claims, by measurements."""

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
    """Find the claims, reject options without effect, and return the job."""
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
        raise UsageError("--budget does not apply with --at, which uses the full grids.")
    if options.independent is not None:
        if options.html is not None:
            raise UsageError("--html does not apply with --independent, which makes no page.")
        if not options.independent.is_file():
            raise UsageError(f"--independent {options.independent}: there is no such file.")
        return SideBySide(options, options.independent, claims, _arguments(options.at or ()))
    return Verify(options, claims, _arguments(options.at or ()))


def _given(options: VerifyOptions, *names: str) -> list[str]:
    """Return the given names of options that the user has set, and a checkpoint."""
    # A checkpoint is an option of the command line only. The record has no field for a checkpoint.
    saved = ["checkpoint"] if options.line.checkpoint is not None else []
    return [*changed(options, *names), *saved]


def _shown_again(options: VerifyOptions, document: Path) -> Job:
    """Return the job that prints a result file; raise an error for options without effect."""
    from mpinet.report.ledger.reading import read_document

    if options.claims:
        raise UsageError("--from FILE.json prints the claims of the file: name no claims.")
    for option in _given(options, "budget", "at", "journal", "independent", "list"):
        raise UsageError(f"--{option} does not apply with --from, which makes no measurements.")
    return Again(options, read_document(document))


def _arguments(typed: Sequence[str]) -> dict[str, str]:
    """Read words of the form ``NAME=VALUE``."""
    found: dict[str, str] = {}
    for word in typed:
        name, equals, value = word.partition("=")
        if not (name and equals):
            raise UsageError(f"--at takes NAME=VALUE, not {word!r}.")
        found[name] = value
    return found


def shows_colours() -> bool:
    """Return True if standard output is a user's terminal, not one of a launcher."""
    terminal = sys.stdout is not None and sys.stdout.isatty()
    return terminal and not is_launched() and "NO_COLOR" not in os.environ


LISTED = ("id", "paper", "place", "statement", "relation")
"""Fields of a claim in the list of claims, before its range."""


@dataclass(eq=False, repr=False)
class VerdictLedger(Job):
    """Verdicts, printed in a terminal and as a web page."""

    _options: VerifyOptions

    def show(self, result: list[Row]) -> str:
        """Format the verdicts by paper."""
        from mpinet.report.ledger.terminal import ledger

        return ledger(result, coloured=shows_colours())

    def summary(self, result: list[Row]) -> dict[str, Any]:
        """Return the number of verdicts of each kind, by paper."""
        from mpinet.claims.summary import summary

        return summary(result)

    def publish(self, document: dict[str, Any]) -> None:
        """Write the web page."""
        if self._options.html is not None:
            from mpinet.report.ledger.page import write_page

            write_page(self._options.html, document)


@dataclass(eq=False, repr=False)
class Verify(VerdictLedger):
    """Claims to test."""

    unit = "tests of rank 0"

    _claims: list[Claim]
    _at: dict[str, str]

    def run(self, transport: Local, watch: Watch) -> list[Verdict]:
        """Test every claim at its points, and return the verdicts."""
        from mpinet.claims.verify import verify
        from mpinet.experiments.journal import journal_of

        options = self._options
        files = [name for name in options.claims if name.endswith(".py")]
        # A checkpoint of a verification needs only the journal of finished points.
        journal = journal_of(transport, options.journal, "--journal", files, alone=False)
        budget = options.budget or "quick"
        source = "".join(f"{name} " for name in files)
        return verify(self._claims, budget, transport, self._at, journal, source, watch)

    def lasting(self, result: list[Verdict]) -> list[Row]:
        """Return the fields of the verdicts that the digest covers."""
        return [lasting(asdict(verdict)) for verdict in result]

    def status(self, result: list[Verdict]) -> int:
        """Return 1 if a measurement failed, because then a claim has no verdict."""
        return int(any(verdict.verdict == "error" for verdict in result))


@dataclass(eq=False, repr=False)
class SideBySide(Job):
    """Claims to test by mpinet and by an independent program."""

    unit = Verify.unit

    _options: VerifyOptions
    _program: Path
    _claims: list[Claim]
    _at: dict[str, str]

    def run(self, transport: Local, watch: Watch) -> list[Row]:
        """Run the program on rank 0, and test its claims at its points."""
        answers = self._answers(transport)
        known = [claim for claim in self._claims if claim.id in answers]
        if not known:
            raise UsageError(f"{self._program} knows none of these claims.")
        # Both programs' values are compared point by point. All values are therefore kept here, but
        # the document shows only values kept by claims.
        shown = {claim.id for claim in known if claim.kept}
        kept = [replace(claim, kept=True) for claim in known]
        rows = []
        for verdict in Verify(self._options, kept, self._at).run(transport, watch):
            row = asdict(verdict) | {"independent": asdict(beside(verdict, answers[verdict.id]))}
            rows.append(row if verdict.id in shown else row | {"values": None})
        return rows

    def _answers(self, transport: Local) -> dict[str, Any]:
        """Return the program's answers, which rank 0 has read (collective)."""
        # One rank starts the second program. An error of this rank is sent as an answer, and all
        # ranks raise the same error.
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
        """Format one line per claim, then the points that differ."""
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
        """Return the fields of the rows that the digest covers."""
        return [lasting(row) for row in result]

    def status(self, result: list[Row]) -> int:
        """Return 1 if a verdict or value differs."""
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
        """Return the fields of the verdicts that the digest covers."""
        return [lasting(row) for row in result]

    def publish(self, document: dict[str, Any]) -> None:
        """Write the web page of the earlier run."""
        super().publish({**self._document, "summary": document["summary"]})

    def status(self, result: list[Row]) -> int:
        """Return 1 if a measurement of the earlier run failed."""
        return int(any(row["verdict"] == "error" for row in result))
