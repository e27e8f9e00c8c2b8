"""The library that wheels bring: built of a few parts, it replaces Numba, and two builds agree."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mpinet.base.native.kept import FORM
from mpinet.base.native.library import index_name

CHECKOUT = Path(__file__).resolve().parents[3]
PARTS = r"^mpinet\.compiled:map_rule$|^family:star$"
LIBRARY, INDEX = "libmpinet-x86-64-v2.so", index_name(sys.version_info[:2])


def build(folder: Path, only: str, hash_seed: str) -> Path:
    """Make a library of some parts, or add to one; return the folder with it and its index."""
    command = [sys.executable, "launch/release/library.py", "--processes", "1", "--only", only]
    places = ["--build", str(folder / "build"), "--into", str(folder / "native")]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(
        [*command, *places], cwd=CHECKOUT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "native"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a library of a kernel and the rules of a star, and with its index."""
    return build(tmp_path_factory.mktemp("library"), PARTS, "1")


PROGRAM = """
import sys
from pathlib import Path
sys.modules["numba"] = sys.modules["llvmlite"] = None
from mpinet.base.native import library
library.FOLDER = Path(sys.argv[1])
import numpy as np, mpinet
from mpinet.base.native.background import WATCH
from mpinet.compiled import map_rule
wired = mpinet.open(sys.argv[2])
nodes, ports = np.divmod(np.arange(wired.size * wired.ports), wired.ports)
values = wired.neighbor(nodes, ports)
print(*values)
print(bool(WATCH.address(map_rule)), bool(wired.neighbor.native.address), len(WATCH.missing))
"""
"""Maps the wiring of a network over all its ports, with the library in a folder and no Numba."""


def wired(folder: Path, network: str) -> tuple[list[int], list[str]]:
    """The neighbours of all ports, and what was native: the kernel, the rule; how many were not."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder), network],
        env={**os.environ, "MPINET_COMPILE": "never", "NUMBA_DISABLE_JIT": "0"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    values, found = done.stdout.splitlines()
    return list(map(int, values.split())), found.split()


STAR = [*range(1, 100), *([0] + [-1] * 98) * 99]
"""Neighbours in a star of 100: node 0 has the others behind its ports."""


def test_a_kernel_and_a_rule_of_the_library_run_without_numba(built: Path) -> None:
    values, found = wired(built, "star:100")
    assert values == STAR
    assert found == ["True", "True", "0"]


def test_what_the_library_lacks_runs_as_plain_python(built: Path) -> None:
    values, found = wired(built, "ring:90")
    assert sorted(values) == sorted(2 * list(range(90)))
    assert all(abs(value - i // 2) in (1, 89) for i, value in enumerate(values))
    assert found == ["True", "False", "1"]


def test_two_builds_agree_bit_for_bit_and_name_no_place(built: Path, tmp_path: Path) -> None:
    build(tmp_path, PARTS.partition("|")[2], "2")  # in another order
    other = build(tmp_path, PARTS, "3")
    for name in (LIBRARY, INDEX):
        assert (other / name).read_bytes() == (built / name).read_bytes()
    for place in (CHECKOUT, tmp_path, Path(sys.prefix), Path.home()):
        assert str(place).encode() not in (built / LIBRARY).read_bytes()


def test_an_index_has_the_functions_of_the_library_by_the_fingerprints(built: Path) -> None:
    form, *lines = (built / INDEX).read_text().splitlines()
    assert form == f"form {FORM}"
    exported = subprocess.run(
        ["nm", "-D", "--defined-only", built / LIBRARY], check=True, capture_output=True, text=True
    ).stdout
    symbols = {line.split()[2] for line in exported.splitlines()}
    assert {line.split()[1] for line in lines} == symbols
    assert all(symbol == f"mp_{fingerprint}" for fingerprint, symbol in map(str.split, lines))


@pytest.mark.parametrize("damage", ["another form", "no library", "no index", "a cut library"])
def test_a_library_that_cannot_be_used_is_as_none(built: Path, tmp_path: Path, damage: str) -> None:
    for name in (LIBRARY, INDEX):
        (tmp_path / name).write_bytes((built / name).read_bytes())
    if damage == "another form":
        lines = (tmp_path / INDEX).read_text().splitlines(keepends=True)
        (tmp_path / INDEX).write_text("".join([f"form {FORM + 1}\n", *lines[1:]]))
    elif damage == "a cut library":
        (tmp_path / LIBRARY).write_bytes((built / LIBRARY).read_bytes()[:50])
    else:
        (tmp_path / (INDEX if damage == "no index" else LIBRARY)).unlink()
    values, found = wired(tmp_path, "star:20")
    assert values[:19] == list(range(1, 20)) and found == ["False", "False", "2"]


LOOKING = """
import mpinet, os
from mpinet.base.native.library import FOLDER
print(os.path.relpath(FOLDER, os.path.dirname(mpinet.__file__)))
"""


def test_no_variable_and_no_current_folder_leads_to_another_library(
    built: Path, tmp_path: Path
) -> None:
    (tmp_path / "mpinet").mkdir()
    (tmp_path / "mpinet/native").symlink_to(built)
    environment = {
        **os.environ,
        "MPINET_CACHE": str(tmp_path / "mpinet"),
        "LD_LIBRARY_PATH": str(built),
        "MPINET_WHEEL_FOLDER": str(built),
    }
    command = [sys.executable, "-P", "-c", LOOKING]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("native\n", "")
