"""The course: its notebooks run, their solutions pass every check, and a gap passes none."""

import json
import os
import re
import subprocess

import nbformat
import pytest
from launch.conftest import CHECKOUT

pytestmark = pytest.mark.usefixtures("forked")

COURSE = CHECKOUT / "docs" / "course"
NOTEBOOKS = sorted(path.stem for path in COURSE.glob("*.ipynb"))
TIME_LIMIT = 360
"""Seconds for a cell, on a machine that others use."""


def notebook(name):
    return nbformat.read(COURSE / f"{name}.ipynb", as_version=4)


def tagged(cells, tag):
    """The cells with a tag, by the number in their first line."""
    found = [cell for cell in cells if tag in cell.metadata.get("tags", ())]
    heads = [cell.source.splitlines()[0].removeprefix(f"# {tag.capitalize()} ") for cell in found]
    numbered = dict(zip(heads, found, strict=True))
    assert len(numbered) == len(found)
    return numbered


def solutions(name):
    """The solutions of a notebook by the numbers of their exercises."""
    text = (COURSE / "solutions" / f"{name}.py").read_text()
    _, *parts = re.split(r"^# %% exercise (\S+)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


RUNNER = """
import json
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
with open("cells.json") as file:
    ended = [shell.run_cell(source, store_history=True) for source in json.load(file)]
errors = [each.error_before_exec or each.error_in_exec for each in ended]
with open("errors.json", "w") as file:
    json.dump([error and type(error).__name__ for error in errors], file)
"""
"""What a notebook's kernel does; that kernels do, the pages show, which execute all notebooks."""


def run(book, folder):
    """Execute a notebook in a folder of its own; returns its code cells, with their errors."""
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    (folder / "cells.json").write_text(json.dumps([cell.source for cell in cells]))
    subprocess.run(
        ["forked-python", "-c", RUNNER],
        cwd=folder,
        env={**os.environ, "MPLBACKEND": "agg", "IPYTHONDIR": str(folder / "profile")},
        stdin=subprocess.DEVNULL,
        timeout=TIME_LIMIT,
        check=True,
    )
    return list(zip(cells, json.loads((folder / "errors.json").read_text()), strict=True))


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_the_solutions_pass_every_check(name, tmp_path):
    book, answers = notebook(name), solutions(name)
    exercises = tagged(book.cells, "exercise")
    assert list(answers) == list(exercises)
    for number, cell in exercises.items():
        cell.source = answers[number]
    assert [(cell.source, error) for cell, error in run(book, tmp_path) if error] == []


@pytest.mark.costly
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_gap_passes_no_check_and_breaks_nothing_else(name, tmp_path):
    book = notebook(name)
    failed = [cell for cell, error in run(book, tmp_path) if error]
    checks = [*tagged(book.cells, "check").values()]
    assert [cell.source for cell in checks if cell not in failed] == []
    assert [cell.source for cell in failed if cell not in checks] == []


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_exercise_has_its_check_right_behind_it(name):
    cells = notebook(name).cells
    exercises, checks = tagged(cells, "exercise"), tagged(cells, "check")
    assert len(exercises) >= 3 and list(exercises) == list(checks)
    for number, cell in exercises.items():
        assert cells[cells.index(cell) + 1] is checks[number]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_kept_without_what_it_has_printed(name):
    cells = [cell for cell in notebook(name).cells if cell.cell_type == "code"]
    assert [cell.source for cell in cells if cell.outputs or cell.execution_count] == []


def test_the_course_has_six_notebooks():
    assert len(NOTEBOOKS) == 6
