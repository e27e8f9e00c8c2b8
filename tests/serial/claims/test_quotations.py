"""Every row that is a paper's has the paper's own words, with page and line of its text."""

import os
import re
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from mpinet.claims.ledger import PAPERS, ROOMS, claims_of, folder_of
from mpinet.claims.quotation import Quotation, Quoted, place_text, quotation_of, read_quotations

TEXTS = os.environ.get("MPINET_PAPERS")
"""A folder with the papers' texts (gbsn.txt, ..), which are not ours to hand on."""


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
    for said, _ in quotations(room):
        assert 10 <= len(said.text) < 600 and said.text == said.text.strip()
        assert not re.search(r"\\|\$|\ufffd|\s\s|\n", said.text), said.text  # nothing of the scan
    if TEXTS and room in PAPERS:
        text = (Path(TEXTS) / f"{room}.txt").read_text(errors="replace").split("\n")
        assert not [said for said, _ in quotations(room) if not stands_in(text, said)]


def stands_in(lines, said):
    """Most letters of the quotation come in this order, from its line on."""
    want = letters(said.text)
    have = letters(" ".join(lines[said.line - 1 : said.line + 14]))[: 3000 + len(want)]
    same = SequenceMatcher(None, have, want, autojunk=False).get_matching_blocks()
    return sum(block.size for block in same if block.size > 1) > 0.75 * len(want)


def letters(text):
    """Letters and digits alone: names of signs are none of the words."""
    return re.sub(r"\\(?!log|max|min)[a-zA-Z]+|[^a-zA-Z0-9]", "", text).lower()


def test_words_that_are_not_there_are_found_out():
    lines = ["A ring with $N$ nodes has the diameter $\\lfloor N/2 \\rfloor$."]
    right = Quotation("A ring with N nodes has the diameter ⌊N/2⌋.", "", 1)
    wrong = Quotation("The hypercube of n dimensions has 2^n processors.", "", 1)
    assert stands_in(lines, right) and not stands_in(lines, wrong)


def test_the_first_quotation_that_names_a_claim_stands_behind_it():
    first, second = Quotation("one", "4", 7), Quotation("two", "", 9)
    quoted = [Quoted(first, ("A-1", "A-x*")), Quoted(second, ("A-*",))]
    assert quotation_of("A-x9", quoted) == first and quotation_of("A-2", quoted) == second
    assert quotation_of("B-1", quoted) is None
    assert first.place == "p. 4, line 7" and place_text("", 9) == "line 9"
