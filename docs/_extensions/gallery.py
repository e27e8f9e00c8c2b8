"""The directive ``gallery``: a card for each family, made by mpinet itself in every build.

A card has the family's picture, closed forms, measures of its example, routings, its source with
the DOI, and an anchor. Families in use today come first. Filters are in _static/gallery.js; without
scripts all cards are shown.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from docutils import nodes
from formulae import ANY_SIZE, CONSTANT, FORMULAE, IN_USE, shown
from sphinx.util.docutils import SphinxDirective

import mpinet
from mpinet.networks.catalogue import FAMILIES, Family, families
from mpinet.report.drawing.page import drawing
from mpinet.report.drawing.scene import scene

DOCS = Path(__file__).parents[1]

WIDTH = 300
"""Width of a picture, in pixels."""

MOST = 130
"""Largest number of nodes of an example drawn at its own size."""

SMALLER = {
    "hypercube": "hypercube:4",
    "torus": "torus:5x5",
    "bsn": "bsn:2,2,5",
    "gmn": "gmn:5,40",
    "sth": "sth:2,2",
    "fpq": "fpq:1,1",
    "starcube": "starcube:3,2",
    "hdn": "hdn:2x3,super=0",
    "rdn": "rdn:5,1",
}
"""Smaller networks to draw for families whose example is too large for a picture."""

FILTERS = """
<form class="gallery-filters" role="search" aria-label="Filter the networks">
<label>Name <input type="search" name="word" placeholder="torus, cube, .."></label>
<label>Degree <select name="degree"><option value="">any</option>
<option value="constant">constant</option>
<option value="growing">grows with the size</option></select></label>
<label>Sizes <select name="size"><option value="">all</option>
<option value="any">any number</option><option value="powers">powers of 2</option></select></label>
<label><input type="checkbox" name="today"> in use today</label>
<output aria-live="polite"></output></form>
"""


class Gallery(SphinxDirective):
    """``{gallery}``: an index, filters, and a card per family."""

    def run(self) -> list[nodes.Node]:
        """Return the gallery, made again in every build because it depends on code."""
        self.env.note_reread()
        shown = [family for family in families() if family.name != "graph"]
        order = [*IN_USE, *(family.name for family in shown if family.name not in IN_USE)]
        shown.sort(key=lambda family: order.index(family.name))
        index = " ".join(f'<a href="#{name}">{name}</a>' for name in sorted(order))
        cards = "".join(map(_card, shown))
        html = (
            f'<nav class="gallery-index" aria-label="All networks">{index}</nav>{FILTERS}'
            f'<div class="gallery">{cards}</div>'
        )
        return [nodes.raw("", html, format="html")]


def _card(family: Family) -> str:
    """Return the card of a family."""
    name = SMALLER.get(family.name, family.example)
    network = mpinet.open(name)
    module, _, cls = FAMILIES[family.name].partition(":")
    said = (getattr(__import__(module, fromlist=[cls]), cls).__doc__ or "").strip().splitlines()[0]
    measured = f"<code>{escape(name)}</code>: {network.hosts} processors, degree {_degree(network)}"
    rows = [*_forms(family.name), ("this picture", measured)]
    if family.range:
        rows.append(("parameters", escape(family.range)))
    for title, names in network.listed_routings.items():
        rows.append((title, ", ".join(f"<code>{escape(word)}</code>" for word in names)))
    rows += [("source", _source(family)), ("defined in", _definition(family.specification))]
    table = "".join(f"<tr><th>{head}</th><td>{cell}</td></tr>" for head, cell in rows)
    today = IN_USE.get(family.name, "")
    badge = f'<p class="gallery-today">In use today: {escape(today)}</p>' if today else ""
    picture = drawing(scene(network), WIDTH) if network.size <= 2 * MOST else ""
    data = (
        f'data-degree="{"constant" if family.name in CONSTANT else "growing"}" '
        f'data-size="{_sizes(family.name)}" data-today="{"yes" if today else ""}"'
    )
    anchor = f'<a class="headerlink" href="#{family.name}" title="Link to this card">¶</a>'
    return (
        f'<section class="gallery-card" id="{family.name}" {data}><h2>{family.name}{anchor}</h2>'
        f"{badge}<figure>{picture}</figure><p>{escape(said)}</p><table>{table}</table></section>"
    )


def _degree(network: mpinet.Topology) -> int:
    """Return the largest number of links of a node, or of other members on its busses."""
    wired = ([network.neighbor(node, port) >= 0 for port in range(network.ports)]
             for node in range(network.size))  # fmt: skip
    return max(map(sum, wired))


def _forms(name: str) -> list[tuple[str, str]]:
    """Return the known closed forms of a family, with their names."""
    heads = ("processors", "degree", "diameter")
    found = zip(heads, FORMULAE.get(name, ("", "", "")), strict=True)
    return [(head, shown(formula)) for head, formula in found if formula]


def _sizes(name: str) -> str:
    """Return the possible sizes of a family: any, powers of 2, or others."""
    if name in ANY_SIZE:
        return "any"
    return "powers" if FORMULAE.get(name, ("",))[0].startswith("2**") else ""


def _source(family: Family) -> str:
    """Return a family's source, with its DOI if the page of the networks has one."""
    page = (DOCS / "networks.md").read_text()
    row = re.search(rf"^\| [^|]*`{family.name}`[^|]*\| (.*) \|$", page, re.MULTILINE)
    doi = re.search(r"https://doi\.org/[^)\s]+", row[1]) if row else None
    if doi is None:
        return escape(family.paper)
    number = doi[0].removeprefix("https://doi.org/")
    return f'{escape(family.paper)}, <a href="{escape(doi[0])}">doi:{escape(number)}</a>'


def _definition(specification: str) -> str:
    """Return links to the pages and sections that define a family."""
    links, page = [], ""
    for found in re.finditer(r"([a-z]+(?:/[a-z]+)?)?,? ?(\d+(?:\.\d+)?)", specification):
        page = found[1] or page
        label = f"{page.rpartition('/')[2]}-{found[2].replace('.', '-')}"
        links.append(f'<a href="../{page}.html#{label}">{page} {found[2]}</a>')
    return ", ".join(links)


def setup(app):
    """Register the directive, and add the filters to its page."""
    app.add_directive("gallery", Gallery)
    app.add_js_file("gallery.js", loading_method="defer")
    return {"parallel_read_safe": True}
