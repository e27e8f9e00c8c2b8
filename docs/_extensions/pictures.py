"""The pictures that pages name: the docs build makes each with the page's own command.

``![alt text](file)`` names a picture. The first command line or script of the page that contains
the file's name makes the picture, in a new folder with the files of the page. A command also
contains the names in a page's file that it names, such as the output of a plan. A picture that
the repository contains needs no command.
"""

from __future__ import annotations

import re
import sys
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

from docutils import nodes
from pagecommands import (
    BUILD,
    DOCS,
    SCRIPT,
    files_of,
    folder_with,
    lines_of,
    results,
    run_line,
    run_outside,
    serve,
)
from sphinx.errors import ExtensionError
from sphinx.transforms import SphinxTransform

MADE = BUILD / "pictures"
"""The folder with the made pictures, in a folder per page."""

IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
"""A picture in a line of text: the alt text and the file."""

DIRECTIVE = re.compile(
    r"^([`:]{3,})\{(?:image|figure)\}[ \t]+(\S+)\n(.*?)^\1", re.DOTALL | re.MULTILINE
)
"""A picture as a directive: the file, and the lines with options."""

BLOCK = re.compile(r"^(`{3,}).*?^\1", re.DOTALL | re.MULTILINE)
"""A block of code."""


class PictureError(ExtensionError):
    """A page names a picture without an alt text, or a picture that no command makes."""


def named(page: str) -> dict[str, str]:
    """Return the alt text of each picture that a page's text names, by file."""
    found = {}
    for _, file, options in DIRECTIVE.findall(page):
        alt = re.search(r"^:alt:[ \t]*(.*)$", options, re.MULTILINE)
        found[file] = alt[1] if alt else ""
    return found | {file: alt for alt, file in IMAGE.findall(BLOCK.sub("", page))}


def maker(page: str, picture: str) -> str | None:
    """Return the first command line or script of a page that makes a picture."""
    files = files_of(page)
    scripts = [script for script in SCRIPT.findall(page) if script not in files.values()]
    for step in [*lines_of(page), *scripts]:
        plans = [text for name, text in files.items() if contains(step, name)]
        if any(contains(text, picture) for text in [step, *plans]):
            return step
    return None


def contains(text: str, name: str) -> bool:
    """Return whether a text contains the name of a file as a word."""
    return re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w-])", text) is not None


def jobs_of(pages: dict[str, Path]) -> dict[str, dict[str, Any]]:
    """Return the commands that make the pictures of all pages, as jobs for `make`.

    Parameters
    ----------
    pages : dict
        The file of each page, by the page's name.

    Raises
    ------
    PictureError
        A picture has no alt text, or no command of its page makes the picture.
    """
    jobs: dict[str, dict[str, Any]] = {}
    for page, path in pages.items():
        text = path.read_text()
        for picture, alt in named(text).items():
            if not alt.strip():
                raise PictureError(f"{page}: the picture {picture} has no alt text")
            if (path.parent / picture).exists():
                continue
            step = maker(text, picture)
            if step is None:
                raise PictureError(f"{page}: no command of the page makes the picture {picture}")
            job = {"page": page, "files": files_of(text), "step": step, "pictures": []}
            jobs.setdefault(f"{page}: {step}", job)["pictures"].append(picture)
    return jobs


def make(job: dict[str, Any]) -> dict[str, str]:
    """Run a command of a page, and return its pictures in base 64."""
    step = job["step"]
    with folder_with(job["files"]) as folder:
        if "\n" in step:
            run_outside([sys.executable, "-c", step])
        else:
            run_line(step)
        for picture in job["pictures"]:
            if not (folder / picture).exists():
                raise PictureError(f"{job['page']}: '{step}' does not make the picture {picture}")
        return {name: b64encode(Path(name).read_bytes()).decode() for name in job["pictures"]}


def write_pictures(_app: Any = None) -> None:
    """Write the new and the changed pictures of all pages."""
    paths = [path for path in sorted(DOCS.rglob("*.md")) if BUILD not in path.parents]
    pages = {str(path.relative_to(DOCS).with_suffix("")): path for path in paths}
    jobs = jobs_of(pages)
    for name, made in results(__file__, jobs).items():
        folder = MADE / jobs[name]["page"]
        folder.mkdir(parents=True, exist_ok=True)
        for picture, text in made.items():
            file, picture_bytes = folder / picture, b64decode(text)
            # Sphinx reads a page again if one of its pictures is new.
            if not file.exists() or file.read_bytes() != picture_bytes:
                file.write_bytes(picture_bytes)


def width_of(picture: Path) -> str:
    """Return the width of an SVG picture as an attribute of HTML; empty without a width."""
    found = re.search(r'<svg[^>]*? width="([\d.]+)pt"', picture.read_text(errors="replace"))
    return f"{float(found[1]) * 4 / 3:.0f}px" if found else ""


class Made(SphinxTransform):
    """Replaces the names of made pictures by their files."""

    default_priority = 200

    def apply(self, **_: Any) -> None:
        """Look for each picture of the page among the made ones."""
        for image in self.document.findall(nodes.image):
            made = MADE / self.env.docname / image["uri"]
            if made.exists():
                image["uri"] = f"/{made.relative_to(DOCS)}"
                # Sphinx links a picture with a width to its file: a narrow screen shows small text.
                if width := width_of(made):
                    image["width"] = width


def setup(app: Any) -> dict[str, bool]:
    """Make the pictures before Sphinx reads the pages."""
    app.connect("builder-inited", write_pictures)
    app.add_transform(Made)
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    serve(make)
