"""A sweep's plan: which points a file names, and what is wrong with it."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from mpinet.errors import UsageError
from mpinet.experiments.plan import Point, key_of, points_of, read_plan

PLAN = """
command = "route"
topology = ["ring:6", "ring:8"]
seed = {range = [0, 3]}
ports = "one"
"""


def written(text: str, folder: Path) -> list[Point]:
    (folder / "plan.toml").write_text(text)
    return points_of(read_plan(folder / "plan.toml"))


def test_points_are_all_combinations_in_the_order_of_the_file(tmp_path):
    expected = itertools.product(["ring:6", "ring:8"], range(3))
    found = written(PLAN, tmp_path)
    assert [(one.options["topology"], one.options["seed"]) for one in found] == list(expected)
    assert {(one.command, one.options["ports"]) for one in found} == {("route", "one")}


def test_parts_share_what_stands_above_them(tmp_path):
    parts = '[[part]]\npairs = "all"\n[[part]]\nseed = 7\nports = ["one", "all"]\n'
    found = written(PLAN + parts, tmp_path)
    assert len(found) == 2 * 3 + 2 * 2
    assert [one.options.get("pairs") for one in found] == ["all"] * 6 + [None] * 4
    assert {one.options["seed"] for one in found[6:]} == {7}


def test_how_results_are_drawn_makes_no_points(tmp_path):
    drawn = '[plot]\nx = "topology"\ny = ["steps", "hops"]\n'
    assert written(PLAN + drawn, tmp_path) == written(PLAN, tmp_path)


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ({"range": [2, 5]}, [2, 3, 4]),
        ({"range": [5, 0, -2]}, [5, 3, 1]),
        ({"range": [0.1, 0.4, 0.1]}, [0.1, 0.2, 0.3]),
        ({"linear": [0.0, 1.0, 5]}, np.linspace(0, 1, 5)),
        ({"geometric": [1.0, 1000.0, 4]}, np.geomspace(1, 1000, 4)),
    ],
)
def test_ranges_have_the_values_of_numpys(given, values):
    found = [one.options["rate"] for one in points_of({"command": "load", "rate": given})]
    assert found == pytest.approx(list(values), rel=1e-12)
    assert all(type(one) is type(found[0]) for one in found)


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ({}, "names its command"),
        ({"command": "route", "seed": []}, "list of its values is empty"),
        ({"command": "route", "seed": {"range": [3, 3]}}, "a range is"),
        ({"command": "route", "seed": {"range": [0, 9, 0]}}, "a range is"),
        ({"command": "route", "seed": {"linear": [0, 1, 0.5]}}, "a range is"),
        ({"command": "route", "seed": {"linear": [0, 1, 10**12]}}, "a range is"),
        ({"command": "route", "seed": {"rang": [0, 9]}}, "a range is"),
        ({"command": "route", "seed": {"range": [0, 10**12]}}, "1000000 points at most"),
        ({"command": "route", "part": {"seed": 1}}, "[[part]]"),
        ({"command": "route", "plt": {"x": "seed"}}, "[plt] is not a table of a sweep"),
        ({"command": "route", "part": [{"plot": {"x": "seed"}}]}, "placed above its parts"),
    ],
)
def test_a_wrong_plan_gets_a_sentence(plan, said):
    with pytest.raises(UsageError) as error:
        points_of(plan)
    assert said in str(error.value)


@pytest.mark.parametrize("text", ["command = ", b"\xff\xfe", '{"a": 1}'])
def test_a_file_that_is_no_toml_gets_a_sentence(text, tmp_path):
    path = tmp_path / "plan.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UsageError, match=r"The sweep's file .*plan\.toml"):
        read_plan(path)


def test_a_points_hash_depends_on_its_options_and_on_the_files_that_they_name(tmp_path):
    file = tmp_path / "wiring.edges"
    file.write_text("0 1\n")
    options = {"topology": f"graph:{file}", "seed": 1}
    key = key_of("route", options)
    assert key == key_of("route", dict(reversed(options.items())))
    assert key != key_of("flood", options)
    assert key != key_of("route", options | {"seed": 2})
    file.write_text("0 1\n1 2\n")
    assert key != key_of("route", options)
