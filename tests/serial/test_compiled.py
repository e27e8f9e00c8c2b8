"""Compiled code: made at the first launch, for all parameters; every later launch only loads it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

import numpy as np
import pytest

import mpinet
from mpinet import compiled, draws

LAUNCH = """
import json, sys, time
from numba.core.event import install_recorder
from mpinet.cli.session import Session
from mpinet.compiled import Compiled

seconds, jit = [], Compiled._jit


def timed(function, signature):
    began = time.process_time()
    native = jit(function, signature)
    seconds.append(time.process_time() - began)
    return native


Compiled._jit = timed
with install_recorder("numba:compile") as compiled, install_recorder("numba:run_pass") as passes:
    statuses = [Session([*line.split(), "--json"]).run() for line in sys.argv[1:]]
told = {"statuses": statuses, "seconds": seconds}
told |= {"compiled": len(compiled.buffer), "passes": len(passes.buffer)}
print(json.dumps(told))
"""
"""Runs the commands of its arguments, then tells how often Numba compiled, and how many
seconds every compiled function took to be there."""

FIRST = (
    "route torus:4x4x4 --pairs random:10000",
    "flood torus:4x4x4",
)
SECOND = (
    "route torus:3x5 --pairs random:9000 --seed 3",
    "flood torus:3x5",
)
"""The same commands with other parameters. From 8192 messages on the router compiles rules into
its loops; some go to their own processor."""


def launched(cache: Path, commands: tuple[str, ...]) -> dict[str, list[float]]:
    """What a fresh process with this cache tells about itself."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    environment.pop("NUMBA_DISABLE_JIT", None)
    done = subprocess.run(
        [sys.executable, "-c", LAUNCH, *commands], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    assert told["statuses"] == [0] * len(commands), done.stderr
    return told


@pytest.mark.first
def test_a_second_launch_with_other_parameters_compiles_nothing(tmp_path: Path) -> None:
    first = launched(tmp_path, FIRST)
    files = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.nb?")}
    assert first["compiled"] > 20 and first["passes"] > 20 and len(files) > 20
    second = launched(tmp_path, SECOND)
    assert (second["compiled"], second["passes"]) == (0, 0)
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.nb?")} == files
    assert len(second["seconds"]) > 10
    assert median(second["seconds"]) < 0.05 < median(first["seconds"])


@pytest.mark.first
def test_a_rule_that_makes_arrays_is_compiled_where_no_other_was(tmp_path: Path) -> None:
    repairing = "route gmn:4,16 --pairs random:9 --routing online --faults node:7"
    assert launched(tmp_path, (repairing,))["compiled"] > 5


def test_a_rule_of_many_small_arrays_is_compiled_unless_it_is_a_users(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled.numba()
    monkeypatch.setattr(compiled, "PLAYED", 20)
    params = np.array([100, 2, 7])
    few = np.arange(8)
    plain = [draws.shuffled(int(node), 100, 7) for node in few]
    ours = compiled.Rule(draws.permuted.function)
    users = compiled.Rule(shuffled_by_a_user)
    for rule, is_compiled in ((ours, True), (users, False)):
        mapped = compiled.Mapped(rule, params)
        assert [mapped(few, 0).tolist() for _ in range(4)] == [plain] * 4
        assert ("native" in vars(rule)) == is_compiled


def shuffled_by_a_user(node: int, port: int, params: list[int]) -> int:
    """A rule that Numba cannot compile."""
    return draws.shuffled(*[int(each) for each in (node, params[0], params[2])])


def test_compiled_rules_take_arrays_that_nobody_may_write() -> None:
    ring = mpinet.open("ring:8")
    assert ring.neighbor.rule.native  # from here on small arrays go to compiled code, too
    closed = np.arange(8)
    closed.flags.writeable = False
    assert ring.neighbor(closed, 0).tolist() == [1, 2, 3, 4, 5, 6, 7, 0]
    assert ring.neighbor(np.array([3]), 0).tolist() == [4]
    assert ring.neighbor(np.broadcast_to(3, (2,)), np.array([0, 0])).tolist() == [4, 4]


COLORAMA = """
import atexit

atexit_done = False

def init():
    global atexit_done
    if not atexit_done:
        atexit.register(print, "colours are reset")
    atexit_done = True

def reinit():
    pass

deinit = reinit
"""
"""Does what colorama does, whatever its output is: it writes to terminals alone."""


def test_nothing_follows_the_json_where_numba_uses_colours(tmp_path):
    package = tmp_path / "colorama"
    package.mkdir()
    (package / "initialise.py").write_text(COLORAMA)
    (package / "__init__.py").write_text(
        "from .initialise import init, reinit, deinit\n__version__ = '0.4.6'\n"
        "class Colours:\n    def __getattr__(self, name): return ''\nFore = Style = Colours()\n"
    )
    path = os.environ | {"PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    path.pop("NUMBA_DISABLE_JIT", None)

    def printed(*words):
        return subprocess.check_output([sys.executable, "-P", *words], env=path, text=True)

    assert "colours are reset" in printed("-c", "import numba.cpython.listobj")
    document = json.loads(printed("-m", "mpinet", "flood", "ring:8", "--json"))
    assert document["result"]["steps"] == 4
