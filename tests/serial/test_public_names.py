"""The public names of the package: what type checkers know of them, without loading anything."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOMS = ("mpinet", "mpinet.measure")


def told_to_checkers(room: str) -> dict[str, str]:
    """Where a room's names come from, by what it imports for type checkers alone."""
    tree = ast.parse(Path(import_module(room).__file__).read_text())
    (block,) = (part for part in tree.body if isinstance(part, ast.If) and type_checking(part.test))
    names = {
        name.asname: part.module
        for part in block.body
        if isinstance(part, ast.ImportFrom)
        for name in part.names
        if name.name != "*"
    }
    whole = (part.module for part in block.body if part.names[0].name == "*")
    return {
        name: source for room in whole for name, source in told_to_checkers(room).items()
    } | names


def type_checking(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


@pytest.mark.parametrize("room", ROOMS)
def test_checkers_and_users_get_the_same_names_from_the_same_places(room: str) -> None:
    module, told = import_module(room), told_to_checkers(room)
    assert sorted(told) == sorted(set(module.__all__) - {"__version__"})
    for name, source in told.items():
        assert getattr(module, name) is getattr(import_module(source), name)


def test_a_name_that_is_not_there_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="'mpinet' has no attribute 'opne'"):
        import_module("mpinet").opne  # noqa: B018


def test_a_users_type_checker_knows_every_public_name(tmp_path: Path) -> None:
    names = [f"{room}.{name}" for room in ROOMS for name in import_module(room).__all__]
    lines = ["import mpinet, mpinet.measure", *(f"reveal_type({name})" for name in names)]
    said = checked(
        tmp_path, [*lines, 'reveal_type(mpinet.measure.diameter(mpinet.open("ring:8")))']
    )
    types = re.findall(r'Revealed type is "(.*)"', said)
    assert len(types) == len(names) + 1, said
    assert "Any" not in types
    assert types[-1] == "int"


def test_a_users_type_checker_finds_a_misspelt_name(tmp_path: Path) -> None:
    said = checked(
        tmp_path, ["import mpinet, mpinet.measure", "mpinet.opne", "mpinet.measure.diamter"]
    )
    assert re.findall(r"has no attribute \"(\w+)\"", said) == ["opne", "diamter"], said


def checked(folder: Path, lines: list[str]) -> str:
    """What mypy says of a script, to somebody who has mpinet installed."""
    (folder / "script.py").write_text("\n".join(lines) + "\n")
    cache = folder.parent / "mypy"  # the tests of this process share what mypy knows of mpinet
    command = [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={cache}", "script.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout


TYPED = """
import mpinet

route = mpinet.route("torus:4x4")
mean: float | None = route.latency.mean
for row in mpinet.compare("ring:4", "ring:6"):
    diameter: int | None = row.diameter
found = mpinet.find(processors=(60, 64), degree=4)[0].topology.upper()
rates = [point.rate for curve in mpinet.load("ring:8", rate=[0.1, 0.2]).curves
         for point in curve.points]
"""


def test_a_users_type_checker_passes_right_fields(tmp_path: Path) -> None:
    said = checked(tmp_path, TYPED.splitlines())
    assert "Success" in said, said


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("route.stpes", '"RouteResult" has no attribute "stpes"; maybe "steps"?'),
        ("route.latency.meen", '"Latency" has no attribute "meen"'),
        ("mpinet.compare('ring:4')[0].diamter", 'has no attribute "diamter"'),
        ("mpinet.load('ring:4').curves[0].points[0].thruput", "throughput"),
        ("wrong: str = route.steps", "Incompatible types in assignment"),
    ],
)
def test_a_users_type_checker_finds_a_wrong_field(tmp_path: Path, line: str, error: str) -> None:
    said = checked(tmp_path, [*TYPED.splitlines(), line])
    assert error in said and "Found 1 error" in said, said


def test_completion_offers_a_results_fields_and_those_of_objects_in_it() -> None:
    import mpinet

    found = mpinet.route("ring:6")
    assert {"steps", "latency", "to_frame", "plot"} <= set(dir(found))
    assert {"mean", "p99"} <= set(dir(found.latency))
    assert type(found.latency).__name__ == "Latency"
