"""Jobs that compile in the background: what they compute, and when their compile process ends."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from serial.native.jobs import (
    compiled,
    compilers,
    environment,
    is_there,
    noting,
    objects,
    printed,
    ran,
    until,
)

MIXED = """
import os, signal, sys, time
import numpy as np
from mpinet.base.arrays import Ints
from mpinet.base.native import background
from mpinet.base.native.background import WATCH
from mpinet.compiled import kernel

background.EARLY, background.PATIENCE = 0.0, 0.1
given, give_up = [], WATCH.give_up

def noted(call):
    given.append(call.kernel.name)
    give_up(call)

WATCH.give_up = noted

@kernel
def mixed(numbers: Ints, rounds: int) -> int:
    total = 0
    for k in range(rounds):
        for i in range(numbers.size):
            numbers[i] = (numbers[i] * 31 + k) & 1048575
            total ^= numbers[i]
    return total
"""
"""A kernel that takes minutes in plain Python and a second as native code."""

ONE_CALL = (
    MIXED
    + """
background.ENOUGH = float(sys.argv[1])
numbers = np.arange(10000)
print(mixed(numbers, 20000), numbers.sum(), given, sorted(sys.modules.keys() & {"numba"}))
"""
)


def as_numpy_has_it(rounds: int) -> list[str]:
    numbers, total = np.arange(10000), 0
    for k in range(rounds):
        numbers = (numbers * 31 + k) & 1048575
        total ^= int(np.bitwise_xor.reduce(numbers))
    return [str(total), str(numbers.sum())]


@pytest.mark.parametrize("enough", ["inf", "0.2"])
def test_a_job_of_one_call_goes_over_to_native_code_in_it(tmp_path: Path, enough: str) -> None:
    """It sleeps until the code is there, or it works meanwhile."""
    (tmp_path / "job.py").write_text(ONE_CALL)
    told = printed(tmp_path / "job.py", enough, tier="background", MPINET_CACHE=tmp_path)
    assert told.split() == [*as_numpy_has_it(20000), "['mixed']", "[]"]


def test_two_jobs_at_once_have_one_compiler(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(ONE_CALL)
    settings = environment("background", MPINET_CACHE=tmp_path / "cache", **noting(tmp_path))
    jobs = [
        subprocess.Popen(
            [sys.executable, tmp_path / "job.py", "0.2"],
            env=settings, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    told = [job.communicate()[0].split()[:2] for job in jobs]
    assert told == [as_numpy_has_it(20000)] * 2
    assert compiled(tmp_path) == [file.stem for file in objects(tmp_path)]
    assert len(compiled(tmp_path)) == 1


SHOWING = """
from mpinet.base.native import background
background.PATIENCE, background.ENOUGH = 0.01, 0.02
import mpinet, sys
print(mpinet.show("mesh:12x12x3", distances=True).digest, mpinet.flood("debruijn:8").digest)
"""


def test_a_job_that_goes_over_has_the_digest_of_plain_python(tmp_path: Path) -> None:
    plain = printed("-c", SHOWING, tier="never", MPINET_CACHE=tmp_path)
    assert objects(tmp_path) == []
    assert printed("-c", SHOWING, tier="background", MPINET_CACHE=tmp_path) == plain
    assert objects(tmp_path) != []


AFTERWARDS = (
    MIXED
    + """
mixed(np.arange(10), 200000)
while WATCH.compiler is None or not WATCH.compiler.done:
    time.sleep(0.01)
"""
)
"""Runs until its compile process has made something."""

SLEEPING = (
    AFTERWARDS
    + """
import threading
assert threading.active_count() == 1, threading.enumerate()
print("ready", flush=True)
signal.pause()
"""
)
"""What watches the job and its compile process is no thread of the script's."""


@contextmanager
def job(folder: Path, text: str, **settings: Any) -> Iterator[subprocess.Popen[str]]:
    """A job that runs until it prints that it is ready."""
    (folder / "job.py").write_text(text)
    with subprocess.Popen(
        [sys.executable, folder / "job.py"],
        env=environment("background", MPINET_CACHE=folder / "cache", **settings),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        try:
            assert running.stdout is not None
            line = running.stdout.readline()
            assert line == "ready\n", line + running.communicate()[1]
            yield running
        finally:
            running.kill()


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_the_compile_process_ends_with_the_job(tmp_path: Path, end: int) -> None:
    with job(tmp_path, SLEEPING) as running:
        (compiler,) = compilers(running.pid)
        assert is_there(compiler)
        running.send_signal(end)
        running.wait(60)
        until(lambda: not is_there(compiler))


def test_control_c_reaches_the_job_alone(tmp_path: Path) -> None:
    """A terminal sends it to a group of processes, to which the compile process does not belong."""
    with job(tmp_path, SLEEPING) as running:
        (compiler,) = compilers(running.pid)
        assert os.getpgid(compiler) == compiler != os.getpgid(running.pid)


def test_the_compile_process_is_no_rank(tmp_path: Path) -> None:
    launchers = {
        "OMPI_COMM_WORLD_RANK": "0", "PMIX_RANK": "0", "PMI_RANK": "0", "PMI_FD": "9",
        "PRTE_LAUNCHED": "1", "SLURM_PROCID": "0", "MPI_LOCALRANKID": "0",
    }  # fmt: skip
    with job(tmp_path, SLEEPING, **launchers) as running:
        (compiler,) = compilers(running.pid)
        there = Path(f"/proc/{compiler}/environ").read_bytes().decode().split("\0")
        names = {line.partition("=")[0] for line in there}
        assert "PATH" in names and not names & launchers.keys()


FORKING = (
    AFTERWARDS
    + """
@kernel
def last(numbers: Ints) -> int:
    total = 0
    for i in range(numbers.size):
        total += numbers[i]
    return total

child = os.fork()
if child == 0:
    for _ in range(2000):
        assert last(np.arange(100)) == 4950
    print("ready", flush=True)
    signal.pause()
signal.pause()
"""
)


def test_a_fork_of_the_job_works_by_itself_and_keeps_no_compile_process(tmp_path: Path) -> None:
    with job(tmp_path, FORKING) as running:
        (compiler,) = compilers(running.pid)
        running.kill()
        running.wait(60)
        until(lambda: not is_there(compiler))
        # The fork holds the output open until it ends.
        (fork,) = [
            int(folder.name)
            for folder in Path("/proc").glob("[0-9]*")
            if folder.name != str(running.pid)
            and str(tmp_path / "job.py").encode() in read(folder / "cmdline")
        ]
        os.kill(fork, signal.SIGKILL)


def read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


POOL = (
    MIXED
    + """
import multiprocessing

def work(first):
    numbers = np.arange(first, first + 100)
    return mixed(numbers, 3000), int(numbers.sum())

if __name__ == "__main__":
    alone = list(map(work, range(8)))
    for way in sys.argv[1:]:
        with multiprocessing.get_context(way).Pool(2) as pool:
            print(pool.map(work, range(8)) == alone)
"""
)


def test_a_script_may_use_multiprocessing(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(POOL)
    done = ran(
        tmp_path / "job.py", "fork", "spawn", tier="background", MPINET_CACHE=tmp_path / "cache"
    )
    assert (done.stdout, done.returncode) == ("True\nTrue\n", 0), done.stderr


THREADS = (
    MIXED
    + """
import threading

def work():
    for _ in range(30):
        mixed(np.arange(1000), 200)

numbers = np.arange(1000)
helpers = [threading.Thread(target=work) for _ in range(2)]
for each in helpers:
    each.start()
print(mixed(numbers, 2000), numbers.sum())
for each in helpers:
    each.join()
"""
)


def test_threads_of_a_script_do_not_disturb_each_other(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(THREADS)
    told = printed(tmp_path / "job.py", tier="background", MPINET_CACHE=tmp_path / "cache")
    numbers, total = np.arange(1000), 0
    for k in range(2000):
        numbers = (numbers * 31 + k) & 1048575
        total ^= int(np.bitwise_xor.reduce(numbers))
    assert told.split() == [str(total), str(numbers.sum())]


def test_never_compiles_nothing_and_uses_what_is_kept(tmp_path: Path) -> None:
    text = MIXED + "print(mixed(np.arange(100), 9), WATCH.has(mixed), bool(WATCH.address(mixed)))"
    (tmp_path / "job.py").write_text(text)

    def told(tier: str) -> list[str]:
        return printed(tmp_path / "job.py", tier=tier, MPINET_CACHE=tmp_path / "cache").split()

    value, *native = told("never")
    assert native == ["False", "False"] and objects(tmp_path) == []
    assert told("wait") == [value, "True", "True"] == told("never")
    assert len(objects(tmp_path)) == 1


AWAY = """
import os
from mpinet.compiled import kernel

@kernel
def doubled(n: int) -> int:
    return 2 * n

@kernel
def tripled(n: int) -> int:
    if n < 0:
        raise ValueError("negative")
    total = 0
    for k in range(3):
        if k == n:
            continue
        total += n
    return total

os.mkdir("away")
os.chdir("away")
first = doubled(7)
os.rmdir(os.getcwd())
os.chdir("..")
print(first, tripled(7))
"""


def test_a_job_may_delete_the_folder_in_which_its_compiler_began(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(AWAY)
    told = printed(tmp_path / "job.py", cwd=tmp_path, MPINET_CACHE=tmp_path / "cache")
    assert told.split() == ["14", "21"]
    assert len(objects(tmp_path)) == 2


@pytest.mark.parametrize("words", [["show", "ring:8"], ["flood", "ring:8"], ["doctor"]])
def test_a_tier_that_there_is_not_is_refused_in_one_sentence(
    words: list[str], tmp_path: Path
) -> None:
    done = ran("-m", "mpinet", *words, tier="often", MPINET_CACHE=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith(
        "MPINET_COMPILE is background or wait or never, not 'often'."
    )
    assert "Traceback" not in done.stderr
