"""The versions of Python and of packages that mpinet promises: cells of the table of versions.

`launch/release/try` tries the whole table. Most other tests run with the newest packages.
"""

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from launch.conftest import CHECKOUT, TIME_LIMIT
from launch.sources import ENVIRONMENT
from packaging.requirements import Requirement
from packaging.version import Version

PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
STATED = [
    named[1]
    for line in PROJECT["project"]["classifiers"]
    if (named := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line))
]
"""The versions of Python, from the oldest on."""


# A folder of its own: a run of the whole table locks the usual one.
TRY = [CHECKOUT / "launch/release/try", "--folder", ENVIRONMENT / "share/try"]


def python_of(version: str) -> str | None:
    """Return the program of a version of Python, if this machine has it."""
    kept = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions")
    places = [*kept.glob(f"{version}.*/bin"), *os.get_exec_path()]
    for place in map(str, places):
        found = shutil.which(f"python{version}", path=place)
        if found and subprocess.run([found, "-c", ""], capture_output=True).returncode == 0:
            return found  # pyenv puts programs into the path that only say what is missing
    return None


def lowest(name: str) -> str:
    """Return the lower bound of a package in pyproject.toml."""
    lines = [line for line in PROJECT["project"]["dependencies"] if line.startswith(name)]
    (bound,) = Requirement(lines[0]).specifier
    assert bound.operator == ">="
    return bound.version


def tried(folder: Path, version: str, *rows: str) -> dict[str, dict]:
    """Try cells of the table of versions; return their entries by row."""
    file = folder / "versions.json"
    words = [word for row in rows for word in ("--row", row)]
    done = subprocess.run(
        [*TRY, "--here", "--python", version, *words, "--into", file],
        env=os.environ | {"PATH": f"{ENVIRONMENT / 'bin'}:{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=len(rows) * 3 * TIME_LIMIT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    cells = json.loads(file.read_text())["cells"]
    assert [cell["python"] for cell in cells] == [version] * len(rows)
    return {cell["row"]: cell for cell in cells}


def test_the_oldest_python_works_with_the_oldest_packages(tmp_path: Path) -> None:
    cell = tried(tmp_path, STATED[0], "oldest")["oldest"]
    assert cell["verdict"] == "ok", cell
    for name in ("numpy", "networkx", "mpi4py", "greenlet"):
        assert Version(cell["packages"][name]) == Version(lowest(name))


PLACES = ["numba", "alone", "openmpi-4", "mpich-4", "user", "homeless", "blanks", "all"]


@pytest.mark.long
def test_the_newest_python_works_with_other_libraries_users_and_paths(tmp_path: Path) -> None:
    version = [version for version in STATED if python_of(version)][-1]
    cells = tried(tmp_path, version, *PLACES)
    wrong = {row: cell for row, cell in cells.items() if cell["verdict"] != "ok"}
    if os.geteuid():  # a system's own MPI library cannot be hidden then
        wrong = {row: cell for row, cell in wrong.items() if cell["verdict"] != "missing"}
    assert wrong == {}


def test_the_oldest_python_is_the_same_in_all_places() -> None:
    oldest = STATED[0]
    assert PROJECT["project"]["requires-python"] == f">={oldest}"
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py{oldest.replace('.', '')}"
    number = oldest.replace(".", ", ")
    for file, text in (
        ("launch/setup", f"sys.version_info < ({number})"),
        ("launch/setup", f"mpinet needs Python {oldest} or newer"),
        ("launch/release/make", f"--python-version {oldest} "),
        ("docs/artifact.md", f"Python {oldest} or later"),
        ("docs/artifact.md", f"Python {oldest} and later"),
    ):
        assert text in (CHECKOUT / file).read_text(), file
