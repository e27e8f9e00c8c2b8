"""Rows say what their network is: its family, size and parameters, read from its name alone."""

import csv
import json

import pytest

import mpinet
from mpinet.cli.session import CommandSession
from mpinet.networks.catalogue import families
from mpinet.report.curves import read_rows
from mpinet.report.networkcolumns import network_columns

KNOWN = [family for family in families() if family.name != "graph"]


@pytest.mark.parametrize("family", KNOWN, ids=lambda family: family.name)
def test_the_columns_of_a_family_are_what_its_topology_has(family):
    found = network_columns(family.example)
    assert found["family"] == family.name
    assert found["size"] == mpinet.open(family.example).size
    named = {name.strip() for name in family.parameters.split(",") if name}
    assert set(found.get("parameter", {})) <= named


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("torus:4x8", {"family": "torus", "size": 32, "parameter": {"SIDES": "4x8"}}),
        ("ring:4*torus:3x3", {"family": "ring*torus", "size": 36}),
        ("torus:4x8,hosts=2", {"family": "torus", "size": 32 * 3}),
        ("graph:there.edges", {"family": "graph"}),
        ("there.py:Wheel:6", {"family": "Wheel"}),
        ("there.py:Wheel:6*ring:4", {"family": "Wheel*ring"}),
        ("ring:none", {"family": "ring"}),
    ],
)
def test_what_a_name_does_not_tell_is_left_out_and_no_file_is_opened(name, columns):
    assert network_columns(name) == columns


def test_a_document_of_others_runs_no_code(tmp_path):
    marked = tmp_path / "marked"
    (tmp_path / "own.py").write_text(f"open({str(marked)!r}, 'w')")
    document = {"command": ["mpinet", "flood"], "topology": f"{tmp_path}/own.py:Own:6", "seed": 0,
                "ranks": 1, "model": {}, "result": {"steps": 3}}  # fmt: skip
    (tmp_path / "of.json").write_text(json.dumps(document))
    (row,) = read_rows(tmp_path / "of.json")
    assert row["family"] == "Own" and not marked.exists()


@pytest.mark.parametrize(
    "words", ["load ring:6 mesh:2x3 --rate 0.1 --steps 5", "compare ring:6 mesh:2x3 --only degree"]
)
def test_every_row_of_several_networks_has_those_of_its_own(words, tmp_path, capsys):
    assert CommandSession([*words.split(), "--out", f"{tmp_path}/rows.csv"]).run() == 0
    rows = [*csv.DictReader((tmp_path / "rows.csv").open())]
    assert [(row["family"], row["size"]) for row in rows] == [("ring", "6"), ("mesh", "6")]
    assert rows[0]["parameter.N"] == "6" and rows[1]["parameter.SIDES"] == "2x3"
