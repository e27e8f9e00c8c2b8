"""Directives that show the ledger: a paper's claims, errors, corrections and main findings.

The verdicts come from docs/ledger/verdicts.json, a document of ``mpinet verify``, or from another
document (``launch/docs --ledger FILE``, in the environment's MPINET_LEDGER). Without a document,
pages show only facts that need no measurement. On every page, the id of a claim links to the
claim's row, and the row of a refuted claim links to the error.
"""

import os
import re
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from mpinet.claims.cause import GRADES
from mpinet.claims.ledger import PAPERS, claims_of, paper
from mpinet.claims.summary import ours, summary
from mpinet.report.ledger.formulas import typeset
from mpinet.report.ledger.reading import read_document
from mpinet.report.ledger.terminal import extent_text
from mpinet.report.tables import cell_text

HEADER = ("claim", "statement", "verdict", "measured, and where")

VERDICTS = Path(__file__).parents[1] / "ledger/verdicts.json"

ID = re.compile(r"\b((?:GBSN|GMN|HDN|LENS|STH)-[\w-]*\w)")

STATED = {
    "claims": "claims",
    "holds": "hold",
    "formulas": "of these by formula",
    "refuted": "refuted",
    "open": "open",
}
"""Headings of the counts of a paper's own claims."""


class Ledger(SphinxDirective):
    """``{ledger} PAPER``: every claim of the paper, with its verdict, witness, reading and note."""

    required_arguments = 1

    def run(self):
        """Return the table, made again in every build because it depends on code."""
        self.env.note_reread()
        room, rows = self.arguments[0], published()
        group, table = _empty(HEADER, (24, 36, 10, 30))
        claims = claims_of(room)
        group += nodes.tbody("", *[_claim(room, claim, rows.get(claim.id)) for claim in claims])
        return [table]


def _claim(room, claim, row):
    """Return a claim's row: id and place, statement, verdict, and measurement."""
    name = nodes.paragraph("", "", nodes.literal(text=claim.id), ids=[_anchor(claim.id)])
    place = nodes.paragraph(text=claim.place)
    if claim.kept or claim.id in _tabled(room):
        shown = f"../ledger/{room}.html#tables-and-figures"
        place += [nodes.Text(" "), nodes.reference("", "shown", refuri=shown)]
    said = [nodes.paragraph(text=claim.statement)]
    if claim.quotation:
        words, at = claim.quotation.text, claim.quotation.place
        said += [
            nodes.paragraph(
                "", "", nodes.literal(text=words, classes=["quotation"]), nodes.Text(f" ({at})")
            )
        ]
    if claim.reading:
        reading = nodes.reference("", "Reading", refuri=f"#{room}-readings")
        said.append(nodes.paragraph("", "", reading, nodes.Text(f": {claim.reading}")))
    if claim.note:
        said.append(nodes.paragraph(text=f"Note: {claim.note}"))
    if row is None:
        row = {
            "verdict": "not measured" if claim.measured else "open",
            "cause": "",
            "points": 0,
            "witness": None,
            "replay": None,
            "nondegenerate": None,
            "reason": claim.reason,
            "range": claim.grid.text,
        }
    verdict = nodes.paragraph(text=row["verdict"])
    if row["cause"]:
        to = f"../ledger/{room}.html#error-{row['cause']}"
        verdict += [nodes.Text(": "), nodes.reference("", row["grade"] or "error", refuri=to)]
    cells = ([name, place], said, [verdict], _shown(row))
    return nodes.row("", *[nodes.entry("", *cell) for cell in cells])


def _shown(row):
    """Return measured and claimed value, tested range or failing points, and witness."""
    parts = []
    if row["points"]:
        parts.append(
            f"{_short(row['measured'])}; claimed {row['relation']} {_short(row['claimed'])}"
        )
    if row["witness"]:
        parts.append(extent_text(row))
    else:
        parts += [row["reason"] or ("" if row["points"] else row["range"])]
    parts += [f"tested: {row['tested']}"] if row["points"] else []
    found = [nodes.paragraph(text=text) for text in parts if text]
    commands, fair = [row["replay"]], row["nondegenerate"]
    if fair is not None and fair["replay"] != row["replay"]:
        values = f"{_short(fair['measured'])}; claimed {row['relation']} {_short(fair['claimed'])}"
        commands += [f"not degenerate: {values}", fair["replay"]]
    found += [
        nodes.paragraph(
            "", "", nodes.literal(text=text) if text.startswith("mpinet") else nodes.Text(text)
        )
        for text in commands
        if text
    ]
    return found


def _short(value):
    """Return a value as text, cut if it is long."""
    text = cell_text(value) if not isinstance(value, dict) else ", ".join(
        f"{name}: {cell_text(part)}" for name, part in value.items())  # fmt: skip
    return text if len(text) <= MOST else f"{text[:MOST]} .."


MOST = 80
"""Largest number of characters of a value."""


def _anchor(claim):
    return f"claim-{claim}"


@cache
def _tabled(room):
    """Return the claims that occur in a paper's reproduced tables."""
    return {claim for table in paper(room).tables for claim in table.claims()}


@cache
def _rooms():
    """Return the paper of each claim, by claim id."""
    return {claim.id: room for room in PAPERS for claim in claims_of(room)}


def link_claims(app, doctree, docname):
    """Turn each id of a claim into a link to its row."""
    known, up = _rooms(), "../" * docname.count("/")
    for literal in list(doctree.findall(nodes.literal)):
        claim = literal.astext()
        own = isinstance(literal.parent, nodes.reference) or _anchor(claim) in literal.parent.get(
            "ids", ()
        )
        if claim in known and not own:
            to = f"{up}{claim_page(claim)}"
            literal.replace_self(nodes.reference("", "", literal.deepcopy(), refuri=to))


class Counts(SphinxDirective):
    """``{ledger-counts}``: the counts of every paper."""

    def run(self):
        """Return a table with counts of verdicts, or of claims if there is no document."""
        self.env.note_reread()
        shown = document()
        if shown is None:
            header = ("paper", "claims", "by formula", "named errors", "added rows")
            return [plain_table(header, [(room, *_static(room)) for room in PAPERS], (20,) * 5)]
        found = summary(shown["result"])
        rows = [
            (name, *_counted(row))
            for name, row in [
                *((row["paper"], row) for row in found["papers"]),
                ("all", found["all"]),
            ]
        ]
        made = nodes.paragraph("", "Made by ")  # literals keep their hyphens
        made += nodes.literal(text=" ".join(shown["command"]))
        made += nodes.Text("; digest ")
        made += nodes.literal(text=shown["digest"])
        header = (
            "paper",
            *STATED.values(),
            "sentences",
            "both verdicts",
            "distinct errors",
            *GRADES,
            "added rows",
            "beaten",
        )
        return [plain_table(header, rows, (8,) * len(header)), made]


class Errors(SphinxDirective):
    """``{ledger-errors} PAPER``: the paper's errors, each with the claims that it refutes."""

    required_arguments = 1

    def run(self):
        """Return the list of errors."""
        self.env.note_reread()
        room = self.arguments[0]
        claims, rows = claims_of(room), published()
        items = [
            (
                f"{cause.sentence} ({cause.grade})",
                "; ".join(_extent(claim, rows) for claim in claims if claim.cause == name),
                f"error-{name}",
            )
            for name, cause in paper(room).causes.items()
        ]
        return _list(items) or [nodes.paragraph(text=f"`mpinet verify {room}` lists them.")]


class Corrections(SphinxDirective):
    """``{ledger-corrections} PAPER``: corrected statements in place of refuted ones."""

    required_arguments = 1

    def run(self):
        """Return the list of corrected statements."""
        self.env.note_reread()
        rows = published()
        items = [
            (
                claim.statement,
                f"{claim.id}, in place of {claim.corrects}; {_range(claim, rows)}",
                "",
            )
            for claim in claims_of(self.arguments[0])
            if claim.corrects
        ]
        none = "This paper has no corrected statements with their own claims."
        return _list(items) or [nodes.paragraph(text=none)]


class Findings(SphinxDirective):
    """``{ledger-findings} [PAPER]``: main findings with the commands that print them."""

    optional_arguments = 1

    def run(self):
        """Return the findings of one paper or of all papers."""
        self.env.note_reread()
        rooms = self.arguments or PAPERS
        found = [one for room in rooms for one in paper(room).findings]
        parts = []
        for one in sorted(found, key=lambda one: one.number):
            text = f"<p><b>{one.number}. {typeset(one.title)}</b> {typeset(one.text)}</p>"
            parts.append(nodes.raw("", text, format="html"))
            commands = one.command.replace(" && ", "\n")
            parts.append(nodes.literal_block(commands, commands, language="none"))
        return parts


def document():
    """Return the shown document; None if there is none."""
    file = Path(os.environ.get("MPINET_LEDGER") or VERDICTS)
    return _read(file) if file.exists() else None


@cache
def _read(file):
    """Read a document once per build."""
    return read_document(file)


def published():
    """Return the rows of the document by claim id; empty without a document."""
    shown = document()
    return {} if shown is None else {row["id"]: row for row in shown["result"]}


def _range(claim, rows):
    """Return the tested range of a claim; the full range of a claim that was not measured."""
    tested = rows[claim.id]["tested"] if claim.id in rows else ""
    return f"tested: {tested}" if tested else claim.grid.text


def _extent(claim, rows):
    """Return a failing claim with its failing points: measured, or as described in the claim."""
    if claim.id in rows:
        return f"{claim.id} {extent_text(rows[claim.id])}"
    return f"{claim.id} fails where {claim.fails_where[0]}" if claim.fails_where else claim.id


def _counted(row):
    """Return a paper's counts: its statements, its errors by grade, and added rows."""
    stated = [row["stated"][name] for name in STATED]
    added = [ours(row)["claims"], row["beaten"]]
    stated += [row["sentences"], row["both"]]
    return tuple(map(str, (*stated, row["errors"], *row["grades"].values(), *added)))


def _static(room):
    """Return counts of a paper's claims that need no measurement."""
    claims = claims_of(room)
    stated = [claim for claim in claims if not claim.ours]
    by_formula = sum(not claim.measures for claim in stated)
    counts = len(stated), by_formula, len(paper(room).causes), len(claims) - len(stated)
    return tuple(map(str, counts))


def _list(items):
    """Return a list of typeset texts, each with a remark."""
    if not items:
        return []
    html = "".join(
        f"<li{_named(anchor)}>{typeset(text)} <small>({_remark(remark)})</small></li>"
        for text, remark, anchor in items
    )
    return [nodes.raw("", f"<ol>{html}</ol>", format="html")]


def _named(anchor):
    return f' id="{anchor}"' if anchor else ""


def _remark(text):
    """Return a remark with typeset formulas and linked claim ids."""
    parts = ID.split(text)
    return "".join(
        _linked(part) if place % 2 else typeset(part) for place, part in enumerate(parts)
    )


def _linked(claim):
    """Return a claim's id with a link to its row, for a page of docs/ledger."""
    return f'<a href="../{claim_page(claim)}"><code>{claim}</code></a>'


def claim_page(claim):
    """Return the page and anchor of a claim's row."""
    return f"papers/{claim.partition('-')[0].lower()}.html#{_anchor(claim)}"


def plain_table(header, rows, widths):
    """Return a table of plain texts."""
    group, table = _empty(header, widths)
    group += nodes.tbody("", *[_row(cells) for cells in rows])
    return table


def _empty(header, widths):
    """Return a table without a body, and its group, to which a body can be added."""
    table = nodes.table(classes=["ledger"])
    group = nodes.tgroup(cols=len(header))
    table += group
    group += [nodes.colspec(colwidth=width) for width in widths]
    group += nodes.thead("", _row(header))
    return group, table


def _row(cells):
    entries = [nodes.entry("", nodes.paragraph(text=text)) for text in cells]
    return nodes.row("", *entries)


def setup(app):
    """Register the directives."""
    app.connect("doctree-resolved", link_claims)
    app.add_directive("ledger", Ledger)
    app.add_directive("ledger-counts", Counts)
    app.add_directive("ledger-errors", Errors)
    app.add_directive("ledger-corrections", Corrections)
    app.add_directive("ledger-findings", Findings)
    return {"parallel_read_safe": True}
