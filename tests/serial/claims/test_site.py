"""The site's document of verdicts is put together of results of `verify`, claim by claim."""

import importlib.util
import re
import sys
from dataclasses import asdict, fields
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from mpinet.claims.ledger import claims_of, select
from mpinet.claims.summary import summary
from mpinet.claims.verdict import Verdict, lasting
from mpinet.claims.verify import verify
from mpinet.cli.session import CommandSession
from mpinet.machine.transport import Local
from mpinet.papers.gbsn.construction import breaks_step_2
from mpinet.report.envelope import digest
from mpinet.report.ledger.reading import read_document

PLACE = Path(__file__).parents[3] / "docs/_extensions/verdicts.py"


def extension(name):
    """A module of docs/_extensions."""
    spec = importlib.util.spec_from_file_location(name, PLACE.with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


verdicts, ledger, shown = map(extension, ("verdicts", "ledger", "ledgershown"))


def test_new_rows_take_the_place_of_old_ones_in_the_ledgers_order(tmp_path, monkeypatch):
    file, out = tmp_path / "verdicts.json", str(tmp_path / "some.json")
    monkeypatch.setattr(verdicts, "FILE", file)
    monkeypatch.setattr(verdicts.sys, "argv", ["verdicts.py", out])
    for names in (["STH-F1-lst3", "LENS-F1-sizes"], ["GMN-RRB-ex1", "LENS-F1-sizes"]):
        assert CommandSession(["verify", *names, "--out", out]).run() == 0
        verdicts.main()
    document = read_document(file)
    rows = document["result"]
    assert [row["id"] for row in rows] == ["GMN-RRB-ex1", "LENS-F1-sizes", "STH-F1-lst3"]
    assert [row["verdict"] for row in rows] == ["holds"] * 3
    assert all(row["seconds"] is None for row in rows)
    assert digest(list(map(lasting, rows))) == document["digest"]
    assert set(rows[0]) == {field.name for field in fields(Verdict)}


SLOW = ("*-dl-diam", "*-ch-diam", "STH-T5-*-sth-*", "STH-T8-*", "HDN-S3-*", "HDN-Tab*", "GMN-C-*")
"""One-point rows of which some take longer than a second."""


@pytest.fixture(scope="module")
def published():
    """The rows that the site shows, by their ids: its digest is that of its rows."""
    return {row["id"]: row for row in read_document(verdicts.FILE)["result"]}


def test_the_site_has_a_verdict_on_every_claim_in_the_words_of_today(published):
    rows = list(published.values())
    assert [row["id"] for row in rows] == [claim.id for claim in select([])]
    assert verdicts.merged(rows, []) == rows
    assert {row["verdict"] for row in rows} == {"holds", "refuted", "beaten", "open"}
    assert "--budget full" in " ".join(read_document(verdicts.FILE)["command"])


def measured_again(claims):
    """Digest of rows that are measured now, with the full budget."""
    return digest(
        [{**asdict(verdict), "seconds": None} for verdict in verify(claims, "full", Local())]
    )


def test_a_share_of_the_published_verdicts_comes_out_again(published):
    quick = [
        claim
        for claim in select([])
        if published[claim.id]["points"] <= 1
        and not any(fnmatchcase(claim.id, name) for name in SLOW)
    ][::6]
    assert len(quick) > 12
    assert measured_again(quick) == digest([published[claim.id] for claim in quick])


@pytest.mark.long
def test_all_published_verdicts_come_out_again(published):
    assert measured_again(select([])) == digest(list(published.values()))


TUTORIAL = PLACE.parents[1] / "tutorials/claims.md"


def counted(found):
    """What the site counts of a paper, or of all."""
    stated = found["stated"]
    kinds = (stated["claims"], stated["holds"], stated["refuted"], stated["open"])
    ours = found["claims"] - stated["claims"]
    return [*kinds, found["errors"], *found["grades"].values(), ours, found["beaten"]]


def test_the_tutorial_counts_as_the_site_does(published):
    found, words = summary(list(published.values())), " ".join(TUTORIAL.read_text().split())
    claims, holds, refuted, undecided, errors, *_, ours, beaten = counted(found["all"])
    for said in (
        f"make {claims} claims",
        f"**{holds} hold, {refuted} are refuted** by {errors} distinct errors",
        f"and {undecided} are open",
        f"our own {ours} rows",
        f"For {beaten} of the nine",
    ):
        assert said in words


def test_the_report_counts_as_the_tutorial_does(published):
    rows = list(published.values())
    claims, holds, refuted, undecided, errors, *grades, ours, _ = counted(summary(rows)["all"])
    said = shown.numbers(rows)
    assert said.startswith(f"Of {claims} statements {holds} hold on the tested networks")
    assert f"{refuted} are refuted, {undecided} are open" in said
    assert f"{errors} distinct errors: {grades[0]} wrong results" in said
    assert f"We added {ours} rows" in said
    assert f"{sum(row['points'] for row in rows):,} points" in said


def test_links_of_tables_and_figures_lead_to_rows_on_the_papers_pages():
    html = '<a href="#GMN-T1-D">8</a> <a href="#table-gmn-1">table</a>'
    assert shown.relinked(html, "../") == (
        '<a href="../papers/gmn.html#claim-GMN-T1-D">8</a> <a href="#table-gmn-1">table</a>'
    )


CAN = re.compile(r"can (always )?be (done|made|embedded)|\boptimal\b")
"""Words by which a paper says that something exists, not that its own way is the one."""


def test_what_can_be_done_is_refuted_by_the_best_way_or_says_whose_way_was_tried(published):
    said = [row for row in published.values() if row["quotation"] and row["verdict"] == "refuted"]
    can = [row for row in said if CAN.search(row["quotation"]["text"])]
    assert len(can) >= 5
    assert not [
        row["id"]
        for row in can
        if row["relation"] != "exists" and not row["reading"] and not row["note"]
    ]


def test_no_refutation_of_the_gbsn_rests_on_links_of_ours_or_excluded_networks(published):
    rows = [(claim, published[claim.id]) for claim in claims_of("gbsn")]
    refuted = [(claim, row) for claim, row in rows if row["verdict"] == "refuted"]
    assert any(row["degenerate"] for _, row in refuted)
    for claim, row in refuted:
        assert row["nondegenerate"], claim.id
        point = row["nondegenerate"]["point"]
        assert not claim.degenerate(**point), claim.id
        # The networks of Fig. 1(b) break step 2, so a row on them reads it as advice.
        if "Fig. 1(b)" not in claim.reading + claim.grid.text:
            assert not breaks_step_2(**point), claim.id
