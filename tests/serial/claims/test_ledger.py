"""The ledger holds the claims of the five papers: none is missing, none is there unexplained."""

from pathlib import Path

import pytest

from mpinet.claims.ledger import PAPERS, claims_of, paper, select
from mpinet.claims.relation import RELATIONS
from mpinet.errors import UsageError

IDS = Path(__file__).with_name("ids.txt").read_text().split()
"""The ids that the ledger promises, patterns in braces expanded."""


def test_the_ids_are_those_of_the_specifications():
    assert sorted(claim.id for claim in select([])) == sorted(IDS)


@pytest.mark.parametrize("room", PAPERS)
def test_every_claim_says_what_it_states_and_where(room):
    for claim in claims_of(room):
        assert claim.paper == room
        assert claim.statement
        assert claim.place
        if claim.measured is None:
            assert claim.reason
        else:
            assert claim.relation in RELATIONS
            assert claim.grid.points("quick")


@pytest.mark.parametrize("room", PAPERS)
def test_the_tables_are_made_of_claims(room):
    known = {claim.id for claim in claims_of(room)}
    for table in paper(room).tables:
        assert set(table.claims()) <= known
    assert set(paper(room).kept()) <= known
    assert {claim for found in paper(room).findings for claim in found.claims} <= known


@pytest.mark.parametrize("room", PAPERS)
def test_the_causes_of_refutations_are_those_of_the_papers_table(room):
    causes = paper(room).causes
    assert all(sentence for sentence in causes.values())
    assert {claim.cause for claim in claims_of(room)} - {""} == set(causes)


@pytest.mark.parametrize("room", PAPERS)
def test_a_corrected_statement_names_the_claim_that_it_corrects(room):
    known = {claim.id for claim in claims_of(room)}
    for claim in claims_of(room):
        assert not claim.corrects or claim.corrects in known - {claim.id}


def test_papers_claims_and_patterns_choose():
    every = select([])
    assert select(["lens"]) == claims_of("lens")
    assert [claim.id for claim in select(["GMN-T1-D"])] == ["GMN-T1-D"]
    chosen = [claim.id for claim in select(["STH-T5-*", "HDN-Fig4"])]
    assert chosen == [
        claim.id for claim in every if claim.id == "HDN-Fig4" or claim.id.startswith("STH-T5-")
    ]
    with pytest.raises(UsageError, match="no paper or claim 'HDN-Fig9'"):
        select(["HDN-Fig9"])
