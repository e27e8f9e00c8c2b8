"""The rooms of the package: who may import whom (the contracts are in pyproject.toml)."""

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
HEAVY = {"mpi4py", "numba", "networkx", "matplotlib", "rich"}


def test_imports_keep_to_the_layers() -> None:
    check = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports())"
    done = subprocess.run(
        [sys.executable, "-c", check], cwd=CHECKOUT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("module", ["mpinet", "mpinet.cli", "mpinet.errors"])
def test_heavy_libraries_wait_until_they_are_used(module: str) -> None:
    program = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert HEAVY & set(done.stdout.split()) == set()


def test_a_short_command_does_without_scipys_algebra_and_a_users_kernel_has_it() -> None:
    program = (
        "import sys, numpy\n"
        "from mpinet.compiled import numba\n"
        "square = numba().njit(lambda matrix: matrix @ matrix)\n"
        "print('scipy.linalg' in sys.modules)\n"
        "product = square(numpy.array([[1.0, 2.0], [3.0, 4.0]])).tolist()\n"
        "print(product, 'scipy.linalg' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["False", "[[7.0, 10.0], [15.0, 22.0]] True"], done.stderr


WHOLE = ["commands"]
"""Rooms without circles, also of imports for type checkers and within functions."""


def imported(file: Path, room: str, names: set[str]) -> set[str]:
    """The modules of a room that a file of it imports anywhere."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{each.name}" for each in node.names} | {node.module}
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
    return {each.removeprefix(f"{room}.") for each in found} & names - {file.stem}


@pytest.mark.parametrize("room", WHOLE)
def test_no_file_of_a_room_needs_itself_however_it_is_imported(room: str) -> None:
    files = {file.stem: file for file in (CHECKOUT / "mpinet" / room).glob("*.py")}
    graph = {
        name: imported(file, f"mpinet.{room}", set(files))
        | ({"__init__"} if f"from mpinet.{room} import" in file.read_text() else set())
        for name, file in files.items()
    }
    graph["__init__"].discard("__init__")
    try:
        order = [*TopologicalSorter(graph).static_order()]
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))
    assert len(order) == len(files) > 50
