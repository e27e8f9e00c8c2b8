"""The course: its notebooks run, their solutions pass every check, and a gap passes none."""

import re

import nbformat
import pytest
from launch.conftest import CHECKOUT
from nbclient import NotebookClient

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


def run(book, folder, allow_errors=False):
    """Execute a notebook in a folder of its own."""
    client = NotebookClient(
        book,
        timeout=TIME_LIMIT,
        allow_errors=allow_errors,
        force_raise_errors=not allow_errors,
        resources={"metadata": {"path": str(folder)}},
        kernel_name="python3",
    )
    client.execute()


def failed(cell):
    """The error that a cell has ended with, if it has."""
    return next((out.ename for out in cell.outputs if out.output_type == "error"), None)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_the_solutions_pass_every_check(name, tmp_path):
    book, answers = notebook(name), solutions(name)
    exercises = tagged(book.cells, "exercise")
    assert list(answers) == list(exercises)
    for number, cell in exercises.items():
        cell.source = answers[number]
    run(book, tmp_path)


@pytest.mark.costly
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_gap_passes_no_check_and_breaks_nothing_else(name, tmp_path):
    book = notebook(name)
    run(book, tmp_path, allow_errors=True)
    checks = tagged(book.cells, "check")
    assert {number: failed(cell) for number, cell in checks.items() if not failed(cell)} == {}
    codes = [cell for cell in book.cells if cell.cell_type == "code"]
    wrong = [cell.source for cell in codes if failed(cell) and cell not in checks.values()]
    assert wrong == []


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
