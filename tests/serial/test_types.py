"""mypy is content with the package, and tells users what is wrong in their scripts.

One run checks both: to read the package takes nearly all of its time. What mypy knows is kept in
the user's cache folder, for all checkouts, as compiled kernels are.
"""

import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import pytest
from serial.test_public_names import ROOMS

from mpinet.base.locks import alone

CHECKOUT = Path(__file__).resolve().parents[2]

NAMES = [f"{room}.{name}" for room in ROOMS for name in import_module(room).__all__]

RIGHT = """
import mpinet
import numpy as np

route = mpinet.route("torus:4x4")
mean: float | None = route.latency.mean
for row in mpinet.compare("ring:4", "ring:6"):
    diameter: int | None = row.diameter
found = mpinet.find(processors=(60, 64), degree=4)[0].topology.upper()
rates = [point.rate for curve in mpinet.load("ring:8", rate=[0.1, 0.2]).curves
         for point in curve.points]
proved: int = mpinet.optimum("gossip", "ring:4").upper
known: int = mpinet.optimum("ring:4", collective="gossip", root=0).upper
arrays = mpinet.load("ring:4", rate=np.linspace(0.1, 0.3, 3), pattern=np.arange(4)).curves
steps: int = mpinet.route("ring:4", pairs=[(0, 1)]).steps
hops: int = mpinet.route("ring:4", pairs=np.array([[0, 1]])).hops_total
rows = mpinet.compare(np.array(["ring:4"]), only=["diameter"])
"""

WRONG = {
    "mpinet.opne": 'Module has no attribute "opne"',
    "mpinet.measure.diamter": 'Module has no attribute "diamter"',
    "route.stpes": '"RouteResult" has no attribute "stpes"; maybe "steps"?',
    "route.latency.meen": '"Latency" has no attribute "meen"',
    "mpinet.compare('ring:4')[0].diamter": 'has no attribute "diamter"',
    "mpinet.load('ring:4').curves[0].points[0].thruput": "throughput",
    "wrong: str = route.steps": "Incompatible types in assignment",
    "mpinet.broadcast('ring:4', rot=5)": 'Unexpected keyword argument "rot"',
    "mpinet.optimum('gossip', 'ring:4').uper": 'no attribute "uper"; maybe "upper"?',
    "mpinet.route('ring:4', pairs=3)": 'Argument "pairs" has incompatible type "int"',
    "mpinet.commands.collectives.GatherOptions('ring:4').rot": 'no attribute "rot"; maybe "root"?',
}
"""Lines of a script, and what mypy says of them."""

SCRIPTS = {
    "names": [
        "import mpinet, mpinet.measure",
        *(f"reveal_type({name})" for name in NAMES),
        'reveal_type(mpinet.measure.diameter(mpinet.open("ring:8")))',
    ],
    "right": RIGHT.splitlines(),
    "wrong": ["import mpinet.commands.collectives, mpinet.measure", *RIGHT.splitlines(), *WRONG],
}


@contextmanager
def cache() -> Iterator[Path]:
    """What mypy knows of the package; one run at a time reads and writes it."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mpinet" / "mypy"
    folder.mkdir(parents=True, exist_ok=True)
    with alone(str(folder / "lock"), patience=math.inf):
        yield folder


def said(*words: str | Path, folder: Path = CHECKOUT) -> list[str]:
    """The lines that mypy prints."""
    command = [sys.executable, "-m", "mypy", "--no-error-summary", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout.splitlines()


@pytest.mark.first
def test_mypy_finds_nothing_wrong_in_the_package_and_in_scripts_what_is(tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.py" for name in SCRIPTS]
    for file in files:
        file.write_text("\n".join(SCRIPTS[file.stem]) + "\n")
    with cache() as kept:
        lines = said(f"--cache-dir={kept}", "mpinet", *files)
    of = {file.stem: [line for line in lines if f"{file.name}:" in line] for file in files}
    assert sum(map(len, of.values())) == len(lines), "\n".join(lines)
    types = re.findall(r'Revealed type is "(.*)"', "\n".join(of["names"]))
    assert len(types) == len(of["names"]) == len(NAMES) + 1, of["names"]
    assert "Any" not in types
    assert types[-1] == "int"
    assert of["right"] == []
    assert len(of["wrong"]) == len(WRONG), of["wrong"]
    for line, sentence in zip(of["wrong"], WRONG.values(), strict=True):
        assert sentence in line


OPTION = re.compile(r"(?:options|self\.options|self\._options|self\._line)\.(\w+)")
"""Use of an option in a job, a helper or the session."""


def planted(folder: Path) -> dict[str, str]:
    """Copies of the jobs and the session with the last option of each misspelt, by their files."""
    rooms = [CHECKOUT / "mpinet/jobs", CHECKOUT / "mpinet/cli"]
    found = {}
    for file in sorted(file for room in rooms for file in room.glob("*.py")):
        text = file.read_text()
        used = [use for use in OPTION.finditer(text) if use[1] not in ("items", "path")]
        if used:
            copy = folder / f"{file.parent.name}-{file.name}"
            copy.write_text(f"{text[: used[-1].end()]}q{text[used[-1].end() :]}")
            found[str(file.relative_to(CHECKOUT))] = str(copy)
    return found


@pytest.mark.first
def test_mypy_finds_a_misspelt_option_in_every_job_and_helper(tmp_path: Path) -> None:
    files = planted(tmp_path)
    shadows = [word for one, copy in files.items() for word in ("--shadow-file", one, copy)]
    with cache() as kept:
        lines = said(f"--cache-dir={kept}-planted", "mpinet", *shadows)
    assert len(files) > 50
    of = {one: [line for line in lines if line.startswith(f"{one}:")] for one in files}
    assert [one for one, found in of.items() if "has no attribute" not in "".join(found)] == []


@pytest.mark.long
def test_mypy_finds_the_types_of_the_installed_package(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("\n".join(SCRIPTS["wrong"]) + "\n")
    words = ("--strict", f"--cache-dir={tmp_path}", "script.py")
    assert len(said(*words, folder=tmp_path)) == len(WRONG)


def test_the_installed_package_says_that_it_has_types() -> None:
    assert Path(import_module("mpinet").__file__ or "", "..", "py.typed").resolve().exists()
