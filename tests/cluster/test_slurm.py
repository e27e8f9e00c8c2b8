"""Jobs of a real Slurm on three hosts, submitted as the pages say."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator

import pytest
from cluster.conftest import Library, library_named, nothing_is_left
from cluster.hosts import CHECKOUT, Hosts, wait_until
from cluster.slurm import Slurm, why_not
from cluster.test_hosts import ONE, alone
from launch.conftest import TIME_LIMIT

ROUTE = ["route", "torus:6x7", "--pairs", "random:300", "--seed", "5"]
MANY = ["--nodes=3", "--ntasks-per-node=2"]
UNBOUND = {"PRTE_MCA_hwloc_default_binding_policy": "none"}
"""These hosts have told Slurm of more cores than they have."""

KINDS = {"openmpi": "pmix", "mpich": "pmi2"}


@pytest.fixture(scope="module")
def served(machine: Hosts) -> Iterator[Slurm]:
    """Slurm, as long as this file's tests run."""
    if reason := why_not():
        pytest.skip(reason)
    slurm = Slurm(machine)
    yield slurm
    slurm.down()


@pytest.fixture
def slurm(served: Slurm, hosts: Hosts) -> Iterator[Slurm]:
    """Slurm without a job; the shared folder looks like a checkout."""
    for name in ("launch", "mpinet", ".venv"):
        (hosts.shared / name).symlink_to(CHECKOUT / name)
    yield served
    served.run("scancel", "--user=root")
    wait_until(lambda: served.says("squeue", "-h") == "", TIME_LIMIT)


def submitted(slurm: Slurm, *words: str, **environment: str) -> str:
    """The number of a job that is submitted so."""
    done = slurm.run("sbatch", *words, **environment)
    assert done.returncode == 0, done.stderr
    return re.findall(r"Submitted batch job (\d+)", done.stdout)[0]


def log_of(slurm: Slurm, job: str) -> str:
    """What a job has said."""
    file = slurm.hosts.shared / f"mpinet-{job}.log"
    return file.read_text() if file.exists() else ""


def ends(slurm: Slurm, job: str, state: str) -> None:
    """Wait until a job is in a state."""
    wait_until(
        lambda: slurm.state(job) == state,
        2 * TIME_LIMIT,
        lambda: f"{job} {slurm.state(job)}: {log_of(slurm, job)}",
    )


def saved(slurm: Slurm) -> None:
    """Wait until a job has written its first checkpoint."""
    manifest = slurm.hosts.shared / "saved/manifest.json"
    wait_until(manifest.exists, TIME_LIMIT)


def result_of(slurm: Slurm, job: str) -> dict:
    """The document that the template's job has written."""
    return json.loads((slurm.hosts.shared / f"mpinet-{job}.json").read_text())


def path_of(library: Library) -> str:
    """A PATH with the library's mpinet in front."""
    return f"{library.mpirun.parent}:{os.environ['PATH']}"


def test_srun_starts_the_ranks_of_each_library(slurm: Slurm, library: Library) -> None:
    script = slurm.hosts.shared / "here.py"
    script.write_text("from mpinet.launched import launched_here\nprint(launched_here())\n")
    start = ["srun", *MANY, f"--mpi={KINDS[library.name]}"]
    settings = {"PATH": path_of(library), "OMPI_MCA_btl": "^ofi", "PMIX_MCA_psec": "native"}
    done = slurm.run(*start, "mpinet", *ROUTE, "--json", **settings)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["ranks"], document["digest"]) == (6, alone(*ROUTE)["digest"])
    done = slurm.run(
        "srun", "--nodes=2", "--ntasks=5", "--mpi=none", "python", "here.py", **settings
    )
    assert sorted(done.stdout.split()) in (["1", *"4444"], [*"22", *"333"]), done.stderr


def test_srun_without_a_kind_is_refused(slurm: Slurm) -> None:
    path = path_of(library_named("openmpi"))
    done = slurm.run("srun", "--nodes=2", "--ntasks=2", "mpinet", "flood", "ring:8", PATH=path)
    assert done.returncode == 2
    assert "every rank is alone" in done.stderr


@pytest.mark.parametrize("library", ONE, indirect=True)
def test_launch_run_takes_the_hosts_of_salloc(slurm: Slurm, library: Library) -> None:
    run = ["launch/run", "-n", "6", "--mpirun", str(library.mpirun), "mpinet", *ROUTE, "--json"]
    done = slurm.run("salloc", *MANY, *run, **UNBOUND)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["digest"] == alone(*ROUTE)["digest"]


def test_the_template_runs_a_command_and_fails_with_it(slurm: Slurm) -> None:
    job = submitted(slurm, *MANY, "launch/slurm.sbatch", *ROUTE)
    wrong = submitted(slurm, *MANY, "launch/slurm.sbatch", "flood", "rng:8")
    ends(slurm, job, "COMPLETED")
    document = result_of(slurm, job)
    assert (document["ranks"], document["digest"]) == (6, alone(*ROUTE)["digest"])
    assert log_of(slurm, job).endswith(f"result in mpinet-{job}.json\n")
    ends(slurm, wrong, "FAILED")
    assert "ExitCode=2:0" in slurm.says("scontrol", "show", "job", "-o", wrong)
    assert "did you mean ring" in log_of(slurm, wrong)


def test_an_array_shares_a_sweep_out(slurm: Slurm) -> None:
    shared = slurm.hosts.shared
    plan = '{"command": "flood", "topology": "ring:8", "root": [0, 1, 2, 3]}'
    (shared / "plan.json").write_text(plan)
    one = ["--nodes=1", "--ntasks-per-node=1", "--array=1-3"]
    submitted(slurm, *one, "launch/slurm.sbatch", "sweep", "plan.json", "--out", "runs")
    wait_until(lambda: (shared / "runs/results.csv").exists(), TIME_LIMIT)
    assert len((shared / "runs/results.csv").read_text().splitlines()) == 1 + 4


def checkpointed(slurm: Slurm, *options: str) -> str:
    """A job with checkpoints that is in the middle of its work."""
    words = [*options, "--export=ALL,CHECKPOINT=saved", "launch/slurm.sbatch"]
    job = submitted(slurm, *words, "flood", "ring:400", "--every", "0")
    saved(slurm)
    return job


@pytest.mark.long
def test_a_warned_job_saves_itself_is_requeued_and_goes_on(slurm: Slurm) -> None:
    job = checkpointed(slurm, *MANY)
    slurm.run("scancel", "--batch", "--signal=USR1", job)
    wait_until(lambda: "mpinet resume" in log_of(slurm, job), TIME_LIMIT)
    ends(slurm, job, "COMPLETED")
    assert "Restarts=1" in slurm.says("scontrol", "show", "job", "-o", job)
    assert result_of(slurm, job)["digest"] == alone("flood", "ring:400")["digest"]


@pytest.mark.long
def test_a_cancelled_job_leaves_nothing(slurm: Slurm) -> None:
    job = checkpointed(slurm, *MANY)
    slurm.run("scancel", job)
    ends(slurm, job, "CANCELLED")
    assert nothing_is_left(slurm.hosts) == []
    assert not (slurm.hosts.shared / f"mpinet-{job}.json").exists()


@pytest.mark.long
def test_a_job_whose_node_is_set_down_is_requeued_and_goes_on(slurm: Slurm) -> None:
    job = checkpointed(slurm, "--nodes=2", "--ntasks-per-node=2")
    slurm.run("scontrol", "update", "nodename=node2", "state=down", "reason=test")
    ends(slurm, job, "COMPLETED")
    assert "DUE TO NODE FAILURE" in log_of(slurm, job)
    assert "Restarts=1" in slurm.says("scontrol", "show", "job", "-o", job)
    assert result_of(slurm, job)["digest"] == alone("flood", "ring:400")["digest"]
    slurm.settle()


@pytest.mark.long
def test_a_job_that_is_out_of_time_saves_itself_and_is_requeued(slurm: Slurm) -> None:
    job = checkpointed(slurm, *MANY, "--time=1", "--signal=B:USR1@50")
    shown = ["scontrol", "show", "job", "-o", job]
    wait_until(lambda: "Restarts=0" not in slurm.says(*shown), TIME_LIMIT)
    assert "Stopped as asked, with a checkpoint: mpinet resume" in log_of(slurm, job)
    slurm.run("scancel", job)


@pytest.mark.long
def test_the_lines_of_the_page_run(slurm: Slurm) -> None:
    page = (CHECKOUT / "docs/how-to/clusters.md").read_text()
    lines = re.findall(r"^\$ ((?:srun|salloc) .*)$", page, re.MULTILINE)
    assert len(lines) == 2
    settings = {"PATH": path_of(library_named("openmpi")), **UNBOUND}
    for line in lines:
        done = slurm.run("bash", "-c", line, **settings)
        assert done.returncode == 0, done.stderr
        assert "broadcast on torus:64x64x64" in done.stdout
