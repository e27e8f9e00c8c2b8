"""The page's head: what was run, what came out, the main findings, and how to read the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from shlex import join
from typing import Any

import mpinet
from mpinet.claims.paper import MainFinding, Paper
from mpinet.report.ledger.mathml import typeset
from mpinet.report.ledger.remade import link

COLUMNS = {
    "claims": "claims",
    "holds": "hold",
    "formulas": "of these, formula against formula",
    "refuted": "refuted",
    "errors": "distinct errors",
    "open": "open",
    "error": "failed",
    "corrections": "corrected statements of ours",
}
"""What is counted of a paper, and its heading."""


USED = ("python", "numpy", "numba", "networkx", "mpi4py", "mpi")
"""Whose versions are told."""


def head(document: Mapping[str, Any]) -> str:
    """Title, date, versions, and how to run it again."""
    made = document.get("made") or {}
    command = join(document["command"])
    commit = made.get("commit")
    versions = [f"mpinet {document['mpinet']}"]
    versions += [f"{name} {made[name]}" for name in USED if made.get(name)]
    ranks = document["ranks"]
    told = {
        "date": made.get("date") or "-",
        "commit": commit or "none: made by an installed package",
        "digest": document["digest"],
        "seed": str(document["seed"]),
        "ranks": str(ranks),
        "versions": ", ".join(versions),
        "command": command,
    }
    listed = "\n".join(
        f"<dt>{name}</dt><dd>{f'<code>{escape(text)}</code>' if name in CODE else escape(text)}"
        "</dd>"
        for name, text in told.items()
    )
    return f"""<header>
<h1>The ledger</h1>
<p class="lead">What papers on interconnection networks claim, and what comes out when each claim is
measured on an emulator.</p>
<dl>
{listed}
</dl>
<h2 id="rerun">To run it again</h2>
<pre><code>{escape(_rerun(command, commit))}</code></pre>
<p>The digest is the same for any number of ranks, and the same again if nothing has changed:
<code>mpinet verify --from ledger.json --html page.html</code> makes this page of the result file,
without measuring.</p>
<p class="quiet">mpinet {escape(mpinet.__version__)}, MIT License, © 2026 mpinet developers.
The networks are defined in the documentation, a page for each paper
(<code>docs/papers/</code>), with readings and corrections.</p>
</header>"""


CODE = ("commit", "digest", "command")
"""What is set as code."""


def _rerun(command: str, commit: str | None) -> str:
    """The commands from a fresh checkout to this result."""
    at = commit.rstrip("+") if commit else "COMMIT"
    words = command if "--out" in command.split() else f"{command} --out ledger.json"
    return (
        f"git clone REPOSITORY mpinet && cd mpinet && git checkout {at}\n"
        f"launch/setup\n. .venv/bin/activate\n{words}"
    )


def counts(summary: Mapping[str, Any], papers: Sequence[Paper]) -> str:
    """The verdicts by paper."""
    heading = "".join(f'<th scope="col">{text}</th>' for text in ["paper", *COLUMNS.values()])
    lines = "\n".join(
        _line(f'<a href="#paper-{escape(found.room)}">{escape(found.room)}</a>', row)
        for found, row in zip(papers, summary["papers"], strict=True)
    )
    return f"""<h2 id="counts">Verdicts</h2>
<div class="wide"><table class="counts">
<caption>Claims by paper and verdict; claims that fail for one reason count as one error</caption>
<thead><tr>{heading}</tr></thead>
<tbody>
{lines}
</tbody>
<tfoot>{_line("all", summary["all"])}</tfoot>
</table></div>"""


def _line(name: str, row: Mapping[str, Any]) -> str:
    cells = "".join(f"<td>{row[column] or ''}</td>" for column in COLUMNS)
    return f'<tr><th scope="row">{name}</th>{cells}</tr>'


def findings(papers: Sequence[Paper], rows: Sequence[Mapping[str, Any]]) -> str:
    """The main findings of which a claim was judged."""
    known = {row["id"] for row in rows}
    every = sorted(
        (one for found in papers for one in found.findings if set(one.claims) & known),
        key=lambda one: one.number,
    )
    if not every:
        return ""
    items = "\n".join(_finding(one, known) for one in every)
    return f"""<h2 id="findings">Main findings</h2>
<ol class="findings">
{items}
</ol>"""


def _finding(one: MainFinding, known: set[str]) -> str:
    claims = " ".join(link(claim) for claim in one.claims if claim in known)
    return f"""<li value="{one.number}" id="finding-{one.number}"><b>{typeset(one.title)}</b>
{typeset(one.text)} <span class="quiet">{claims}</span><br>
<code>{escape(one.command)}</code></li>"""


def reading() -> str:
    """What the words and signs of the tables mean."""
    return """<h2 id="reading">How to read the tables</h2>
<p>A claim that <b>holds</b> does so on the range that is given, where <i>measured</i> and
<i>claimed</i> are those of the last point. A <b>refuted</b> one fails at the witness, the first
point of its range that does, and the command beside it measures that again; below stands at how
many points it fails. An <b>open</b> one could not be tested. What is <i>claimed</i> is the paper's
formula or printed number; a note says where printed text was corrected, which reading was taken,
or what stands in for a network that does not exist. Before it stands the relation that has to hold:
= &lt; &lt;= &gt; &gt;= as usual, ~ within a tolerance, <i>in</i> a range of values; <i>all</i>,
<i>exists</i>, <i>iso</i> (isomorphic), <i>iff</i>, <i>superset</i> and =&gt; state a fact, which is
so (yes) or not (no). In the papers' tables a cell shows what was measured, behind the printed value
where that is wrong, and leads to its claim.</p>"""
