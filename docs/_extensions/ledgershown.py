"""Directives that show the ledger's measurements: tables, figures, and what holds where in a paper.

They read the document of verdicts that the pages show (`ledger.published`).
"""

import re

from docutils import nodes
from ledger import ID, claim_page, document, plain_table, published
from sphinx.util.docutils import SphinxDirective

from mpinet.claims.ledger import claims_of, paper
from mpinet.claims.summary import summary
from mpinet.report.ledger.plot import drawn
from mpinet.report.ledger.remade import remade

LINK = re.compile(rf'href="#({ID.pattern[2:]})"')

VERDICTS = ("holds", "refuted", "open")


class Figures(SphinxDirective):
    """``{ledger-figures} PAPER``: its tables and figures, made again of measured values."""

    required_arguments = 1

    def run(self):
        """The HTML of the ledger's page, with links to the rows of the papers' pages."""
        self.env.note_reread()
        found, rows = paper(self.arguments[0]), published()
        parts = [remade(found, rows), *(drawn(plot, rows) for plot in found.plots)]
        html = relinked("\n".join(parts), "../" * self.env.docname.count("/"))
        return [nodes.raw("", f'<div class="ledger-figures">{html}</div>', format="html")]


def relinked(html, up):
    """Lead links to claims, which the ledger's page has on itself, to the papers' pages."""
    return LINK.sub(lambda claim: f'href="{up}{claim_page(claim[1])}"', html)


class Sections(SphinxDirective):
    """``{ledger-sections} PAPER``: its claims by their place in the paper, counted by verdict."""

    required_arguments = 1

    def run(self):
        """A table with a row for each section, theorem or table."""
        self.env.note_reread()
        rows, counted = published(), {}
        for claim in claims_of(self.arguments[0]):
            if not claim.ours and claim.id in rows:
                place = re.split("[,;(/]| row ", claim.place)[0].strip()
                counted.setdefault(place, []).append(rows[claim.id]["verdict"])
        header = ("place", "claims", *VERDICTS)
        lines = [
            (place, str(len(found)), *(str(found.count(word) or "") for word in VERDICTS))
            for place, found in counted.items()
        ]
        return [plain_table(header, lines, (40, 15, 15, 15, 15))]


class Numbers(SphinxDirective):
    """``{ledger-numbers}``: the counts of the abstract, in a sentence."""

    def run(self):
        """A paragraph."""
        self.env.note_reread()
        return [nodes.paragraph(text=numbers(list(published().values())))]


def numbers(rows):
    """The counts of verdicts, in two sentences."""
    found = summary(rows)["all"]
    stated, errors = found["stated"], found["grades"]
    points = sum(row["points"] for row in rows)
    graded = ", ".join(f"{number} {grade}{'s' * (number != 1)}" for grade, number in errors.items())
    return (
        f"Of {stated['claims']} statements {stated['holds']} hold on the networks that were "
        f"tested, {stated['refuted']} are refuted, {stated['open']} are open. The refutations "
        f"go back to {found['errors']} distinct errors: {graded}. "
        f"{found['claims'] - stated['claims']} rows of ours stand beside them; all rows "
        f"together were measured at {points:,} points."
    )


class Digest(SphinxDirective):
    """``{ledger-digest}``: the command and the digest of the document that is shown."""

    def run(self):
        """A paragraph; literals, in which no typographer changes dashes."""
        self.env.note_reread()
        shown = document()
        made = nodes.paragraph("", "", nodes.Text("Shown is the result of "))
        made += nodes.literal(text=" ".join(shown["command"]))
        made += [nodes.Text(", digest "), nodes.literal(text=shown["digest"]), nodes.Text(".")]
        return [made]


def setup(app):
    """Make the directives known to Sphinx."""
    app.add_directive("ledger-figures", Figures)
    app.add_directive("ledger-sections", Sections)
    app.add_directive("ledger-numbers", Numbers)
    app.add_directive("ledger-digest", Digest)
    return {"parallel_read_safe": True}
