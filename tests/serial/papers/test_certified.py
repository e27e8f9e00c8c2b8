"""Rows beside the optimum name the commands that certify it, and these do."""

import re

import pytest

from mpinet.claims.finding import find
from mpinet.claims.ledger import PAPERS, claims_of
from mpinet.cli.session import CommandSession
from mpinet.papers.widths import CERTIFIED

ROWS = [claim for room in PAPERS for claim in claims_of(room) if claim.beats]
POINTS = [(claim, point) for claim in ROWS for point in claim.grid.points("quick")[1:2]]


@pytest.mark.parametrize(
    ("claim", "point"), POINTS, ids=[f"{claim.id} {point['topology']}" for claim, point in POINTS]
)
def test_a_row_beside_the_optimum_is_certified(claim, point, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = find(claim, point)
    assert found.where["exact"]
    for command in found.where["certificate"].split(" && "):
        program, *words = command.split()
        assert program == "mpinet"
        capsys.readouterr()
        assert CommandSession(words).run() == 0
    said = capsys.readouterr().out
    assert f"on {point['topology']}, {found.where['ports']}" in said
    assert re.search(rf"takes more than {found.measured - 1} steps: VERIFIED", said)


WIDTHS = """STH-T1-m3 STH-L5-tq-bisection STH-T4-bw-hx STH-C-lst-width STH-C-dlh-width
HDN-S3-bisection""".split()


@pytest.mark.parametrize("id", WIDTHS)
def test_a_row_about_a_width_is_certified(id, tmp_path, monkeypatch, capsys):
    (row,) = (claim for room in PAPERS for claim in claims_of(room) if claim.id == id)
    assert CERTIFIED in row.note
    monkeypatch.chdir(tmp_path)
    found = find(row, row.grid.points("quick")[-1])
    width = found.measured
    if isinstance(width, dict):
        width = next(value for key, value in width.items() if key != "N")
    for command in found.where["certificate"].split(" && "):
        capsys.readouterr()
        assert CommandSession(command.split()[1:]).run() == 0
    said = capsys.readouterr().out
    assert f"has more than {width - 1} links, one cut has {width}: VERIFIED" in said


def test_a_certificate_of_more_steps_than_are_needed_is_refused(tmp_path, monkeypatch, capsys):
    (claim,) = (claim for claim in ROWS if claim.id == "STH-B-lst")
    monkeypatch.chdir(tmp_path)
    found = find(claim, {"topology": "lst:2"})
    optimum, certify = found.where["certificate"].split(" && ")
    assert CommandSession(optimum.split()[1:]).run() == 0
    text = (tmp_path / "proof.cert").read_text()
    raised = text.replace('"more_than": 3', '"more_than": 4')
    assert raised != text
    (tmp_path / "proof.cert").write_text(raised)
    capsys.readouterr()
    assert CommandSession(certify.split()[1:]).run() != 0
    assert "VERIFIED" not in capsys.readouterr().out
