"""What is said of failing points is so at each, and at no other where it is called exact."""

from dataclasses import replace

import pytest

from mpinet import measure
from mpinet.claims.ledger import PAPERS, claims_of
from mpinet.claims.verify import verify
from mpinet.machine.transport import Local
from mpinet.papers.hdn.bisection import quarter, width_in_cluster
from mpinet.papers.hdn.grids import net

CLAIMS = {claim.id: claim for room in PAPERS for claim in claims_of(room)}
NAMED = [claim.id for claim in CLAIMS.values() if claim.fails_where]

NECESSARY = """
GBSN-S2-literal-connected GBSN-S3-degree-gbsn-max GBSN-P31-upper-product GBSN-P42-dilation
GBSN-S4-right-shift-suffices GBSN-S4-three-steps-same
GMN-I-superior HDN-S3-cr-monotone
""".split()
"""Claims that hold at some points with the property, too: it is necessary, and called no more."""

SHORT = """
GBSN-S3-degree-bsn GBSN-P41-range GMN-S-gap GMN-S-rcdeg GMN-R-hoptypes GMN-FT-avail GMN-A-q
HDN-Th3-recurrence HDN-Th1-nodes HDN-S4-snid-range HDN-S5-T-product HDN-Tab2-ccc LENS-S4-length-A
LENS-S4-region-borders STH-L4-tq-transitive-cq STH-T4-nodes-hx STH-T4-diameter-hx
STH-L3-tq-diameter-tq
""".split()
"""Claims whose points of the quick budget, some that hold among them, are measured in no time."""


def judged(id, budget, **changed):
    (row,) = verify([replace(CLAIMS[id], **changed)], budget, Local())
    return row


@pytest.mark.parametrize("room", PAPERS)
def test_failing_points_are_told_of_claims_that_fail(room):
    told = [claim for claim in claims_of(room) if claim.fails_where]
    assert told
    assert all(claim.cause or claim.beats for claim in told)


def test_only_claims_that_exist_are_excused_from_being_exact():
    assert set(NECESSARY) | set(SHORT) <= set(NAMED)


@pytest.mark.parametrize("id", SHORT)
def test_a_claim_fails_just_where_it_is_said_to(id):
    row = judged(id, "quick")
    assert 0 < row.failing < row.points
    assert row.common["exact"]


@pytest.mark.parametrize("id", ["GMN-S-gap", "HDN-Th3-recurrence", "STH-T4-nodes-hx"])
def test_a_property_that_one_point_less_or_more_has_is_found_out(id):
    text, so = CLAIMS[id].fails_where
    failing = judged(id, "quick").witness["point"]
    (holding, *_) = (p for p in CLAIMS[id].grid.points("quick") if not so(**p))
    for wrong in (
        lambda **point: so(**point) and point != failing,
        lambda **point: so(**point) or point == holding,
    ):
        assert not judged(id, "quick", fails_where=(text, wrong)).common["exact"]


@pytest.mark.parametrize(
    ("topology", "width"),
    [
        ("hdn:2,super=-/0", 8),
        ("hdn:6,super=-", 12),
        ("hdn:2x2,super=0", 4),
        ("hdn:2x3,super=1", 6),
        ("hdn:2,super=0/-", 8),
    ],
)
def test_clusters_that_are_parted_alike_make_the_narrower_cuts_of_hdns(topology, width):
    assert measure.bisection_width(topology) == width
    own = net(topology)
    alike = own.n(own.k) * width_in_cluster(topology)
    assert min(alike, quarter(topology)) == width
    assert (alike < quarter(topology)) == CLAIMS["HDN-S3-bisection"].fails_where[1](topology)


@pytest.mark.long
@pytest.mark.parametrize("id", NAMED)
def test_over_the_whole_grid_a_claim_fails_just_where_it_is_said_to(id):
    row = judged(id, "full")
    assert row.common["failing"] == row.failing
    assert row.common["exact"] == (id not in NECESSARY)
