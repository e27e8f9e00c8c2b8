"""A verdict says what the measurements say, and only that."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from mpinet.claims import claim, once, over, points
from mpinet.claims.finding import Finding, find
from mpinet.claims.ledger import claims_in, select
from mpinet.claims.relation import holds
from mpinet.claims.verdict import judge
from mpinet.claims.verify import Task, subjects, tasks_of, verify
from mpinet.errors import UsageError
from mpinet.experiments.journal import Journal, version_of
from mpinet.machine.transport import Local
from mpinet.measure import diameter
from mpinet.measure.bisection import Bisection, bisection_width
from mpinet.report.ledger.terminal import ledger

OWN = str(Path(__file__).with_name("own.py"))
OUTCOMES = {
    "RING-D": "holds",
    "RING-OFF": "refuted",
    "RING-FAR": "holds",
    "RING-HUGE": "open",
    "RING-EMPTY": "error",
    "RING-BREAKS": "error",
    "RING-TABLE": "refuted",
    "RING-WORD": "open",
}


@pytest.fixture(scope="module")
def verdicts():
    return {row.id: row for row in verify(claims_in(OWN), "quick", Local())}


def test_every_claim_of_a_file_gets_its_verdict(verdicts):
    assert {name: row.verdict for name, row in verdicts.items()} == OUTCOMES


def test_the_witness_is_the_smallest_point_that_refutes(verdicts):
    row = verdicts["RING-OFF"]
    assert row.witness == {"point": {"n": 5}, "where": {"source": 0, "target": 2}}
    assert (row.claimed, row.measured) == (3, 2)


def test_a_refuted_row_tells_how_often_it_fails_and_where(verdicts):
    row = verdicts["RING-OFF"]
    odd = [n for n in range(4, 20) if n // 2 != (n + 1) // 2]
    assert (row.points, row.failing) == (16, len(odd))
    assert row.common == {"text": "N is odd", "failing": len(odd), "holding": 0, "exact": True}
    assert not row.everywhere
    assert (row.note, row.cause) == ("the slip is ours", "rounding")


def test_a_witness_that_is_not_degenerate_stands_beside_the_smallest(verdicts):
    row = verdicts["RING-OFF"]
    assert row.degenerate == 1
    assert row.nondegenerate == {
        "point": {"n": 7},
        "where": {"source": 0, "target": 3},
        "claimed": 4,
        "measured": 3,
        "replay": "mpinet verify RING-OFF --at n=7",
    }


def test_what_failing_points_are_said_to_have_in_common_is_counted_not_believed():
    (off,) = select([OWN, "RING-OFF"])
    wrong = replace(off, fails_where=("N > 9", lambda n: n > 9), degenerate=lambda n: True)
    (row,) = verify([wrong], "quick", Local())
    assert row.common == {"text": "N > 9", "failing": 5, "holding": 5, "exact": False}
    assert (row.failing, row.degenerate, row.nondegenerate) == (8, 8, None)


@pytest.mark.parametrize(
    ("text", "so"), [("too few", lambda n: n in (5, 7)), ("too many", lambda n: n > 4)]
)
def test_a_property_is_exact_only_if_no_other_point_has_it_and_no_failing_one_lacks_it(text, so):
    (off,) = select([OWN, "RING-OFF"])
    (row,) = verify([replace(off, fails_where=(text, so))], "quick", Local())
    assert row.common["exact"] is False


def test_a_row_that_fails_at_every_point_says_so():
    (off,) = select([OWN, "RING-OFF"])
    (row,) = verify([replace(off, grid=over(n=range(5, 20, 2)))], "quick", Local())
    assert (row.points, row.failing, row.everywhere) == (8, 8, True)
    assert "fails at every measured point (8)" in ledger([asdict(row)])


def test_a_row_of_whose_failing_points_nothing_is_known_says_so():
    (off,) = select([OWN, "RING-OFF"])
    (row,) = verify([replace(off, fails_where=None, degenerate=None)], "quick", Local())
    assert row.common is None
    text = " ".join(ledger([asdict(row)]).split())
    assert "fails at 8 of 16 points: no common property is known" in text


def test_a_table_of_one_point_tells_how_many_of_its_values_are_wrong(verdicts):
    row = verdicts["RING-TABLE"]
    assert (row.points, row.everywhere) == (1, True)
    text = " ".join(ledger([asdict(row)]).split())
    assert "fails at the only measured point, in 1 of 3 values" in text


def test_a_row_that_holds_names_no_error():
    (right,) = select([OWN, "RING-D"])
    (row,) = verify([replace(right, cause="rounding")], "quick", Local())
    assert (row.verdict, row.cause) == ("holds", "")


def test_a_row_that_holds_has_no_extent(verdicts):
    row = verdicts["RING-D"]
    assert (row.failing, row.everywhere) == (0, False)
    assert (row.common, row.degenerate, row.nondegenerate) == (None, None, None)


def test_a_predicate_that_fails_is_an_error_of_the_claim(verdicts):
    (off,) = select([OWN, "RING-OFF"])
    (row,) = verify([replace(off, degenerate=lambda n: n < "")], "quick", Local())
    assert (row.verdict, row.witness, row.replay) == ("error", None, None)
    assert "TypeError" in row.reason


def test_the_fields_of_a_table_that_are_wrong_are_named(verdicts):
    assert verdicts["RING-TABLE"].witness["where"] == {"fields": ["N=5"]}


def test_points_out_of_reach_are_not_counted(verdicts):
    assert verdicts["RING-FAR"].points == 1
    assert verdicts["RING-FAR"].range == "two rings, one huge (1 point of 2)"
    assert verdicts["RING-FAR"].reason == "1 point out of reach: the ring is too large"
    assert verdicts["RING-HUGE"].reason == "point 1 is too large"


def test_the_range_tells_how_much_of_the_grid_was_tested(verdicts):
    assert verdicts["RING-D"].range == "n in 3..19 (6 points of 17)"
    (row,) = verify(select([OWN, "RING-D"]), "full", Local())
    assert row.range == "n in 3..19 (17 points)"


def test_only_the_measured_part_of_the_range_is_shown_as_tested(verdicts):
    """A claim that is false at n = 20 holds on 3..11: no text may say that 20 was tested."""
    (right,) = select([OWN, "RING-D"])
    grid = over(n=range(3, 30)).quick(lambda n: n < 12)
    wrong = replace(right, claimed=lambda n: n // 2 + (n == 20), grid=grid)
    (row,) = verify([wrong], "quick", Local())
    assert (row.verdict, row.tested) == ("holds", "n in 3..11 (9 of 27 points)")
    text = " ".join(ledger([asdict(row)]).split())
    assert "tested: n in 3..11 (9 of 27 points)" in text
    assert "29" not in text
    (row,) = verify([wrong], "full", Local())
    assert (row.verdict, row.tested) == ("refuted", "n in 3..29 (27 points)")
    (row,) = verify([wrong], "full", Local(), at={"n": "7"})
    assert row.tested == "n in 7 (1 of 27 points)"
    assert verdicts["RING-FAR"].tested == "n in 5 (1 of 2 points)"
    assert verdicts["RING-HUGE"].tested == ""


def test_the_tested_values_of_each_argument_are_all_listed_or_counted():
    def tested(*values):
        grid = points("", [{"n": value} for value in (*values, "left out")])
        row = claim(
            "X", statement="", relation="all", grid=grid.quick(lambda n: n != "left out"),
            measured=lambda n: True,
        )  # fmt: skip
        return verify([row], "quick", Local())[0].tested

    assert tested(5, 3, 4) == "n in 3..5 (3 of 4 points)"
    assert tested(3, 4, 9) == "n in 3,4,9 (3 of 4 points)"
    assert tested(*range(3, 30, 2)) == "n in 14 values from 3 to 29 (14 of 15 points)"
    assert tested("ring:5", "ring:3") == "n in ring:5,ring:3 (2 of 3 points)"
    assert tested((1, 2), (3,)) == "n in (1,2),(3) (2 of 3 points)"


def test_a_measurement_that_fails_is_no_verdict(verdicts):
    assert "RING" not in verdicts["RING-BREAKS"].reason
    assert "ring" in verdicts["RING-BREAKS"].reason
    assert "no points" in verdicts["RING-EMPTY"].reason


def test_the_replay_command_leads_back_to_the_witness():
    (claim,) = select([OWN, "RING-OFF"])
    (row,) = verify([claim], "quick", Local(), source=f"{OWN} ")
    assert row.replay == f"mpinet verify {OWN} RING-OFF --at n=5"
    (again,) = verify([claim], "quick", Local(), at={"n": "5"})
    assert (again.verdict, again.witness, again.points) == ("refuted", row.witness, 1)


def test_claims_that_have_no_such_point_are_left_out():
    both = select([OWN, "RING-D", "RING-OFF", "RING-TABLE"])
    assert [row.id for row in verify(both, "quick", Local(), at={"n": "3"})] == ["RING-D"]


def test_a_planted_error_turns_a_verdict():
    (right,) = select([OWN, "RING-D"])
    (row,) = verify([right], "quick", Local())
    assert row.verdict == "holds"
    longer = replace(right, measured=lambda n: right.measured(n=n) + (n > 6))
    (row,) = verify([longer], "quick", Local())
    assert (row.verdict, row.witness["point"]) == ("refuted", {"n": 7})
    off = replace(right, claimed=lambda n: n // 2 - (n == 8))
    (row,) = verify([off], "quick", Local())
    assert (row.verdict, row.witness["point"]) == ("refuted", {"n": 8})


def test_a_point_that_no_grid_has_is_refused():
    with pytest.raises(UsageError, match="n=2"):
        verify(select([OWN, "RING-D"]), "quick", Local(), at={"n": "2"})


@pytest.mark.parametrize(
    ("relation", "measured", "claimed", "tolerance", "right"),
    [
        ("=", 3, 3, 0, True),
        ("=", (1, 2), [1, 2], 0, True),
        ("=", (1, 2), (1, 3), 0, False),
        ("=", 0.1 + 0.2, 0.3, 0, False),
        ("=", 0.1 + 0.2, 0.3, 1e-9, True),
        ("=", {"a": 1.0}, {"a": 1.1}, 0.2, True),
        ("=", {"a": 1}, {"a": 1, "b": 2}, 0, False),
        ("<=", 3, 3, 0, True),
        ("<", 3, 3, 0, False),
        (">=", 2, 3, 0, False),
        (">", 4, 3, 0, True),
        ("~", 104, 100, 0.05, True),
        ("~", 106, 100, 0.05, False),
        ("in", 1, (0, 1), 0, True),
        ("all", True, True, 0, True),
        ("all", 1, True, 0, False),
        ("iso", False, True, 0, False),
    ],
)
def test_relations(relation, measured, claimed, tolerance, right):
    assert holds(relation, measured, claimed, tolerance) is right


def test_a_claim_needs_a_relation_and_a_value():
    with pytest.raises(UsageError, match="relation 'like'"):
        claim("X", statement="", claimed=1, relation="like")
    with pytest.raises(UsageError, match="no claimed value"):
        claim("X", statement="")


def test_a_claim_of_a_measure_is_that_of_a_function_that_calls_it():
    row = {"statement": "a ring's diameter", "claimed": 2, "grid": over(topology=["ring:5"])}

    @claim("X", **row)
    def called(topology):
        return diameter(topology)

    made = claim("X", **row, measured=diameter)
    assert made == replace(called, measured=diameter)
    assert find(made, {"topology": "ring:5"}).measured == 2
    with pytest.raises(UsageError, match="no claimed value"):
        claim("X", statement="", measured=diameter)


def test_two_claims_of_one_id_are_refused(tmp_path):
    file = tmp_path / "twice.py"
    text = "@claim('X', statement='s', relation='all')\ndef {}():\n    return True\n"
    file.write_text("from mpinet.claims import claim\n" + text.format("a") + text.format("b"))
    with pytest.raises(UsageError, match="Two claims have the id X"):
        claims_in(str(file))


def test_a_file_without_claims_and_an_unknown_name_are_refused(tmp_path):
    file = tmp_path / "none.py"
    file.write_text("x = 1\n")
    with pytest.raises(UsageError, match="no claims"):
        claims_in(str(file))
    with pytest.raises(UsageError, match="no claim 'RING-Z'"):
        select([OWN, "RING-Z"])


def test_a_claim_without_points_cannot_hold():
    made = claim("X", statement="", relation="all", grid=over(n=range(0)))(lambda n: True)
    assert judge(made, [], [], 0, "").verdict == "error"


def test_a_value_that_cannot_be_written_down_is_an_error():
    for wrong in (float("nan"), float("-inf"), {2, 3}, [1j]):
        made = claim("X", statement="", claimed=1.0)(lambda wrong=wrong: wrong)
        said = find(made, {}).error
        assert said == f"UsageError: `measured` is '{wrong}': JSON has no such value."


def test_tasks_about_a_network_stay_together_and_costly_ones_come_first():
    grid = over(k=[1, 2], topology=[f"ring:{n}" for n in range(3, 40)])
    costly = claim(
        "X", statement="", relation="all", grid=grid, cost=lambda topology, k: int(topology[5:])
    )
    other = claim("Y", statement="", relation="all", grid=over(k=[7]))
    tasks = tasks_of([costly(lambda topology, k: True), other(lambda k: True)], "full")
    groups = subjects(tasks)
    assert [task.subject for task in groups[0]] == ["ring:39", "ring:39"]
    assert sorted(task.key for group in groups for task in group) == sorted(
        task.key for task in tasks
    )
    assert len(groups) == 38


def test_a_stopped_verification_goes_on_where_it_was(tmp_path):
    def journal(version, rank):
        return Journal(tmp_path / "j", f"rank-{rank}", version, "--journal", alone=False)

    measured = []
    made = claim("X", statement="", relation="all", grid=over(n=range(5)))(
        lambda n: measured.append(n) is None
    )
    first = journal("v1", 0)
    verify([made], "full", Local(), journal=first, at={"n": "3"})
    first.close()
    with (tmp_path / "j" / "rank-0.jsonl").open("a") as file:
        file.write('{"version": "v1", "key": ["X", "n=1"], "find')  # stopped while it wrote
    assert measured == [3]
    (row,) = verify([made], "full", Local(), journal=journal("v1", 1))
    assert (row.verdict, row.points, measured) == ("holds", 5, [3, 0, 1, 2, 4])
    verify([made], "full", Local(), journal=journal("v2", 0))
    assert len(measured) == 10


def test_errors_are_measured_again(tmp_path):
    measured = []

    def fails_once(n):
        measured.append(n)
        if len(measured) == 1:
            raise ValueError("out of memory")
        return True

    made = claim("X", statement="", relation="all", grid=over(n=range(2)))(fails_once)
    for verdict in ("error", "holds"):
        journal = Journal(tmp_path, "rank-0", "v", "--journal", alone=False)
        (row,) = verify([made], "full", Local(), journal=journal)
        journal.close()
        assert row.verdict == verdict
    assert measured == [0, 1, 0]


def test_a_changed_file_makes_another_version(tmp_path):
    file = tmp_path / "own.py"
    file.write_text("a = 1")
    before = version_of([str(file)])
    file.write_text("a = 2")
    assert version_of([str(file)]) != before


def test_a_grid_may_depend_on_earlier_axes():
    grid = over(m=(3, 5), k=lambda m: range(m - 2))
    assert [(p["m"], p["k"]) for p in grid.points("full")] == [
        (3, 0), (5, 0), (5, 1), (5, 2),
    ]  # fmt: skip
    assert once().points("quick") == [{}]
    assert Task(claim("X", statement="", relation="all")(lambda: True), {}).subject == "X"
    assert Finding().holds is False


WIDTHS = [
    ("<=", 8, "holds", 8),
    ("<=", 7, "open", None),
    ("<=", 3, "refuted", 4),
    (">=", 4, "holds", 4),
    (">=", 5, "open", None),
    (">=", 9, "refuted", 8),
    ("<", 9, "holds", 8),
    (">", 8, "refuted", 8),
    ("=", 6, "open", None),
    ("=", 8, "open", None),
    ("=", 9, "refuted", 8),
    ("=", 3, "refuted", 4),
    ("~", 9, "open", None),
    ("~", 20, "refuted", 8),
    ("in", (1, 20), "refuted", 4),
    ("in", (1, 6), "open", None),
]


@pytest.mark.parametrize(("relation", "claimed", "verdict", "shown"), WIDTHS)
def test_bounds_on_a_width_judge_what_they_decide(relation, claimed, verdict, shown):
    measured = Bisection(4, 8, False, (2, 3))
    tolerance = 0.2 if relation == "~" else 0.0
    statement = claim(
        "W", statement="a width", relation=relation, claimed=claimed, tolerance=tolerance
    )(lambda: measured)
    row = judge(statement, [{}], [find(statement, {})], 1, "")
    assert (row.verdict, row.measured) == (verdict, shown)
    truths = {holds(relation, width, claimed, tolerance) for width in range(4, 9)}
    assert truths == {"holds": {True}, "refuted": {False}, "open": {True, False}}[verdict]
    assert verdict != "open" or "4 to 8" in row.reason


def test_an_exact_width_is_a_number_in_a_claim():
    made = claim("W", statement="a ring's width is 2", claimed=2)(lambda: bisection_width("ring:8"))
    row = judge(made, [{}], [find(made, {})], 1, "")
    assert (row.verdict, row.measured, row.claimed) == ("holds", 2, 2)
