"""The directive ``gallery``: every family with a picture, made by mpinet itself in every build."""

from html import escape

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

import mpinet
from mpinet.networks.catalogue import FAMILIES, families
from mpinet.report.drawing.page import drawing
from mpinet.report.drawing.scene import scene

WIDTH = 300
"""Of a picture, in pixels."""

MOST = 130
"""Nodes of an example that is drawn as it is."""

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
"""Smaller networks of families whose example is too large to see anything."""


class Gallery(SphinxDirective):
    """``{gallery}``: a section for every family."""

    def run(self):
        """Pictures and facts, made anew in every build: they depend on code."""
        self.env.note_reread()
        return [part for family in families() if family.name != "graph" for part in _shown(family)]


def _shown(family):
    """A family's name, definition, picture, parameters and source."""
    name = SMALLER.get(family.name, family.example)
    network = mpinet.open(name)
    title = nodes.rubric(text=family.name)
    module, _, cls = FAMILIES[family.name].partition(":")
    said = (getattr(__import__(module, fromlist=[cls]), cls).__doc__ or "").strip().splitlines()[0]
    facts = f"{name}: {network.hosts} processors, at most {network.ports} ports"
    what = nodes.paragraph(text=f"{said} Parameters: {family.range or 'none'}.")
    source = nodes.paragraph(text=f"Source: {family.paper}; defined in {family.specification}.")
    parts = [title, what, source]
    if network.size <= 2 * MOST:
        figure = f"<figure>{drawing(scene(network), WIDTH)}<figcaption>{escape(facts)}</figcaption>"
        parts.insert(1, nodes.raw("", figure + "</figure>", format="html"))
    return parts


def setup(app):
    """Make the directive known to Sphinx."""
    app.add_directive("gallery", Gallery)
    return {"parallel_read_safe": True}
