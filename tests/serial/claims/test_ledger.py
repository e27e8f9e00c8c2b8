"""The ledger holds the claims of the five papers: none is missing, none is there unexplained."""

from pathlib import Path

import pytest

from mpinet.claims import statement
from mpinet.claims.cause import GRADES
from mpinet.claims.ledger import ROOMS, claims_of, paper, select
from mpinet.claims.relation import RELATIONS
from mpinet.claims.verify import verify
from mpinet.errors import UsageError
from mpinet.machine.transport import Local
from mpinet.papers.gbsn.construction import leans_on_completion

IDS = Path(__file__).with_name("ids.txt").read_text().split()
"""The ids that the ledger promises, patterns in braces expanded."""


def test_the_ids_are_those_of_the_specifications():
    assert sorted(claim.id for claim in select([])) == sorted(IDS)


@pytest.mark.parametrize("room", ROOMS)
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


@pytest.mark.parametrize("room", ROOMS)
def test_the_tables_are_made_of_claims(room):
    known = {claim.id for claim in claims_of(room)}
    for table in paper(room).tables:
        assert set(table.claims()) <= known
    assert set(paper(room).kept()) <= known
    assert {claim for found in paper(room).findings for claim in found.claims} <= known


@pytest.mark.parametrize("room", ROOMS)
def test_the_causes_of_refutations_are_those_of_the_papers_table(room):
    causes = paper(room).causes
    assert all(cause.sentence and cause.grade in GRADES for cause in causes.values())
    assert {claim.cause for claim in claims_of(room)} - {""} == set(causes)


@pytest.mark.parametrize("room", ROOMS)
def test_a_refuted_claim_has_the_grade_of_its_error(room):
    causes = paper(room).causes
    for claim in claims_of(room):
        assert claim.grade == (causes[claim.cause].grade if claim.cause else "")


def test_every_row_of_the_gbsn_tells_links_of_ours_from_the_papers():
    assert all(claim.degenerate for claim in claims_of("gbsn"))
    assert leans_on_completion("gbsn:1,m=2-3,a=1")  # block 0 alone has no way to block 1
    assert not leans_on_completion("gbsn:2,m=2-3,a=1")
    assert not leans_on_completion("gbsn:1,m=2-3,a=1,completed=no")
    assert not leans_on_completion("bsn:1,1,2")


def test_a_row_beside_stated_steps_says_whose_they_are():
    notes = {claim.id: claim.note for claim in select([]) if claim.beats}
    theirs = [id for id, note in notes.items() if "the steps in the paper" in note]
    assert theirs == ["HDN-B-broadcast", "HDN-B-product"]
    assert all("the steps of our schedule" in notes[id] for id in set(notes) - set(theirs))


@pytest.mark.parametrize("room", ROOMS)
def test_a_corrected_statement_names_the_claim_that_it_corrects(room):
    known = {claim.id for claim in claims_of(room)}
    for claim in claims_of(room):
        assert not claim.corrects or claim.corrects in known - {claim.id}


RINGS = """
from mpinet.claims import Corrected, claim, over
from mpinet.measure import diameter

WRONG = claim(
    "RING-WRONG",
    statement="a ring's diameter is N/2",
    claimed=lambda n: n / 2,
    tolerance=0.25,
    grid=over(n=range(3, 9)),
    note="of the wrong one",
    measured=lambda n: diameter(f"ring:{n}"),
    cause="rounding",
    fails_where=("N is odd", lambda n: n % 2 == 1),
    degenerate=lambda n: n == 3,
    corrected=Corrected("RING-RIGHT", "it is N//2", claimed=lambda n: n // 2),
)
AFTER = claim("RING-AFTER", statement="any", relation="all", measured=lambda: True)
"""


def test_a_correction_follows_the_claims_of_a_file_and_is_measured_as_its_row_is(tmp_path):
    file = tmp_path / "rings.py"
    file.write_text(RINGS)
    wrong, after, right = select([str(file)])
    assert [wrong.id, after.id, right.id] == ["RING-WRONG", "RING-AFTER", "RING-RIGHT"]
    assert right.corrects == wrong.id and right.paper == "rings"
    for shared in ("grid", "measured", "cost", "tolerance", "measures"):
        assert getattr(right, shared) is getattr(wrong, shared)
    assert not right.note and not right.cause
    assert right.fails_where is right.degenerate is right.corrected is None
    verdicts = [row.verdict for row in verify([wrong, right], "full", Local())]
    assert verdicts == ["refuted", "holds"]


def test_a_correction_claims_what_its_row_does_unless_it_says_otherwise():
    def corrected(**said):
        correction = statement.Corrected(**said)
        row = statement.claim(
            "A", statement="a", claimed=3, measured=lambda: 4, corrected=correction
        )
        return row.corrected

    assert corrected(id="B", statement="b", relation=">=").claimed == 3
    assert corrected(id="B", statement="b", relation="all").claimed is True
    with pytest.raises(UsageError, match="Claim B has the relation 'is'"):
        corrected(id="B", statement="b", relation="is")


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
