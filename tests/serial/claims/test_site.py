"""The site's document of verdicts is put together of results of `verify`, claim by claim."""

import importlib.util
from dataclasses import fields
from pathlib import Path

from mpinet.claims.verdict import Verdict
from mpinet.cli.session import Session
from mpinet.report.envelope import digest
from mpinet.report.ledger.reading import read_document

PLACE = Path(__file__).parents[3] / "docs/_extensions/verdicts.py"
SPEC = importlib.util.spec_from_file_location("verdicts", PLACE)
verdicts = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(verdicts)


def test_new_rows_take_the_place_of_old_ones_in_the_ledgers_order(tmp_path, monkeypatch):
    file, out = tmp_path / "verdicts.json", str(tmp_path / "some.json")
    monkeypatch.setattr(verdicts, "FILE", file)
    monkeypatch.setattr(verdicts.sys, "argv", ["verdicts.py", out])
    for names in (["STH-F1-lst3", "LENS-F1-sizes"], ["GMN-RRB-ex1", "LENS-F1-sizes"]):
        assert Session(["verify", *names, "--out", out]).run() == 0
        verdicts.main()
    document = read_document(file)
    rows = document["result"]
    assert [row["id"] for row in rows] == ["GMN-RRB-ex1", "LENS-F1-sizes", "STH-F1-lst3"]
    assert [row["verdict"] for row in rows] == ["holds"] * 3
    assert all(row["seconds"] is None for row in rows)
    assert digest(rows) == document["digest"]
    assert set(rows[0]) == {field.name for field in fields(Verdict)}
