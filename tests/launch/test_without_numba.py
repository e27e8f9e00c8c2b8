"""Commands without Numba, llvmlite and the library: plain Python has the results of native code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from launch.conftest import CHECKOUT, TIME_LIMIT
from launch.examples import ALONE, LEFT_OUT, SMALLER, commands

from mpinet.commands.catalogue import COMMANDS

PROGRAM = CHECKOUT / "tests/launch/examples.py"


def digests(folder: Path, mode: str, ranks: int, **environment: str) -> dict[str, str]:
    """The digests of all examples, run in a folder of their own."""
    folder.mkdir()
    start = (
        [sys.executable] if ranks == 1 else [CHECKOUT / "launch/run", "-n", str(ranks), "python"]
    )
    done = subprocess.run(
        [*start, PROGRAM, mode, folder / "digests.json"],
        cwd=folder,
        env=os.environ | {"PYTHONHASHSEED": "0"} | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, str] = json.loads((folder / "digests.json").read_text())
    return found


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The digests with native code, on one rank."""
    return digests(tmp_path_factory.mktemp("examples") / "native", "native", 1)


@pytest.mark.parametrize("ranks", [1, 2])
def test_the_example_of_every_command_has_the_same_digest_in_plain_python(
    native: dict[str, str], tmp_path: Path, ranks: int
) -> None:
    cache = str(tmp_path / "cache")
    found = digests(tmp_path / "run", "plain", ranks, MPINET_COMPILE="never", MPINET_CACHE=cache)
    assert found == {line: native[line] for line in commands(ranks)}
    assert all(len(each) == 64 for each in found.values())


def test_every_command_is_run_or_there_is_a_reason() -> None:
    assert {*LEFT_OUT, *SMALLER, *ALONE} <= {*COMMANDS}
    assert len(commands()) == len(COMMANDS) - len(LEFT_OUT)
