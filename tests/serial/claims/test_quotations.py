"""Every row that is a paper's has the paper's own words, with page and line of its text."""

import csv
import os
import re
from dataclasses import replace
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from mpinet.claims.ledger import PAPERS, ROOMS, claims_in, claims_of, folder_of
from mpinet.claims.quotation import (
    Quotation,
    Quoted,
    place_text,
    quotation_of,
    read_quotations,
    read_statements,
)
from mpinet.errors import UsageError

SCANS = Path(__file__).with_name("scans.csv")
"""The words of each quotation as the scanned text has them, with omissions as `` .. ``.

The texts are not ours to hand on. A quotation's own words are enough to compare its numbers.
"""

SHARED = [folder / "shared/papers" for folder in Path(__file__).parents]
FOLDERS = [*map(Path, filter(None, [os.environ.get("MPINET_PAPERS")])), *SHARED]
"""Possible folders with the papers' texts: a text file for each paper, in the ledger's order."""

RESTORED = {
    ("gbsn", 188): ("0101", "0110"),  # the limits of the sum are below and above the sign
    ("gbsn", 217): ("31011111", "310111011"),  # a prime is scanned as 0
    ("gbsn", 449): ("201122212", "20110222102"),  # primes, and limits of sums
}
"""Numbers of quotations of formulas that the scan garbles: in the quotation, and in the scan."""


def texts():
    """The lines of each paper's text; empty if the texts are not on this host."""
    files = next((found for folder in FOLDERS if (found := sorted(folder.glob("*.txt")))), [])
    read = [file.read_text(errors="replace").split("\n") for file in files]
    return dict(zip(PAPERS, read, strict=True)) if read else {}


def scans(room):
    with SCANS.open(encoding="utf-8", newline="") as rows:
        return [row for row in csv.DictReader(rows) if row["paper"] == room]


def quotations(room):
    return read_quotations(folder_of(room) / "quotations.csv")


@pytest.mark.parametrize("room", ROOMS)
def test_every_row_of_a_paper_quotes_it_once_and_no_row_of_ours_does(room):
    quoted, claims = quotations(room), claims_of(room)
    for claim in claims:
        if claim.ours:
            assert claim.quotation is None
            continue
        behind = [one for one in quoted if any(fnmatchcase(claim.id, id) for id in one.claims)]
        assert len(behind) == 1 and claim.quotation == behind[0].quotation, claim.id
    stated = [claim.id for claim in claims if not claim.ours]
    for one in quoted:
        assert all(any(fnmatchcase(id, name) for id in stated) for name in one.claims), one


@pytest.mark.parametrize("room", ROOMS)
def test_a_quotation_is_a_sentence_on_a_line_of_the_papers_text(room):
    lines = [one.quotation.line for one in quotations(room)]
    pages = [one.quotation.page for one in quotations(room)]
    if room in PAPERS:
        assert lines == sorted(lines) and lines[0] > 0
    else:  # no text is stored: pages alone
        assert not any(lines) and pages == sorted(pages) and pages[0]
    for said, *_ in quotations(room):
        assert 10 <= len(said.text) < 600 and said.text == said.text.strip()
        assert not re.search(r"\\|\$|\ufffd|\s\s|\n", said.text), said.text  # nothing of the scan


SMALL = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉", "01234567890123456789")
COMMAND = re.compile(r"\\(?!log|max|min|emptyset)[a-zA-Z]+|<\|[^|]*\|>|\{pmatrix\}")
"""Names of signs, which are none of the words."""


def letters(text):
    """Letters and digits of a text; the scan has the empty set for a crossed zero."""
    plain = COMMAND.sub("", text).replace("\\emptyset", "0").translate(SMALL)
    return re.sub(r"[^a-z0-9]", "", plain.lower())


def digits(text):
    return re.sub(r"[^0-9]", "", letters(text))


def is_scan_of(scan, room, said):
    """The numbers are those of the scan, digit by digit, and so are nearly all letters."""
    numbers = RESTORED.get((room, said.line), (digits(scan),) * 2)
    if (digits(said.text), digits(scan)) != numbers:
        return False
    return SequenceMatcher(None, letters(scan), letters(said.text), autojunk=False).ratio() > 0.7


def stands_in(lines, line, scan):
    """The parts of the scan come in the text word for word, in order, from the line on."""
    parts = re.escape(scan).replace(r"\ \.\.\ ", ".*?").replace(r"\ ", r"\s+")
    return bool(re.match(f".{{0,6000}}?{parts}", "\n".join(lines[line - 1 : line + 40]), re.DOTALL))


@pytest.mark.parametrize("room", PAPERS)
def test_every_number_of_a_quotation_is_that_of_the_scanned_text(room):
    quoted, scanned = [one.quotation for one in quotations(room)], scans(room)
    assert [int(row["line"]) for row in scanned] == [said.line for said in quoted]
    for row, said in zip(scanned, quoted, strict=True):
        assert is_scan_of(row["scan"], room, said), said
        for lines in [texts()[room]] if texts() else []:
            assert stands_in(lines, said.line, row["scan"]), said


@pytest.mark.parametrize("room", PAPERS)
def test_a_quotation_with_one_changed_digit_is_found_out(room):
    changed = 0
    for row, (said, *_) in zip(scans(room), quotations(room), strict=True):
        for place, sign in enumerate(said.text):
            if sign in "0123456789":
                wrong = said.text[:place] + str((int(sign) + 1) % 10) + said.text[place + 1 :]
                assert not is_scan_of(row["scan"], room, replace(said, text=wrong)), wrong
                changed += 1
    assert changed > 20


def test_words_that_are_not_in_a_text_are_found_out():
    lines = ["A ring with $N$ nodes has", "the diameter $\\lfloor N/2 \\rfloor$ [3]."]
    assert stands_in(lines, 1, "ring with $N$ nodes has the diameter")
    assert stands_in(lines, 1, "A ring .. $\\lfloor N/2 \\rfloor$")
    assert not stands_in(lines, 1, "ring with $M$ nodes")
    assert not stands_in(lines, 2, "A ring")
    said = Quotation("A ring with N nodes has the diameter ⌊N/2⌋.", "", 1)
    assert is_scan_of(" ".join(lines)[:-5], "gmn", said)
    other = "The diameter of hypercubes is 2 if they have four processors."
    assert not is_scan_of(other, "gmn", said)


def test_the_first_quotation_that_names_a_claim_stands_behind_it():
    first, second = Quotation("one", "4", 7), Quotation("two", "", 9)
    quoted = [Quoted(first, ("A-1", "A-x*")), Quoted(second, ("A-*",))]
    assert quotation_of("A-x9", quoted).quotation == first
    assert quotation_of("A-2", quoted).quotation == second
    assert quotation_of("B-1", quoted) is None
    assert first.place == "p. 4, line 7" and place_text("", 9) == "line 9"


@pytest.mark.parametrize("room", ROOMS)
def test_the_table_of_statements_has_a_row_for_each_claim_that_states_nothing(room):
    said = read_statements(folder_of(room) / "statements.csv")
    claims = {claim.id: claim for claim in claims_of(room)}
    assert said.keys() <= claims.keys()
    for id, row in said.items():
        assert all(getattr(claims[id], name) == cell for name, cell in row.items())


def test_a_claim_without_a_statement_is_refused(tmp_path):
    file = tmp_path / "silent.py"
    file.write_text(
        "from mpinet.claims import claim\n"
        "made = claim('X', relation='all', measured=lambda: True)\n"
    )
    with pytest.raises(UsageError, match="Claim X has no statement"):
        claims_in(str(file))
