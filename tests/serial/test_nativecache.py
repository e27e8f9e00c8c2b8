"""Compiled code on disk never stands in the way: not a user's renamed file, nor a damaged one."""

import errno
import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from hashlib import sha256
from pathlib import Path
from shutil import copy
from types import FunctionType, SimpleNamespace
from typing import Any, cast

import numba
import numpy as np
import pytest
from mpinet.base.nativecache import load_or_compile

from mpinet.base import locks, rulebox
from mpinet.base.locks import alone
from mpinet.compiled import Rule

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


def printed(folder: Path, *words: str) -> str:
    """What a process of its own prints, with the compiled code in a folder."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    environment.pop("NUMBA_DISABLE_JIT", None)
    done = subprocess.run(
        [sys.executable, *words], env=environment, cwd=folder, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


WIRED = """
import sys, numpy as np, mpinet
topology = mpinet.open(sys.argv[1])
assert topology.neighbor.rule.native
nodes = np.arange(topology.size)
print(topology.name, [topology.neighbor(nodes, port).sum() for port in (0, 1)])
print(topology.neighbor(nodes, 1)[:9])
"""
"""Opens a network, and takes its compiled rule for many nodes."""


def shown(what: str, folder: Path) -> str:
    """What a network's compiled rule says."""
    return printed(folder, "-c", WIRED, what)


def test_a_topology_may_be_copied_and_renamed(tmp_path: Path) -> None:
    mine, yours = tmp_path / "mine.py", tmp_path / "yours.py"
    mine.write_text(LONG)
    told = shown("mine:Long:9000", tmp_path)
    copy(mine, yours)
    assert shown("yours:Long:9000", tmp_path) == told.replace("mine", "yours")
    mine.unlink()
    assert shown("yours:Long:9000", tmp_path) == told.replace("mine", "yours")
    yours.rename(tmp_path / "theirs.py")
    assert shown("theirs.py:Long:9000", tmp_path) == told.replace("mine", "theirs.py")


def cut_short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def one_bit_wrong(file: Path) -> None:
    text = bytearray(file.read_bytes())
    text[len(text) // 2] ^= 1
    file.write_bytes(text)


def empty(file: Path) -> None:
    file.write_bytes(b"")


def of_a_module_that_is_gone(file: Path) -> None:
    text = b"cgone_with_the_file\nrule\n."
    file.write_bytes(sha256(text).digest() + text if file.suffix == ".nbc" else text)


def a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


MANY = """
import numpy as np
from mpinet.base.arrays import Ints
from mpinet.compiled import kernel
"""
ONE_OF_MANY = """
@kernel
def total{number}(numbers: Ints) -> int:
    found = {number}
    for i in range(numbers.size):
        found += {number} * numbers[i]
    return found

print(total{number}(np.arange(4)))
"""
"""A program of loops that are compiled, and one of them."""


def test_compiled_code_that_cannot_be_loaded_is_made_anew(tmp_path: Path) -> None:
    program = tmp_path / "many.py"
    program.write_text(MANY + "".join(ONE_OF_MANY.format(number=k) for k in range(6)))
    told = printed(tmp_path, str(program))
    assert told.split() == [f"{7 * k}" for k in range(6)]
    ways: list[Callable[[Path], None]] = [cut_short, empty, of_a_module_that_is_gone, a_folder]
    for suffix, damages in ((".nbi", ways), (".nbc", [*ways, one_bit_wrong])):
        files = sorted((tmp_path / "cache").rglob(f"*{suffix}"))
        assert len(files) > len(damages)
        for number, file in enumerate(files):
            damages[number % len(damages)](file)
        assert printed(tmp_path, str(program)) == told
    assert printed(tmp_path, str(program)) == told


SUM = """{above}
import numba, numpy as np
import limits
from mpinet.base.arrays import Ints
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

print(total(np.arange(3)), sum(total.native.stats.cache_misses.values()))
"""
"""A loop whose arithmetic names a recursive function, a constant elsewhere and a table."""


def test_code_is_kept_by_what_it_is_made_of_not_by_the_file_it_stands_in(tmp_path: Path) -> None:
    home = str(tmp_path / "home")  # the copies share what is in it, without being told to
    environment = {**os.environ, "HOME": home, "XDG_CACHE_HOME": f"{home}/.cache"}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"  # a file may change twice in a second
    for name in ("NUMBA_DISABLE_JIT", "NUMBA_CACHE_DIR"):
        environment.pop(name, None)

    def told(folder: str, most: int = 100, **filled: object) -> list[int]:
        place = tmp_path / folder
        place.mkdir(exist_ok=True)
        (place / "limits.py").write_text(f"MOST = {most}")
        (place / "sum.py").write_text(
            SUM.format(**{"above": "", "step": 1, "table": [5] * 3} | filled)
        )
        done = subprocess.run(
            [sys.executable, place / "sum.py"], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return [int(word) for word in done.stdout.split()]

    # Numbers 0, 1, 2: n + 1 steps down each, the constant thrice and the table's sum.
    assert told("one") == [6 + 300 + 15, 1]
    assert told("one") == [6 + 300 + 15, 0]
    assert told("another", above="# lines\n\n# before\n") == [6 + 300 + 15, 0]
    assert told("one", step=2) == [12 + 300 + 15, 1]
    assert told("one", most=200) == [6 + 600 + 15, 1]
    assert told("one", table=[5, 5, 7]) == [6 + 300 + 17, 1]
    assert told("another") == [6 + 300 + 15, 0]


TOGETHER = """
import os, sys, time
from contextlib import contextmanager, nullcontext
from mpinet.base.nativecache import load_or_compile
import numba

def doubled(x):
    return 2 * x

@contextmanager
def compiling():
    open(f"{sys.argv[1]}/missed{os.getpid()}", "w").close()
    while sum(name.startswith("missed") for name in os.listdir(sys.argv[1])) < 4:
        time.sleep(0.01)
    yield

native = load_or_compile(doubled, numba.int64(numba.int64), compiling)
print(native(21), sum(native.stats.cache_misses.values()))
"""
"""Compiles where the code is needed by four processes and nobody has it."""

HOLDER = """
import signal, sys
from mpinet.base.locks import alone

with alone(sys.argv[1]):
    print("in", flush=True)
    signal.pause()
"""
"""Holds a lock until it is killed."""


def test_of_processes_that_need_the_same_code_one_compiles(tmp_path: Path) -> None:
    script = tmp_path / "together.py"
    script.write_text(TOGETHER)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    environment.pop("NUMBA_DISABLE_JIT", None)
    jobs = [
        subprocess.Popen(
            [sys.executable, script, tmp_path], env=environment, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    told = sorted(job.communicate()[0].split() for job in jobs)
    assert told == [["42", "0"]] * 3 + [["42", "1"]]
    assert {file.suffix for file in (tmp_path / "cache").glob("*/*")} == {".nbi", ".nbc"}


@contextmanager
def holding(file: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock."""
    command = [sys.executable, "-c", HOLDER, str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        try:
            assert holder.stdout is not None and holder.stdout.readline() == "in\n"
            yield holder
        finally:
            holder.kill()


def is_locked(file: Path) -> bool:
    with open(file) as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_a_process_that_is_killed_while_it_compiles_leaves_its_place_to_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "lock"
    monkeypatch.setattr(locks, "PATIENCE", float("inf"))
    with holding(file) as holder:
        assert is_locked(file)
        asleep: list[float] = []

        def killed(seconds: float) -> None:
            asleep.append(seconds)
            holder.kill()
            holder.wait()

        monkeypatch.setattr(locks, "time", SimpleNamespace(monotonic=float, sleep=killed))
        with alone(str(file)):
            assert len(asleep) == 1 and is_locked(file)
    assert not file.exists()


def test_nobody_waits_for_ever_for_a_process_that_has_been_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "lock"
    monkeypatch.setattr(locks, "PATIENCE", 0.1)
    with holding(file):
        with alone(str(file)):
            assert is_locked(file)
        assert is_locked(file)


def test_where_nothing_can_be_locked_every_process_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    def tripled(x: int) -> int:
        return 3 * x

    with alone(str(tmp_path / "no such folder/lock")):
        assert not list(tmp_path.iterdir())
    monkeypatch.setattr(fcntl, "flock", no_locks)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 0)
    function, signature = cast(FunctionType, tripled), numba.int64(numba.int64)
    assert [load_or_compile(function, signature)(14) for _ in range(2)] == [42, 42]


@pytest.mark.parametrize(
    ("value", "counts"),
    [("node + port", False), ("np.full(2, node)[port] + port", True)],
)
def test_a_rule_counts_references_only_if_it_makes_arrays(
    monkeypatch: pytest.MonkeyPatch, value: str, counts: bool
) -> None:
    asked: list[bool] = []
    made: list[Callable[..., int]] = []

    def load(
        function: FunctionType, signature: Any, compiling: Any = nullcontext, counts: bool = True
    ) -> Any:
        if "trial" not in function.__qualname__:  # what puts a rule into its record
            return load_or_compile(function, signature)
        asked.append(counts)
        made.append(load_or_compile(function, signature, compiling, counts))
        return made[-1]

    monkeypatch.setattr(rulebox, "load_or_compile", load)
    scope: dict[str, Any] = {"np": np, "__name__": "mpinet.trial"}
    exec(f"def trial(node, port, params):\n    return {value}", scope)
    assert Rule(scope["trial"]).native is not None
    assert asked == [counts] and made[-1](3, 1, np.zeros(1, np.int64)) == 4
