"""Head of the ledger's page: the run, its verdicts, the main findings, and reading instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from shlex import join
from typing import Any

from mpinet.base.version import __version__
from mpinet.claims.paper import MainFinding, Paper
from mpinet.claims.summary import ours
from mpinet.report.ledger.formulas import typeset
from mpinet.report.ledger.remade import command_html, link, unbroken

STATED = {
    "claims": "the paper’s claims",
    "holds": "hold",
    "formulas": "– formula against formula",
    "refuted": "refuted",
    "open": "open",
    "error": "failed",
}
"""Headings of the counts of a paper's own claims."""

ADDED = {
    "claims": "added rows",
    "holds": "hold",
    "refuted": "refuted",
    "beaten": "stated steps beaten",
    "open": "open",
    "error": "failed",
}
"""Headings of the counts of rows that mpinet adds to a paper."""


USED = ("python", "numpy", "numba", "networkx", "mpi4py", "mpi")
"""Packages whose versions are listed."""


def head(document: Mapping[str, Any]) -> str:
    """Return title, date, versions, and the commands to repeat the run."""
    made = document.get("made") or {}
    command = join(document["command"])
    commit = made.get("commit")
    versions = [f"mpinet {document['mpinet']}"]
    versions += [f"{name} {made[name]}" for name in USED if made.get(name)]
    ranks = document["ranks"]
    entries = {
        "date": made.get("date") or "-",
        "commit": commit or "none: made by an installed package",
        "digest": document["digest"],
        "seed": str(document["seed"]),
        "ranks": str(ranks),
        "versions": ", ".join(versions),
        "command": command,
    }
    listed = "\n".join(
        f"<dt>{name}</dt><dd>{command_html(text) if name in CODE else escape(text)}</dd>"
        for name, text in entries.items()
    )
    return f"""<header>
<h1>The ledger</h1>
<p class="lead">Claims of papers on interconnection networks, each measured on an emulator.</p>
<dl>
{listed}
</dl>
<h2 id="rerun">Repeat the run</h2>
<pre><code class="command">{unbroken(_rerun(command, commit))}</code></pre>
<p>The digest is the same for any number of ranks and in every repetition.
{command_html("mpinet verify --from ledger.json --html page.html")} makes this page from the result
file without measuring.</p>
<p class="quiet">mpinet {escape(__version__)}, MIT License, © 2026 mpinet developers.
The documentation (<code>docs/papers/</code>) defines the networks, with readings and corrections,
on a page for each paper.</p>
</header>"""


CODE = ("commit", "digest", "command")
"""Fields set as code."""


def _rerun(command: str, commit: str | None) -> str:
    """Return the commands that repeat this result from a fresh checkout."""
    # A plus marks a changed checkout. Only its commit without the plus can be checked out.
    at = commit.rstrip("+") if commit else "COMMIT"
    words = command if "--out" in command.split() else f"{command} --out ledger.json"
    return (
        f"git clone REPOSITORY mpinet && cd mpinet && git checkout {at}\n"
        f"launch/setup\n. .venv/bin/activate\n{words}"
    )


def counts(summary: Mapping[str, Any], papers: Sequence[Paper]) -> str:
    """Return the table of verdicts by paper."""
    names = [f'<a href="#paper-{escape(found.room)}">{escape(found.room)}</a>' for found in papers]
    heading = "".join(f'<th scope="col">{name}</th>' for name in ["", *names, "all"])
    columns = [*summary["papers"], summary["all"]]
    stated = [column["stated"] for column in columns]
    added = [ours(column) for column in columns]
    said = {"sentences": "distinct sentences", "both": "– with both verdicts"}
    errors = [{"distinct errors": column["errors"], **column["grades"]} for column in columns]
    graded = {name: f"– {name}" for name in errors[-1]}
    blocks = ((STATED, stated), (said, columns), (graded, errors), (ADDED, added))
    bodies = "\n".join(f"<tbody>\n{_lines(*block)}\n</tbody>" for block in blocks)
    return f"""<h2 id="counts">Verdicts</h2>
<div class="wide"><table class="counts">
<caption>Statements of the papers by verdict; errors of refuted statements by grade (claims that
fail for the same reason share an error); and added rows: corrected statements, further facts, and
optima to compare with stated steps</caption>
<thead><tr>{heading}</tr></thead>
{bodies}
</table></div>"""


def _lines(headings: Mapping[str, str], columns: Sequence[Mapping[str, int]]) -> str:
    """Return the table rows of a block of counts; empty if all counts are zero."""
    return "\n".join(
        _line(text, [column[name] for column in columns])
        for name, text in headings.items()
        if columns[-1][name]
    )


def _line(text: str, counted: Sequence[int]) -> str:
    cells = "".join(f"<td>{number or ''}</td>" for number in counted)
    return f'<tr><th scope="row">{text}</th>{cells}</tr>'


def findings(papers: Sequence[Paper], rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the main findings that have a claim with a verdict."""
    known = {row["id"] for row in rows}
    every = sorted(
        (finding for found in papers for finding in found.findings if set(finding.claims) & known),
        key=lambda finding: finding.number,
    )
    if not every:
        return ""
    items = "\n".join(_finding(finding, known) for finding in every)
    needed = command_html('pip install "mpinet[measure]"')
    return f"""<h2 id="findings">Main findings</h2>
<p class="quiet">Each command prints the witness; without a checkout, after {needed}.</p>
<ol class="findings">
{items}
</ol>"""


def _finding(finding: MainFinding, known: set[str]) -> str:
    claims = " ".join(link(claim) for claim in finding.claims if claim in known)
    number, title = finding.number, typeset(finding.title)
    return f"""<li value="{number}" id="finding-{number}"><b>{title}</b>
{typeset(finding.text)} <span class="quiet">{claims}</span><br>
{command_html(finding.command)}</li>"""


def reading() -> str:
    """Return the explanation of the words and signs in the tables."""
    return """<h2 id="reading">How to read the tables</h2>
<p>A claim <b>holds</b> if the measurement agrees at every tested point. The columns <i>measured</i>
and <i>claimed</i> show the last point. A <b>refuted</b> claim fails at the witness, the first
failing point of its range. The command next to the witness repeats the measurement, and the line
below counts the failing points. A stated number of steps is <b>beaten</b> if fewer steps are
possible, which is no refutation. An <b>open</b> claim could not be tested. The <i>claimed</i> value
is the paper's formula or printed number. A note names corrections of the printed text, the chosen
reading, or a substitute for a network without existence. The sign before the claimed value is the
claimed relation: = &lt; &lt;= &gt; &gt;= as usual, ~ within a tolerance, <i>in</i> a range of
values. The words <i>all</i>, <i>exists</i>, <i>iso</i> (isomorphic), <i>iff</i>, <i>superset</i>
and =&gt; state a fact, which is true (yes) or false (no). In the papers' tables a cell shows the
measured value, after the printed value if that is wrong, and links to its claim.</p>"""
