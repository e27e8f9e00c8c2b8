"""Directives that show the ledger's measurements: tables, figures, and verdicts by section.

They use the document of verdicts that the pages show (`ledger.published`).
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
    """``{ledger-figures} PAPER``: the paper's tables and figures with measured values."""

    required_arguments = 1

    def run(self):
        """Return the HTML of the ledger's page, with links to rows on the papers' pages."""
        self.env.note_reread()
        found, rows = paper(self.arguments[0]), published()
        parts = [remade(found, rows), *(drawn(plot, rows) for plot in found.plots)]
        html = relinked("\n".join(parts), "../" * self.env.docname.count("/"))
        return [nodes.raw("", f'<div class="ledger-figures">{html}</div>', format="html")]


def relinked(html, up):
    """Change links to claims within the ledger's page into links to the papers' pages."""
    return LINK.sub(lambda claim: f'href="{up}{claim_page(claim[1])}"', html)


class Sections(SphinxDirective):
    """``{ledger-sections} PAPER``: the paper's claims by place, counted by verdict."""

    required_arguments = 1

    def run(self):
        """Return a table with a row for each section, theorem or table."""
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
    """``{ledger-numbers}``: the counts of the abstract, as a paragraph."""

    def run(self):
        """Return the paragraph."""
        self.env.note_reread()
        return [nodes.paragraph(text=numbers(list(published().values())))]


def numbers(rows):
    """Return sentences with the counts of verdicts."""
    found = summary(rows)["all"]
    stated, errors = found["stated"], found["grades"]
    points = sum(row["points"] for row in rows)
    graded = ", ".join(f"{number} {grade}{'s' * (number != 1)}" for grade, number in errors.items())
    return (
        f"Of {stated['claims']} statements {stated['holds']} hold on the tested networks, "
        f"{stated['refuted']} are refuted, {stated['open']} are open. The refutations "
        f"are caused by {found['errors']} distinct errors: {graded}. We added "
        f"{found['claims'] - stated['claims']} rows. All rows together were measured at "
        f"{points:,} points. The statements are tests of {found['sentences']} distinct sentences; "
        f"{found['both']} of these have rows that hold and rows that are refuted, by reading or by "
        "network."
    )


class Digest(SphinxDirective):
    """``{ledger-digest}``: command and digest of the shown document."""

    def run(self):
        """Return a paragraph; its literals keep their hyphens."""
        self.env.note_reread()
        shown = document()
        made = nodes.paragraph("", "", nodes.Text("These pages show the result of "))
        made += nodes.literal(text=" ".join(shown["command"]))
        made += [nodes.Text(", digest "), nodes.literal(text=shown["digest"]), nodes.Text(".")]
        return [made]


def setup(app):
    """Register the directives."""
    app.add_directive("ledger-figures", Figures)
    app.add_directive("ledger-sections", Sections)
    app.add_directive("ledger-numbers", Numbers)
    app.add_directive("ledger-digest", Digest)
    return {"parallel_read_safe": True}
