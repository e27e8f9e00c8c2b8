"""A sweep finds the same on any number of ranks, each with machines of its own or all together."""

import json
from pathlib import Path

import pytest

from mpinet.commands import function_of
from mpinet.commands.signature import given
from mpinet.jobs.perform import prepared
from mpinet.machine.transport import Local, world
from mpinet.report.files import as_csv

PLAN = {
    "command": "route",
    "topology": ["torus:4x4", "hypercube:4", "ring:5"],
    "pairs": ["permutation", "random:40"],
    "ports": ["one", "all"],
    "seed": {"range": [0, 3]},
}
POINTS = 3 * 2 * 2 * 3


def swept(transport: Local, **options: object) -> tuple[dict, str]:
    """What a sweep of the plan tells, and its table; empty but on rank 0."""
    sweep = function_of("sweep")
    job = prepared(given(sweep, {"plan": PLAN, **options}))
    found = job.run(transport, lambda *done: None)
    return found, as_csv(job.table)


@pytest.mark.mpi
@pytest.mark.parametrize("together", [False, True])
def test_a_table_is_the_same_on_any_number_of_ranks(together):
    found, table = swept(world(), together=together)
    if world().rank == 0:
        assert found["computed"] == found["points"] == POINTS
        assert table == swept(Local())[1]


@pytest.mark.mpi
def test_a_sweep_goes_on_with_another_number_of_ranks(tmp_path):
    folder = Path(json.loads(world().share(json.dumps(str(tmp_path)).encode()))) / "runs"
    if world().rank == 0:
        assert swept(Local(), folder=folder, shard="1/2")[0]["left"] == POINTS // 2
    world().share(b"")
    found, table = swept(world(), folder=folder)
    if world().rank == 0:
        assert found["computed"] == POINTS - POINTS // 2
        assert table == swept(Local())[1] == (folder / "results.csv").read_bytes().decode()
