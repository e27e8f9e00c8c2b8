"""The report in docs/ledger says of claims what the ledger says."""

import re
from pathlib import Path

import pytest

from mpinet.base.plain import plain
from mpinet.claims.cause import GRADES
from mpinet.claims.ledger import PAPERS, claims_of, paper
from mpinet.claims.summary import summary
from mpinet.claims.verify import verify
from mpinet.machine.transport import Local
from mpinet.report.ledger.reading import read_document

DOCS = Path(__file__).parents[3] / "docs"
REPORT = DOCS / "ledger"
STATED = ("claims", "holds", "refuted", "open")
COUNTED = (*STATED, "errors", *GRADES, "ours", "beaten")


def named(room: str, section: str) -> set[str]:
    """The claims that a section of a paper's report names."""
    text = (REPORT / f"{room}.md").read_text()
    part = re.search(rf"## {section}.*?\n(.*?)(?=\n## |\n```|\Z)", text, re.DOTALL).group(1)
    return set(re.findall(r"`([A-Z]+-[\w-]+)`", part))


def counts(found):
    """What a summary says of a paper, or of all."""
    return {
        **{name: found["stated"][name] for name in STATED},
        "errors": found["errors"],
        **found["grades"],
        "ours": found["claims"] - found["stated"]["claims"],
        "beaten": found["beaten"],
    }


def counts_of_the_site():
    """What the verdicts that the site shows say of each paper, and of all."""
    found = summary(read_document(REPORT / "verdicts.json")["result"])
    return {each["paper"]: counts(each) for each in found["papers"]} | {"all": counts(found["all"])}


def test_the_site_counts_the_claims_that_there_are():
    told = counts_of_the_site()
    assert list(told) == [*PAPERS, "all"]
    for room in PAPERS:
        claims, causes, row = claims_of(room), paper(room).causes.values(), told[room]
        stated = [claim for claim in claims if not claim.ours]
        assert row["claims"] == len(stated) and row["ours"] == len(claims) - len(stated)
        assert row["refuted"] == sum(bool(claim.cause) for claim in stated)
        assert row["errors"] == len(causes)
        assert [row[grade] for grade in GRADES] == [
            sum(cause.grade == grade for cause in causes) for grade in GRADES
        ]
        assert row["open"] == sum(claim.measured is None for claim in stated)
        assert row["beaten"] <= sum(bool(claim.beats) for claim in claims)
    for row in told.values():
        assert row["claims"] == sum(row[verdict] for verdict in ("holds", "refuted", "open"))
        assert row["errors"] == sum(row[grade] for grade in GRADES)
    assert told["all"] == {name: sum(told[room][name] for room in PAPERS) for name in COUNTED}


def test_no_row_of_ours_is_refuted_or_leans_on_a_cause():
    ours = [claim for room in PAPERS for claim in claims_of(room) if claim.ours]
    assert not [claim.id for claim in ours if claim.cause or claim.grade]


@pytest.mark.long
@pytest.mark.parametrize("room", PAPERS)
def test_the_sites_counts_are_those_of_the_full_ledger(room):
    found = summary(plain(verify(claims_of(room), "full", Local())))["all"]
    assert counts_of_the_site()[room] == counts(found)


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
