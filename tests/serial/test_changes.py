"""Fragments of the changelog have a number and a kind, and towncrier prints each one."""

import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
FOLDER = CHECKOUT / "docs" / "changes"
SETTINGS = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["towncrier"]
KINDS = {kind["directory"]: kind["name"] for kind in SETTINGS["type"]}


def wrong(names: list[str]) -> list[str]:
    """Names of fragments without a number of their own or without a kind."""
    parts = {name: re.fullmatch(r"(\d+)\.(\w+)\.md", name) for name in names}
    numbers = Counter(int(part[1]) for part in parts.values() if part)
    return [
        name
        for name, part in parts.items()
        if not part or part[2] not in KINDS or numbers[int(part[1])] > 1
    ]


def test_fragments_have_a_number_and_a_kind() -> None:
    others = {"README.md", *SETTINGS["ignore"]}
    assert wrong([path.name for path in FOLDER.iterdir() if path.name not in others]) == []


def test_wrong_names_are_found() -> None:
    names = ["1.added.md", "2.news.md", "3.fixed.md", "3.added.md", "four.fixed.md", "5.fixed"]
    assert wrong(names) == names[1:]


def test_the_readme_explains_each_kind() -> None:
    rows = re.findall(r"(?m)^\| `(\w+)` \|", (FOLDER / "README.md").read_text())
    assert rows == [*KINDS]


def test_towncrier_prints_each_fragment_below_its_kind() -> None:
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "9.9.9"]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    _, *parts = re.split(r"(?m)^### ", done.stdout)
    printed = {part.partition("\n")[0]: part for part in parts}
    for path in FOLDER.glob("[0-9]*.md"):
        entry = " ".join(path.read_text().split())
        heading = KINDS[path.name.split(".")[1]]
        assert f"- {entry}" in " ".join(printed[heading].split())


def test_the_changelog_has_the_place_for_new_versions() -> None:
    assert (CHECKOUT / "CHANGELOG.md").read_text().count(SETTINGS["start_string"]) == 1
