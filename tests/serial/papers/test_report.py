"""The report in docs/ledger says of claims what the ledger says."""

import re
from pathlib import Path

import pytest

from mpinet.base.plain import plain
from mpinet.claims.ledger import PAPERS, claims_of, paper
from mpinet.claims.summary import summary
from mpinet.claims.verify import verify
from mpinet.machine.transport import Local

DOCS = Path(__file__).parents[3] / "docs"
REPORT = DOCS / "ledger"
NAMES = {"gbsn": "GBSN", "gmn": "G(m,N)", "hdn": "HDN", "lens": "lens", "sth": "STH"}
COUNTED = ("claims", "holds", "refuted", "errors", "beaten", "open")


def named(room: str, section: str) -> set[str]:
    """The claims that a section of a paper's report names."""
    text = (REPORT / f"{room}.md").read_text()
    part = re.search(rf"## {section}.*?\n(.*?)(?=\n## |\n```|\Z)", text, re.DOTALL).group(1)
    return set(re.findall(r"`([A-Z]+-[\w-]+)`", part))


def counts_of_the_tutorial():
    """What the tutorial's table says of each paper, and of all."""
    text = (DOCS / "tutorials/claims.md").read_text()
    names = {name: room for room, name in NAMES.items()} | {"all": "all"}
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    return {
        names[name]: dict(zip(COUNTED, (int(n or 0) for n in numbers), strict=True))
        for name, *numbers in (cells for cells in lines if len(cells) == 7)
        if name in names
    }


def test_the_tutorial_counts_the_claims_that_there_are():
    told = counts_of_the_tutorial()
    assert list(told) == [*PAPERS, "all"]
    for room in PAPERS:
        claims, row = claims_of(room), told[room]
        assert row["claims"] == len(claims)
        assert row["refuted"] == sum(bool(claim.cause) for claim in claims)
        assert row["errors"] == len(paper(room).causes)
        assert row["open"] == sum(claim.measured is None for claim in claims)
        assert row["beaten"] <= sum(bool(claim.beats) for claim in claims)
    for row in told.values():
        assert row["claims"] == sum(row[v] for v in ("holds", "refuted", "beaten", "open"))
    assert told["all"] == {name: sum(told[room][name] for room in PAPERS) for name in COUNTED}


def test_the_tutorials_sentence_has_the_numbers_of_its_table():
    text = " ".join((DOCS / "tutorials/claims.md").read_text().split())
    every = counts_of_the_tutorial()["all"]
    assert f"Of {every['claims']} claims" in text
    assert f"**{every['holds']} hold, {every['refuted']} are refuted** by {every['errors']}" in text
    assert f"{every['open']} are open" in text and f"{every['beaten']} are *beaten*" in text


@pytest.mark.long
@pytest.mark.parametrize("room", PAPERS)
def test_the_tutorials_counts_are_those_of_the_full_ledger(room):
    found = summary(plain(verify(claims_of(room), "full", Local())))["all"]
    assert counts_of_the_tutorial()[room] == {name: found[name] for name in COUNTED}


@pytest.mark.parametrize("room", PAPERS)
def test_the_report_names_claims_that_hold_and_claims_that_an_error_refutes(room):
    claims = {claim.id: claim for claim in claims_of(room)}
    holding, failing = named(room, "What holds"), named(room, "What does not hold")
    assert holding and failing and holding | failing <= set(claims)
    assert not any(claims[id].cause for id in holding)
    assert not paper(room).causes or all(claims[id].cause for id in failing)


@pytest.mark.long
@pytest.mark.parametrize("room", PAPERS)
def test_what_the_report_says_is_what_is_measured(room):
    holding, failing = named(room, "What holds"), named(room, "What does not hold")
    claims = [claim for claim in claims_of(room) if claim.id in holding | failing]
    found = {row.id: row.verdict for row in verify(claims, "quick", Local())}
    assert found == dict.fromkeys(holding, "holds") | dict.fromkeys(failing, "refuted")


@pytest.mark.long
@pytest.mark.parametrize("room", PAPERS)
def test_errors_refute_what_they_say_and_corrected_statements_hold(room):
    claims = [claim for claim in claims_of(room) if claim.cause or claim.corrects]
    found = {row.id: row.verdict for row in verify(claims, "quick", Local())}
    assert found == {claim.id: "refuted" if claim.cause else "holds" for claim in claims}
