"""Native code under a real launcher: ranks share what is compiled, and no rank is a compiler."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from launch.conftest import CHECKOUT, TIME_LIMIT
from serial.native.jobs import compiled, environment, noting, objects
from serial.native.test_background import MIXED

RANKS = (
    MIXED
    + """
import hashlib
from mpi4py import MPI
background.ENOUGH = 0.2
rank, numbers = MPI.COMM_WORLD.rank, np.arange(10000)
numbers += rank
total = mixed(numbers, 20000)
everything = MPI.COMM_WORLD.gather((rank, total, int(numbers.sum()), WATCH.has(mixed)))
if rank == 0:
    print(*everything, sep="\\n")
"""
)


def launched(ranks: int, folder: Path, tier: str, *words: str) -> str:
    """What a job on several ranks prints, with a cache in the folder."""
    settings = environment(tier, MPINET_CACHE=folder / "cache", **noting(folder))
    done = subprocess.run(
        [CHECKOUT / "launch/run", "-n", str(ranks), *words],
        env=settings, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIME_LIMIT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("tier", ["background", "wait"])
def test_ranks_share_what_one_of_them_has_compiled(tmp_path: Path, tier: str) -> None:
    (tmp_path / "job.py").write_text(RANKS)
    lines = launched(2, tmp_path, tier, "python", str(tmp_path / "job.py")).splitlines()
    for rank in range(2):
        numbers, total = np.arange(10000) + rank, 0
        for k in range(20000):
            numbers = (numbers * 31 + k) & 1048575
            total ^= int(np.bitwise_xor.reduce(numbers))
        assert lines[rank] == f"({rank}, {total}, {numbers.sum()}, True)"
    assert compiled(tmp_path) == [file.stem for file in objects(tmp_path)]
    assert len(compiled(tmp_path)) == 1


def test_a_command_on_ranks_compiles_each_kernel_once_and_gives_the_digest_of_one(
    tmp_path: Path,
) -> None:
    words = ["mpinet", "route", "torus:4x5", "--pairs", "all", "--json"]
    found = {}
    for ranks, tier in ((2, "wait"), (2, "never"), (1, "never")):
        text = launched(ranks, tmp_path, tier, *words)
        (found[ranks, tier],) = (line for line in text.splitlines() if '"digest"' in line)
    assert len(set(found.values())) == 1
    assert sorted(compiled(tmp_path)) == [file.stem for file in objects(tmp_path)]
    assert len(compiled(tmp_path)) > 3


def test_no_compile_process_outlives_a_job(tmp_path: Path) -> None:
    launched(2, tmp_path, "wait", "mpinet", "flood", "ring:9")
    cache = os.fsencode(tmp_path / "cache")
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        assert not (b"mpinet.compiler" in words and cache in words)
