"""Write codemeta.json from pyproject.toml and CITATION.cff, and the project's public address.

Usage: python launch/release/metadata.py [--url BASE --into FOLDER]

Without options, codemeta.json of this checkout is written. With both, FOLDER is a copy of the
sources, such as an unpacked sdist. BASE becomes the address in its pyproject.toml, README.md,
CITATION.cff and codemeta.json. In the checkout itself, links stay relative.
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[2]
CONTEXT = "https://w3id.org/codemeta/3.0"
"""Address of the vocabulary, as CodeMeta 3.0 states it."""

ADDRESS = r"https?://[\w.:-]+(?:/[\w.~-]+)*"
"""Form of BASE, without a slash at the end."""

FILES, PICTURES = "blob/HEAD", "raw/HEAD"
"""Places of pages and of plain files below BASE, as on GitHub and GitLab."""

LINK = re.compile(r"(?<=\]\()(?=[\w.])[\w./#-]+(?=\))")
PICTURE = re.compile(r'(?<=src=")[\w./-]+(?=")')
"""Relative targets in Markdown."""


def main() -> None:
    """Write codemeta.json into this checkout, or BASE into a copy."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--url", type=address, metavar="BASE", help="public address of the project")
    parser.add_argument("--into", type=Path, metavar="FOLDER", help="the copy that gets BASE")
    given = parser.parse_args()
    if (given.url is None) != (given.into is None):
        parser.error("--url and --into belong together")
    if given.url is None:
        (CHECKOUT / "codemeta.json").write_text(codemeta(CHECKOUT), encoding="utf-8")
    else:
        write_address(given.url, given.into)


def address(text: str) -> str:
    """Return BASE without a slash at the end; refuse other texts."""
    base = text.rstrip("/")
    if not re.fullmatch(ADDRESS, base):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an address such as https://example.org/mpinet"
        )
    return base


def write_address(base: str, folder: Path) -> None:
    """Write the public address into the four files of a copy."""
    changed = {
        "README.md": absolute(read(folder, "README.md"), base),
        "pyproject.toml": inserted(read(folder, "pyproject.toml"), "[project.scripts]", urls(base)),
        "CITATION.cff": inserted(
            read(folder, "CITATION.cff"), "license: ", f"repository-code: {base}\n"
        ),
        "codemeta.json": codemeta(folder, base),
    }
    for name, text in changed.items():
        (folder / name).write_text(text, encoding="utf-8")


def read(folder: Path, name: str) -> str:
    """Return the text of a file."""
    return (folder / name).read_text(encoding="utf-8")


def absolute(page: str, base: str) -> str:
    """Return a page of the top folder with absolute links and pictures."""
    page = PICTURE.sub(lambda found: f"{base}/{PICTURES}/{found[0]}", page)
    return LINK.sub(lambda found: f"{base}/{FILES}/{found[0]}", page)


def urls(base: str) -> str:
    """Return the table of addresses for pyproject.toml."""
    addresses = {
        "Homepage": base,
        "Documentation": f"{base}/{FILES}/docs/index.md",
        "Repository": base,
        "Issues": f"{base}/issues",
        "Changelog": f"{base}/{FILES}/CHANGELOG.md",
    }
    lines = [f'{name} = "{value}"\n' for name, value in addresses.items()]
    return "".join(["[project.urls]\n", *lines, "\n"])


def inserted(text: str, before: str, lines: str) -> str:
    """Return a text with further lines before the only line with this beginning."""
    if text.count(f"\n{before}") != 1:
        raise SystemExit(f"launch/release/metadata.py: no single line begins with {before!r}")
    return text.replace(f"\n{before}", f"\n{lines}{before}")


def codemeta(folder: Path, base: str | None = None) -> str:
    """Return the text of codemeta.json for a checkout, with its public address if known."""
    project = tomllib.loads(read(folder, "pyproject.toml"))["project"]
    citation = read(folder, "CITATION.cff")
    described: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "SoftwareSourceCode",
        "name": project["name"],
        "description": project["description"],
        "version": entry(citation, "version"),
        "license": f"https://spdx.org/licenses/{project['license']}",
        "author": [{"@type": "Organization", "name": each["name"]} for each in project["authors"]],
        "keywords": project["keywords"],
        "programmingLanguage": "Python",
        "runtimePlatform": f"Python {project['requires-python']}",
        "operatingSystem": "POSIX",
        "softwareRequirements": project["dependencies"],
    }
    if not described["version"].endswith("dev0"):
        described["dateModified"] = entry(citation, "date-released")
    if base is not None:
        described |= {"codeRepository": base, "issueTracker": f"{base}/issues"}
    return json.dumps(described, indent=2) + "\n"


def entry(citation: str, key: str) -> str:
    """Return a line's value of CITATION.cff, at the top level."""
    found = re.search(rf"^{key}: (.+)$", citation, re.MULTILINE)
    if found is None:
        raise SystemExit(f"launch/release/metadata.py: CITATION.cff has no line '{key}: ..'")
    return found[1]


if __name__ == "__main__":
    main()
