"""Objects of native code never stand in the way: not a user's renamed file, nor a damaged one."""

import fcntl
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from shutil import copy, copyfile
from typing import Any

import numpy as np
import pytest
from serial.native.jobs import compiled, environment, noting, objects, printed, ran

from mpinet.base.native import kept as of_kept
from mpinet.base.native.background import WATCH
from mpinet.base.native.kept import Kept
from mpinet.base.native.tiers import PLAIN, tier
from mpinet.compiled import Mapped, Rule

LONG = """
from mpinet import Topology, rule


class Long(Topology):
    def __init__(self, n: int):
        super().__init__(f"{n}", size=n, ports=2)

    @rule
    def neighbor(node, port, params):
        n, other = params[0], node
        for turn in range(3):
            if turn == 0 and port == 0:
                other = (other + 1 + n) % n
            if turn == 1 and port == 1:
                other = (other - 1 + n) % n
            if turn == 2 and other < 0:
                other = other * 1 + n * 1 - 0 * turn
        if other < 0 or other >= n:
            return -1
        return other // 1
"""
"""A ring by a rule that is too long to be put into its callers, without a way back of its own."""


WIRED = """
import sys, numpy as np, mpinet
topology = mpinet.open(sys.argv[1])
assert topology.neighbor.rule.native.address
nodes = np.arange(topology.size)
print(topology.name, [topology.neighbor(nodes, port).sum() for port in (0, 1)])
print(topology.neighbor(nodes, 1)[:9])
"""
"""Opens a network, and takes its native rule for many nodes."""


def test_a_topology_may_be_copied_and_renamed(tmp_path: Path) -> None:
    def shown(what: str) -> str:
        return printed("-c", WIRED, what, cwd=tmp_path, MPINET_CACHE=tmp_path / "cache")

    mine, yours = tmp_path / "mine.py", tmp_path / "yours.py"
    mine.write_text(LONG)
    told = shown("mine:Long:9000")
    there = objects(tmp_path)
    copy(mine, yours)
    assert shown("yours:Long:9000") == told.replace("mine", "yours")
    mine.unlink()
    assert shown("yours:Long:9000") == told.replace("mine", "yours")
    yours.rename(tmp_path / "theirs.py")
    assert shown("theirs.py:Long:9000") == told.replace("mine", "theirs.py")
    assert objects(tmp_path) == there


def cut_short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def one_bit_wrong(file: Path) -> None:
    text = bytearray(file.read_bytes())
    text[len(text) // 2] ^= 1
    file.write_bytes(text)


def empty(file: Path) -> None:
    file.write_bytes(b"")


def of_a_module_that_is_gone(file: Path) -> None:
    """Write a pickle, with a right hash at its end."""
    text = b"cgone_with_the_file\nrule\n."
    file.write_bytes(text + sha256(text).digest())


def another_functions(file: Path) -> None:
    """Put another object in its place."""
    copyfile(next(each for each in objects(file.parent) if each != file), file)


def a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()
    (file / "in").touch()


def a_link_to_nothing(file: Path) -> None:
    file.unlink()
    file.symlink_to("nothing")


WAYS: list[Callable[[Path], None]] = [
    another_functions, a_folder, cut_short, empty, of_a_module_that_is_gone, one_bit_wrong,
    a_link_to_nothing,
]  # fmt: skip

MANY = """
import numpy as np
from mpinet.base.arrays import Ints
from mpinet.base.native import background
from mpinet.base.native.background import WATCH
from mpinet.compiled import kernel

background.EARLY = 0.0
"""
ONE_OF_MANY = """
@kernel
def total{number}(numbers: Ints) -> int:
    found = {number}
    for i in range(numbers.size):
        found += {number} * numbers[i]
    return found

print(total{number}(np.arange(4)), WATCH.has(total{number}))
"""
"""A program of loops that are compiled, and one of them."""


def test_objects_that_cannot_be_loaded_are_made_anew(tmp_path: Path) -> None:
    program, cache = tmp_path / "many.py", tmp_path / "cache"
    program.write_text(MANY + "".join(ONE_OF_MANY.format(number=k) for k in range(8)))
    noted = noting(tmp_path)

    def told() -> str:
        return printed(program, MPINET_CACHE=cache, **noted)

    before = told()
    assert before.split() == [word for k in range(8) for word in (f"{7 * k}", "True")]
    assert len(compiled(tmp_path)) == 8 == len(objects(cache))
    damaged = objects(cache)[: len(WAYS)]
    for way, file in zip(WAYS, damaged, strict=True):
        way(file)
    # Without a compiler they run as plain Python.
    never = printed(program, tier="never", MPINET_CACHE=cache)
    assert never.split()[::2] == before.split()[::2] and never.split().count("False") == len(WAYS)
    assert told() == before
    again = compiled(tmp_path)[8:]
    assert sorted(again) == [file.stem for file in damaged]
    assert told() == before and len(compiled(tmp_path)) == 8 + len(WAYS)


SUM = """{above}
import numba, numpy as np
import limits
from mpinet.base.arrays import Ints
from mpinet.base.native.background import WATCH
from mpinet.compiled import inlined, kernel

@numba.njit
def down(n):
    return {step} if n <= 0 else {step} + down(n - 1)

TABLE = np.array({table})

@inlined
def weight(n):
    return down(n) + limits.MOST + TABLE[n]

@kernel
def total(numbers: Ints) -> int:
    found = 0
    for i in range(numbers.size):
        found += weight(numbers[i])
    return found

print(total(np.arange(3)), int(WATCH.has(total)))
"""
"""A loop whose arithmetic names a recursive function, a constant elsewhere and a table."""


def test_code_is_kept_by_what_it_is_made_of_not_by_the_file_it_stands_in(tmp_path: Path) -> None:
    # The copies share what is in the cache, without being told to; a file may change twice in a
    # second.
    home = {"HOME": tmp_path / "home", "PYTHONDONTWRITEBYTECODE": 1}

    def told(folder: str, most: int = 100, **filled: object) -> list[int]:
        """Return the sum, and how many objects were new."""
        before, place = len(objects(tmp_path)), tmp_path / folder
        place.mkdir(exist_ok=True)
        (place / "limits.py").write_text(f"MOST = {most}")
        (place / "sum.py").write_text(
            SUM.format(**{"above": "", "step": 1, "table": [5] * 3} | filled)
        )
        total, has = map(int, printed(place / "sum.py", **home).split())
        assert has
        return [total, len(objects(tmp_path)) - before]

    # Numbers 0, 1, 2: n + 1 steps down each, the constant thrice and the table's sum.
    assert told("one") == [6 + 300 + 15, 1]
    assert told("one") == [6 + 300 + 15, 0]
    assert told("another", above="# lines\n\n# before\n") == [6 + 300 + 15, 0]
    assert told("one", step=2) == [12 + 300 + 15, 1]
    assert told("one", most=200) == [6 + 600 + 15, 1]
    assert told("one", table=[5, 5, 7]) == [6 + 300 + 17, 1]
    assert told("another") == [6 + 300 + 15, 0]


TOGETHER = MANY + """
import os, sys, time
from pathlib import Path

here = Path(sys.argv[1])
(here / f"ready{os.getpid()}").touch()
while len(list(here.glob("ready*"))) < 4:
    time.sleep(0.01)
""" + "".join(ONE_OF_MANY.format(number=k) for k in range(3))  # fmt: skip
"""Needs code at the same time as three other processes."""


def test_of_processes_that_need_the_same_code_one_compiles(tmp_path: Path) -> None:
    script = tmp_path / "together.py"
    script.write_text(TOGETHER)
    settings = environment(MPINET_CACHE=tmp_path / "cache", **noting(tmp_path))
    jobs = [
        subprocess.Popen(
            [sys.executable, script, tmp_path], env=settings, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    told = [job.communicate()[0].split() for job in jobs]
    assert told == [["0", "True", "7", "True", "14", "True"]] * 4
    assert sorted(compiled(tmp_path)) == [file.stem for file in objects(tmp_path)]


@pytest.mark.parametrize("tier", ["wait", "background"])
def test_no_job_waits_for_ever_for_a_compile_process_that_has_been_stopped(
    tmp_path: Path, tier: str
) -> None:
    program, cache = tmp_path / "one.py", tmp_path / "cache"
    program.write_text(
        MANY + "background.OTHERS_TIME, background.PATIENCE = 0.3, 0.0\n"
        + ONE_OF_MANY.format(number=1)
        + "if not WATCH.has(total1):\n    WATCH.wait_for(total1)\n"
        + "print(bool(WATCH.address(total1)))\n"
    )  # fmt: skip
    folder = cache / f"objects-{of_kept.FORM}-{of_kept.processor()}"
    folder.mkdir(0o700, parents=True)
    cache.chmod(0o700)
    with open(folder / "compiler.lock", "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert printed(program, tier=tier, MPINET_CACHE=cache).split()[::2] == ["7", "True"]
    assert len(objects(cache)) == 1


def test_only_whole_objects_are_seen_by_others(tmp_path: Path) -> None:
    mine, yours = kept_in(tmp_path), kept_in(tmp_path)
    assert not yours.has("abc")
    mine.add("abc", b"mp_abc")
    yours.look()
    assert mine.has("abc") and yours.has("abc") and not yours.has("abd")
    assert [file.name for file in tmp_path.iterdir()] == ["abc.o"]


def test_an_object_is_seen_that_comes_in_the_same_moment(tmp_path: Path) -> None:
    """Clocks of files tick slowly: two changes of a folder may have the same time."""
    mine = kept_in(tmp_path)
    for name in map(str, range(50)):
        mine.look()
        (tmp_path / f"{name}.o").touch()
        mine.look()
        assert mine.has(name)


def test_each_kind_of_processor_has_objects_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MPINET_CACHE", str(tmp_path))
    folders = set()
    for kind in ("one", "other"):
        monkeypatch.setattr(of_kept, "processor", lambda kind=kind: kind)
        folders.add(Kept().folder)
    assert len(folders) == 2


def kept_in(folder: Path) -> Kept:
    made = Kept()
    made.folder = folder  # type: ignore[misc]
    return made


def test_a_compiler_that_cannot_start_is_one_sentence(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    program = tmp_path / "one.py"
    program.write_text(MANY + ONE_OF_MANY.format(number=1))
    told = printed(program, MPINET_CACHE=cache)
    (lock,) = cache.rglob("compiler.lock")
    lock.unlink()
    lock.mkdir()
    for file in objects(cache):
        file.unlink()
    done = ran(program, MPINET_CACHE=cache)
    assert "total1 cannot be compiled: the compiler cannot be started: " in done.stderr
    assert printed(program, tier="background", MPINET_CACHE=cache) == told.replace("True", "False")


@pytest.mark.parametrize(
    ("value", "counts"),
    [("node + port", False), ("np.full(2, node)[port] + port", True)],
)
def test_a_rule_counts_references_only_if_it_makes_arrays(value: str, counts: bool) -> None:
    scope: dict[str, Any] = {"np": np, "__name__": "mpinet.trial"}
    exec(f"def trial(node, port, params):\n    return {value}", scope)
    rule = Rule(scope["trial"])
    assert (rule.description.how == {}) == counts
    assert WATCH.address(rule) == rule.native.address and (rule.native.address or tier() == PLAIN)
    nodes = np.arange(200)
    assert Mapped(rule, np.array([200, 2]))(nodes, 1).tolist() == list(range(1, 201))
