"""Native code: made at the first launch, for all parameters; every later launch only loads it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from serial.native.jobs import compiled, environment, noting, objects, printed

import mpinet
from mpinet import compiled as kinds
from mpinet import draws
from mpinet.base.native.tiers import PLAIN, tier

LAUNCH = """
import json, sys
from mpinet.base.native import kept
from mpinet.cli.session import CommandSession

loaded, load = [], kept.loaded

def noted(code, symbol):
    loaded.append(symbol)
    return load(code, symbol)

kept.loaded = noted
statuses = [CommandSession([*line.split(), "--json"]).run() for line in sys.argv[1:]]
print(json.dumps({"statuses": statuses, "loaded": loaded}))
"""
"""Runs the commands of its arguments, then tells which objects it has loaded."""

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


def launched(folder: Path, commands: tuple[str, ...]) -> list[str]:
    """The objects that a fresh process has loaded, with a cache in this folder."""
    settings = {"MPINET_CACHE": folder / "cache", **noting(folder)}
    told = json.loads(printed("-c", LAUNCH, *commands, **settings).splitlines()[-1])
    assert told["statuses"] == [0] * len(commands)
    loaded: list[str] = told["loaded"]
    return loaded


@pytest.mark.first
def test_a_second_launch_with_other_parameters_compiles_nothing(tmp_path: Path) -> None:
    first = launched(tmp_path, FIRST)
    files = {file: file.stat().st_mtime_ns for file in objects(tmp_path)}
    assert sorted(compiled(tmp_path)) == [file.stem for file in files]
    assert len(first) == len(files) > 10
    second = launched(tmp_path, SECOND)
    assert {file: file.stat().st_mtime_ns for file in objects(tmp_path)} == files
    assert len(compiled(tmp_path)) == len(files)
    assert len(second) > 10 and set(second) <= set(first)


@pytest.mark.first
def test_a_rule_that_makes_arrays_is_compiled_where_no_other_was(tmp_path: Path) -> None:
    program = """
import mpinet
network = mpinet.open("gmn:4,16")
print(bool(network.routing("online").decide.native.address))
"""
    assert printed("-c", program, MPINET_CACHE=tmp_path) == "True\n"
    assert len(objects(tmp_path)) == 1


def test_a_rule_of_many_small_arrays_gives_what_its_plain_form_gives(
    capsys: pytest.CaptureFixture[str],
) -> None:
    params = np.array([100, 2, 7])
    many = np.arange(100).repeat(2)
    plain = [draws.shuffled(int(node), 100, 7) for node in many]
    for rule, is_native in ((draws.permuted, True), (kinds.Rule(shuffled_by_a_user), False)):
        mapped = kinds.Mapped(kinds.Rule(rule.function), params)
        for few in (many[:16], many):  # a short array alone asks for no native code
            assert mapped(few, 0).tolist() == plain[: len(few)]
            assert bool(mapped.native.address) == (is_native and tier() != PLAIN)
            assert mapped(few, 0).tolist() == plain[: len(few)]
    notice = capsys.readouterr().err
    assert notice.count("shuffled_by_a_user cannot be compiled") == (tier() != PLAIN)
    assert notice.count("\n") <= 1


def shuffled_by_a_user(node: int, port: int, params: list[int]) -> int:
    """A rule that Numba cannot compile."""
    return draws.shuffled(*[int(each) for each in (node, params[0], params[2])])


def test_native_rules_take_arrays_that_nobody_may_write() -> None:
    ring = mpinet.open("ring:8")
    assert (
        ring.neighbor.native.address or tier() == PLAIN
    )  # from here on small arrays go to native code, too
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
    path = f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"
    settings = environment(MPINET_CACHE=tmp_path / "cache", PYTHONPATH=path)

    def printed_by(*words):
        return subprocess.check_output([sys.executable, "-P", *words], env=settings, text=True)

    assert "colours are reset" in printed_by("-c", "import numba.cpython.listobj")
    document = json.loads(printed_by("-m", "mpinet", "flood", "ring:8", "--json"))
    assert document["result"]["steps"] == 4
    assert objects(tmp_path)  # something was compiled
