"""The report in docs/ledger says of claims what the ledger says."""

import re
from pathlib import Path

import pytest

from mpinet.claims.ledger import PAPERS, claims_of, paper
from mpinet.claims.verify import verify
from mpinet.machine.transport import Local

REPORT = Path(__file__).parents[3] / "docs" / "ledger"


def named(room: str, section: str) -> set[str]:
    """The claims that a section of a paper's report names."""
    text = (REPORT / f"{room}.md").read_text()
    part = re.search(rf"## {section}.*?\n(.*?)(?=\n## |\n```|\Z)", text, re.DOTALL).group(1)
    return set(re.findall(r"`([A-Z]+-[\w-]+)`", part))


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
