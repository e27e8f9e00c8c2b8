"""The memory that ``mpinet predict`` finds on one process is that of ranks under a launcher."""

import json
import re
import subprocess
import sys

import pytest
from launch.conftest import CHECKOUT, TIME_LIMIT

RANKS = 2
PROGRAM = """
import os, runpy
from mpinet.bench.footprint import peak
try:
    runpy.run_module("mpinet", run_name="__main__", alter_sys=True)
finally:
    print("peak", peak(), flush=True)
"""


def output_of(words):
    """What a command prints."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=TIME_LIMIT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def peak_of_ranks(command):
    """Most bytes of the rank that needs most."""
    words = [CHECKOUT / "launch/run", "-n", str(RANKS), "python", "-c", PROGRAM, *command.split()]
    return max(int(peak) for peak in re.findall(r"peak (\d+)", output_of(words)))


def predicted_peak(command):
    """The same, of the rank that is predicted to need most."""
    words = [sys.executable, "-m", "mpinet", "predict", *command.split(), "--ranks", str(RANKS)]
    documents = [json.loads(output_of([*words, "--rank", str(r), "--json"])) for r in range(RANKS)]
    return max(document["result"]["memory"]["peak"] for document in documents)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("command", "n"),
    [
        ("route hypercube:{} --no-loads", 21),
        ("ascend hypercube:{} --operator sum", 22),
        ("flood hypercube:{}", 22),
    ],
)
def test_a_rank_needs_the_memory_that_is_predicted(command, n, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    peak_of_ranks(command.format(15))  # compiles, which takes memory, too
    predicted = predicted_peak(command.format(n))
    assert predicted - predicted_peak(command.format(15)) > 40 * 2**20
    assert peak_of_ranks(command.format(n)) == pytest.approx(predicted, rel=0.1)
