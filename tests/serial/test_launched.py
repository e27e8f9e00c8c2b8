"""How many ranks share a host, by what launchers say."""

import pytest

from mpinet.base.launched import HERE_VARIABLES, launched_here

SLURM = ("SLURM_NODEID", "SLURM_STEP_TASKS_PER_NODE")


@pytest.mark.parametrize(
    ("settings", "here"),
    [
        ({}, 1),
        ({"OMPI_COMM_WORLD_LOCAL_SIZE": "3"}, 3),
        ({"MPI_LOCALNRANKS": "2"}, 2),
        ({"SLURM_NODEID": "0", "SLURM_STEP_TASKS_PER_NODE": "2"}, 2),
        ({"SLURM_NODEID": "0", "SLURM_STEP_TASKS_PER_NODE": "4,1(x2)"}, 4),
        ({"SLURM_NODEID": "2", "SLURM_STEP_TASKS_PER_NODE": "4,1(x2)"}, 1),
        ({"SLURM_NODEID": "3", "SLURM_STEP_TASKS_PER_NODE": "12(x3),7"}, 7),
        # A launcher within a Slurm job: its own word counts, not that of the step of its daemons.
        ({"SLURM_NODEID": "0", "SLURM_STEP_TASKS_PER_NODE": "1", HERE_VARIABLES[0]: "8"}, 8),
        ({"SLURM_NODEID": "9", "SLURM_STEP_TASKS_PER_NODE": "2(x3)"}, 1),
        ({"SLURM_STEP_TASKS_PER_NODE": "2(x3)"}, 1),
    ],
)
def test_the_ranks_of_a_host_are_counted(monkeypatch, settings, here):
    for name in (*HERE_VARIABLES, *SLURM):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert launched_here() == here
