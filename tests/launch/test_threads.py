"""Threads that call MPI: random programs do under mpinet exec what they do under a real mpirun."""

import os
import subprocess
from pathlib import Path

import pytest
from launch.conftest import CHECKOUT, TIME_LIMIT, in_turn_on

pytestmark = pytest.mark.usefixtures("forked")

DRIVER = Path(__file__).parent / "drivers/threads.py"

SEEDS = 200 if os.environ.get("MPINET_LONG") else 20


def lines(ranks: int, *words: str | Path) -> list[str]:
    """What processors print in random programs, in an order of their own."""
    done = subprocess.run(
        [CHECKOUT / "launch/run", "-n", str(ranks), *words, DRIVER, "0", str(SEEDS)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    return sorted(line for line in done.stdout.splitlines() if line.startswith("program "))


@pytest.fixture(scope="module")
def real() -> list[str]:
    """What they print under a real mpirun."""
    found = lines(3, "python")
    assert len(found) == 3 * SEEDS
    return found


@pytest.mark.parametrize(("ranks", "network"), in_turn_on([1, 2], ["complete:3", "ring:3"]))
def test_random_programs_of_threads_end_and_print_what_a_real_mpirun_prints(real, ranks, network):
    assert lines(ranks, "mpinet", "exec", "--on", network) == real
