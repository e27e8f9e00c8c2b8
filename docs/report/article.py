"""Make the PDF of the report as a replication article, in the form of ReScience C.

Usage: python docs/report/article.py ARTICLE.pdf

The text is the report's page, built by launch/docs. The front matter is metadata.yaml, in the
journal's fields. Needs pypandoc-binary and typst (pip install pypandoc-binary typst).
"""

import base64
import json
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pypandoc
import typst

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "_build/html/report/index.html"

STYLES = HERE.parent / "_static/ledger.css"

DROPPED = [
    r'<a class="headerlink".*?</a>',
    r"<(style|script|button|nav|details)\b.*?</\1>",
    r'<p><a class="reference[^>]*>\s*</a></p>',
]
"""Parts of the page that serve the screen only."""


def text_of(page: str) -> str:
    """Return the report's sections from the HTML of its page."""
    body = page[page.index('<section id="abstract"') : page.rindex("</section>")] + "</section>"
    for part in DROPPED:
        body = re.sub(part, "", body, flags=re.DOTALL)
    # The page's title is in the front matter, so each heading moves up by one level.
    return re.sub(r"(</?h)([2-6])\b", lambda found: f"{found[1]}{int(found[2]) - 1}", body)


def coloured(body: str) -> str:
    """Return the sections with the styles of the site inside the plots."""
    colours = dict(re.findall(r"--c(\d): (#\w+)", STYLES.read_text().partition("@media")[0]))
    rules = ["text { font-family: 'Libertinus Serif'; font-size: 10px }"]
    rules += ["polyline { fill: none; stroke-width: 1.8 }"]
    rules += ["line.grid { stroke: #ddd } .claimed { stroke-dasharray: 5 4 }"]
    rules += ["circle.claimed { stroke-dasharray: none; fill-opacity: 0.35 }"]
    for curve, colour in colours.items():
        rules += [f".curve{curve} {{ stroke: {colour} }} circle.curve{curve} {{ fill: {colour} }}"]
    style = f"<style>{' '.join(rules)}</style>"
    body = re.sub(r'(<svg viewBox="0 0 560[^>]*>)', rf"\1{style}", body)
    return re.sub(
        r'<li class="(curve\d) \w+"><svg class="sample" viewBox="0 0 26 12"[^>]*>',
        rf'<li><svg width="26" height="12" viewBox="0 0 26 12">{style}<g class="\1">',
        body,
    ).replace('y1="6" y2="6"/></svg>', 'y1="6" y2="6" stroke-width="1.8"/></g></svg>')


PICTURE = re.compile(r'image\.decode\("<svg .*?base64,([^\\]+).*?</svg>"', re.DOTALL)
"""pandoc's form of a plot: a picture in a picture, whose text has no fonts."""


def picture(found: re.Match[str]) -> str:
    """Return Typst's call for a plot of the page."""
    plot = base64.b64decode(found[1]).decode()
    plot = plot.replace("viewbox=", 'xmlns="http://www.w3.org/2000/svg" viewBox=', 1)
    return f"picture({json.dumps(plot, ensure_ascii=False)}"


def main() -> None:
    """Convert the page to Typst, and the Typst to PDF."""
    if not PAGE.exists():
        sys.exit("docs/report/article.py needs the report's page: run launch/docs first.")
    options = [f"--template={HERE / 'article.typ'}", f"--metadata-file={HERE / 'metadata.yaml'}"]
    with TemporaryDirectory() as folder:
        file = Path(folder, "article.typ")
        text = pypandoc.convert_text(
            coloured(text_of(PAGE.read_text(encoding="utf-8"))),
            "typst",
            format="html-native_divs-native_spans",
            extra_args=options,
        )
        file.write_text(PICTURE.sub(picture, text), encoding="utf-8")
        typst.compile(str(file), output=sys.argv[1])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
