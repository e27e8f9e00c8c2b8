"""The tables of docs/reference/versions.md, made from the results of ``launch/release/try``.

``python docs/_extensions/versions.py`` writes the tables into the page; a test compares them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

REFERENCE = Path(__file__).parents[1] / "reference"
PAGE, FILE = REFERENCE / "versions.md", REFERENCE / "versions.json"

MADE = "<!-- {}: made by docs/_extensions/versions.py -->\n", "<!-- end of {} -->\n"
"""Comments before and after a generated part."""

PACKAGES = ("numpy", "networkx", "mpi4py", "greenlet", "numba", "pytest")


def results() -> dict[str, Any]:
    """Return the results of the last run."""
    read: dict[str, Any] = json.loads(FILE.read_text())
    return read


def table(found: dict[str, Any]) -> str:
    """Return the table of all cells, with numbered notes for cells that did not pass."""
    cells = {(cell["python"], cell["row"]): cell for cell in found["cells"]}
    versions = [python for python in found["pythons"] if (python, "") not in cells]
    notes: list[str] = []
    lines = ["| Python |" + "".join(f" {found['pythons'][v]['version']} |" for v in versions)]
    lines.append("|---|" + "---|" * len(versions))
    origins = [found["pythons"][version]["origin"] or "missing" for version in versions]
    lines.append(f"| from | {' | '.join(origins)} |")
    for row, title in found["rows"].items():
        shown = [_shown(cells.get((version, row)), notes) for version in versions]
        lines.append(f"| {title} | {' | '.join(shown)} |")
    listed = [f"{number}. {note}" for number, note in enumerate(notes, 1)]
    return "\n".join([*lines, "", *listed]).rstrip("\n") + "\n"


def _shown(cell: dict[str, Any] | None, notes: list[str]) -> str:
    """Return a cell of the table; the reason of a cell that did not pass is added to the notes."""
    if cell is None:
        return "not tried"
    if cell["verdict"] == "ok":
        return f"works, {cell['library']}" if "library" in cell else "works"
    first = cell["reason"].splitlines()[0]
    note = f"Missing: {first}" if cell["verdict"] == "missing" else f"{cell['step']}: {first}"
    if note not in notes:
        notes.append(note)
    return f"{cell['verdict']} ({notes.index(note) + 1})"


def packages(found: dict[str, Any]) -> str:
    """Return the table of oldest and newest versions of packages."""
    ends: dict[str, dict[str, dict[str, str]]] = {}
    for cell in found["cells"]:
        if cell["row"] in ("oldest", "numba") and "packages" in cell:
            ends.setdefault(cell["python"], {})[cell["row"]] = cell["packages"]
    lines = ["| package |" + "".join(f" Python {version} |" for version in ends)]
    lines.append("|---|" + "---|" * len(ends))
    for name in PACKAGES:
        both = [
            [each.get(row, {}).get(name, "?") for row in ("oldest", "numba")]
            for each in ends.values()
        ]
        shown = [low if low == high else f"{low} to {high}" for low, high in both]
        lines.append(f"| {name} | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


def refusals(found: dict[str, Any]) -> str:
    """Return a sentence on each Python that the installer refuses."""
    lines = [
        f"pip refuses Python {found['pythons'][cell['python']]['version']}: `{cell['reason']}`."
        for cell in found["cells"]
        if cell["verdict"] == "refused"
    ]
    return "\n".join(lines) + "\n"


def page() -> str:
    """Return the page with current tables."""
    found, text = results(), PAGE.read_text()
    for name, make in (("table", table), ("packages", packages), ("refusals", refusals)):
        begin, end = (mark.format(name) for mark in MADE)
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n{make(found)}\n{end}{rest.partition(end)[2]}"
    return text


if __name__ == "__main__":
    PAGE.write_text(page())
