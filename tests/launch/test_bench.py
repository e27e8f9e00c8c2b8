"""``mpinet bench``: every row runs at the small size, and --ranks starts the launcher."""

import json
import os
import subprocess
import sys

import pytest
from launch.conftest import LONG, TIME_LIMIT, own_mpirun

from mpinet.bench.catalogue import BENCHMARKS, select

NAMED = [benchmark.name for benchmark in BENCHMARKS.values() if benchmark.named]
SEVERAL = [benchmark.name for benchmark in select([]) if benchmark.runs_on(2)]
ONE = [benchmark.name for benchmark in select([]) if benchmark.runs_on(1)]
SHARES = 6


def rows_of(*words):
    """Rows of the command at the small size, which ends well and prints nothing else."""
    mpirun = own_mpirun()
    assert mpirun is not None, "no mpirun"
    command = [sys.executable, "-m", "mpinet", "bench", *words]
    done = subprocess.run(
        [*command, "--size", "small", "--repeat", "1", "--no-progress", "--json"],
        env={**os.environ, "PATH": f"{mpirun.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)["result"]


def names_of(benchmarks, ranks):
    """Rows that the benchmarks have on so many ranks."""
    return [
        (benchmark.row_name(baseline), ranks)
        for benchmark in benchmarks
        if benchmark.runs_on(ranks)
        for baseline in benchmark.baselines
    ]


def require_figures(rows, benchmarks, ranks):
    assert [(row["name"], row["ranks"]) for row in rows] == names_of(benchmarks, ranks)
    assert [row["name"] for row in rows if row["figure"] is None or row["error"]] == []


@pytest.mark.parametrize("share", range(SHARES))
def test_every_row_of_one_rank_has_a_figure_at_the_small_size(share):
    names = ONE[share::SHARES]
    require_figures(rows_of(*names, "--ranks", "1"), select(names), 1)


@LONG
@pytest.mark.parametrize("share", range(8))
def test_every_row_that_must_be_named_has_a_figure_at_the_small_size(share):
    chosen = [BENCHMARKS[name] for name in NAMED if BENCHMARKS[name].runs_on(1)][share::8]
    require_figures(rows_of(*(one.name for one in chosen), "--ranks", "1"), chosen, 1)


@pytest.mark.parametrize("share", range(SHARES))
def test_every_row_of_several_ranks_has_a_figure_at_the_small_size(share):
    names = SEVERAL[share::SHARES]
    require_figures(rows_of(*names, "--ranks", "2"), select(names), 2)


def test_every_number_of_ranks_gives_its_rows():
    rows = rows_of("idle", "--ranks", "1,2")
    assert [(row["name"], row["ranks"]) for row in rows] == [("idle-one", 1), ("idle-ranks", 2)]
    assert all(row["figure"] > 0 for row in rows)
