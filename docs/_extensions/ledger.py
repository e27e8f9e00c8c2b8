"""The directive ``ledger``: a paper's claims as a table, read from the ledger itself."""

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from mpinet.claims.ledger import claims_of

HEADER = ("claim", "place", "statement", "relation")


class Ledger(SphinxDirective):
    """``{ledger} PAPER``: id, place, statement and relation of every claim of the paper."""

    required_arguments = 1

    def run(self):
        """The table, made anew in every build: it depends on code."""
        self.env.note_reread()
        rows = [
            (claim.id, claim.place, claim.statement, claim.relation if claim.measured else "open")
            for claim in claims_of(self.arguments[0])
        ]
        table = nodes.table(classes=["ledger"])
        group = nodes.tgroup(cols=len(HEADER))
        table += group
        group += [nodes.colspec(colwidth=width) for width in (25, 15, 55, 5)]
        group += nodes.thead("", _row(HEADER))
        group += nodes.tbody("", *[_row(cells) for cells in rows])
        return [table]


def _row(cells):
    entries = [nodes.entry("", nodes.paragraph(text=text)) for text in cells]
    return nodes.row("", *entries)


def setup(app):
    """Make the directive known to Sphinx."""
    app.add_directive("ledger", Ledger)
    return {"parallel_read_safe": True}
