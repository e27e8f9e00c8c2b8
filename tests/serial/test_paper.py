"""The paper cites what it lists, and each number has the command that measured it."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

CHECKOUT = Path(__file__).resolve().parents[2]
PAPER = CHECKOUT / "docs/paper"
_, FRONT, TEXT = (PAPER / "paper.md").read_text().split("---\n", 2)
BIBLIOGRAPHY = (PAPER / "paper.bib").read_text()
PAGES = ("README.md", "docs/artifact.md")
NUMBER = re.compile(r"(?<![\w.,-])\d[\d,.]*\d|(?<![\w.,-])\d(?![\w])")
NAMES = ("BookSim 2", "8 by 8", "SHA-256")
"""Digits of the text that count nothing."""

MOST_WORDS = 1100


def rows(text: str) -> list[tuple[str, str]]:
    """The fact and the command of each row of a grid table."""
    found = []
    for block in re.split(r"(?m)^\+[-=:+]+\+\n", text):
        lines = [line.strip("|\n").split("|") for line in block.splitlines() if line[:1] == "|"]
        if lines:
            found.append(
                tuple(" ".join(" ".join(cells).split()) for cells in zip(*lines, strict=True))
            )
    return found


def rows_of_pages() -> list[str]:
    """The rows of the tables in the pages that name the commands."""
    text = "\n".join((CHECKOUT / page).read_text() for page in PAGES)
    return [line for line in text.splitlines() if line.startswith("|")]


def unmeasured(facts: list[tuple[str, str]], tables: list[str]) -> list[str]:
    """The numbers that stand next to their commands in no table."""
    wrong = []
    for fact, command in facts:
        said = " ".join(row for row in tables if command in row)
        numbers = NUMBER.findall(strip(fact))
        wrong += [
            f"{number}: {command}" for number in numbers if number not in NUMBER.findall(said)
        ]
        wrong += [command] * (not said)
    return wrong


def strip(text: str) -> str:
    """A text without code and without names that have digits."""
    text = re.sub(r"`[^`]*`", "", text)
    for name in NAMES:
        text = text.replace(name, "")
    return text


EVIDENCE = [row for row in rows(TEXT) if row != ("Fact", "Command")]


def test_each_number_stands_next_to_its_command_in_the_documentation() -> None:
    assert len(EVIDENCE) > 4
    assert all(re.fullmatch(r"`[^`]+`", command) for _, command in EVIDENCE)
    assert unmeasured(EVIDENCE, rows_of_pages()) == []


@pytest.mark.parametrize("changed", [("1,987", "1,988"), ("500 of", "170 of"), ("--sizes 2", "")])
def test_a_number_without_its_measurement_is_found(changed: tuple[str, str]) -> None:
    facts = [(fact.replace(*changed), command.replace(*changed)) for fact, command in EVIDENCE]
    assert unmeasured(facts, rows_of_pages())


def test_the_prose_states_no_number_outside_the_table() -> None:
    prose = re.sub(r"(?m)^[|+].*\n", "", TEXT)
    assert NUMBER.findall(strip(re.sub(r"\[@[^]]*\]", "", prose))) == []


def test_the_paper_cites_each_entry_and_no_other() -> None:
    entries = re.findall(r"(?m)^@\w+\{(\w+),", BIBLIOGRAPHY)
    assert len(entries) == len({*entries}) > 15
    assert {*re.findall(r"@(\w+)", TEXT)} == {*entries}


def test_each_entry_has_authors_a_title_a_year_and_an_identifier() -> None:
    for entry in re.findall(r"(?ms)^@.*?^\}", BIBLIOGRAPHY):
        fields = {*re.findall(r"(?m)^  (\w+) +=", entry)}
        assert {"author", "title", "year"} <= fields, entry
        assert fields & {"doi", "url", "number"}, entry


def test_the_paper_names_the_projects_authors_and_has_the_journals_sections() -> None:
    front = yaml.safe_load(FRONT)
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    assert [each["name"] for each in front["authors"]] == [e["name"] for e in project["authors"]]
    assert all(set(each) == {"name", "affiliation"} for each in front["authors"])
    headings = re.findall(r"(?m)^# (.+)$", TEXT)
    assert headings[:4] == ["Summary", "Statement of need", "State of the field", "Software design"]
    assert headings[-1] == "References" and "AI usage disclosure" in headings


def test_the_paper_is_short() -> None:
    words = re.sub(r"(?m)^\+.*$|[|#]", " ", TEXT).split()
    assert 800 < len(words) < MOST_WORDS
