"""Jobs of a real Slurm on three hosts, submitted as the pages say."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator

import pytest
from cluster.conftest import (
    LENGTHS,
    Library,
    alone,
    has_state,
    library_named,
    nothing_is_left,
)
from cluster.hosts import CHECKOUT, Hosts, wait_until
from cluster.slurm import ASKED, Slurm, why_not
from cluster.test_hosts import ONE
from launch.conftest import TIME_LIMIT

ROUTE = ["route", "torus:6x7", "--pairs", "random:300", "--seed", "5"]
MANY = ["--nodes=3", "--ntasks-per-node=2"]
THREE = ["--nodes=3", "--ntasks-per-node=1"]
TWO = ["--nodes=2", "--ntasks-per-node=1"]

KINDS = {"openmpi": "pmix", "mpich": "pmi2"}

FULL = """
import os, runpy
rests = [os.urandom(200 + k % 900).replace(bytes(1), b"a") for k in range(30_000)]
holes = rests[::2]
del rests
runpy.run_module("mpinet", run_name="__main__", alter_sys=True)
"""
"""mpinet where memory that was used before holds no zeros: MPICH may publish some of it."""

FENCE = """
import ctypes, sys, time

class Process(ctypes.Structure):
    _fields_ = [("space", ctypes.c_char * 256), ("rank", ctypes.c_uint32)]

pmix, this = ctypes.CDLL(sys.argv[1]), Process()
assert pmix.PMIx_Init(ctypes.byref(this), None, 0) == 0
assert pmix.PMIx_Fence(None, 0, None, 0) == 0
if this.rank == 0:
    time.sleep(2)
    print("last", time.time())
assert pmix.PMIx_Fence(None, 0, None, 0) == 0
print("through", time.time(), flush=True)
pmix.PMIx_Finalize(None, 0)
"""
"""The end of MPI_Init, which rank 0 reaches later than the others."""

GIVEN = dict(
    re.findall(
        r'^export (\w+)="\$\{\1:-(.*)\}"',
        (CHECKOUT / "launch/slurm.sbatch").read_text(),
        re.MULTILINE,
    )
)
"""The settings that the template makes for MPI."""


@pytest.fixture(scope="session")
def served(machine: Hosts) -> Iterator[Slurm]:
    """Slurm, from this file's first test on: where tests are spread, others may come between."""
    if reason := why_not():
        pytest.skip(reason)
    slurm = Slurm(machine)
    yield slurm
    slurm.down()


@pytest.fixture
def slurm(served: Slurm, hosts: Hosts) -> Iterator[Slurm]:
    """Slurm without a job; the shared folder looks like a checkout."""
    served.mend()
    for name in ("launch", "mpinet", ".venv"):
        (hosts.shared / name).symlink_to(CHECKOUT / name)
    yield served
    served.run("scancel", "--user=root")
    served.mend()
    hosts.clear()
    hosts.sweep()  # what ranks leave that srun has started is Slurm's to clean


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
        TIME_LIMIT,
        lambda: f"{job} {slurm.state(job)}: {log_of(slurm, job)}",
        ASKED,
    )


def result_of(slurm: Slurm, job: str) -> dict:
    """The document that the template's job has written."""
    return json.loads((slurm.hosts.shared / f"mpinet-{job}.json").read_text())


def path_of(library: Library) -> str:
    """A PATH with the library's mpinet in front."""
    return f"{library.mpirun.parent}:{os.environ['PATH']}"


@pytest.mark.parametrize("name", ["openmpi", pytest.param("mpich", marks=pytest.mark.long)])
def test_srun_starts_the_ranks_of_each_library(slurm: Slurm, name: str) -> None:
    library = library_named(name)
    script = slurm.hosts.shared / "here.py"
    script.write_text("from mpinet.base.launched import launched_here\nprint(launched_here())\n")
    # MPIR_CVAR_CH4_NETMOD: as the page says for pmi2
    settings = {"PATH": path_of(library), "MPIR_CVAR_CH4_NETMOD": "ofi", **GIVEN}
    (slurm.hosts.shared / "full.py").write_text(FULL)
    done = slurm.run(
        "srun", *MANY, f"--mpi={KINDS[name]}", "python", "full.py", *ROUTE, "--json", **settings
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["ranks"], document["digest"]) == (6, alone(*ROUTE)["digest"])
    done = slurm.run(
        "srun", "--nodes=2", "--ntasks=5", "--mpi=none", "python", "here.py", **settings
    )
    assert sorted(done.stdout.split()) in (["1", *"4444"], [*"22", *"333"]), done.stderr


def test_the_fence_at_the_end_of_mpi_init_holds_all_nodes_back(slurm: Slurm) -> None:
    library = library_named("openmpi")
    (slurm.hosts.shared / "fence.py").write_text(FENCE)
    (pmix,) = library.mpirun.parent.parent.glob("lib/openmpi/libpmix.so.2")
    words = ["python", "fence.py", pmix]
    done = slurm.run("srun", *MANY, "--mpi=pmix", *words, PATH=path_of(library), **GIVEN)
    assert done.returncode == 0, done.stderr
    times = [(word, float(time)) for word, time in map(str.split, done.stdout.splitlines())]
    (last,) = (time for word, time in times if word == "last")
    through = [time for word, time in times if word == "through"]
    assert (len(through), min(through) >= last) == (6, True), times


def test_srun_without_a_kind_is_refused(slurm: Slurm) -> None:
    path = path_of(library_named("openmpi"))
    done = slurm.run("srun", "--nodes=2", "--ntasks=2", "mpinet", "flood", "ring:8", PATH=path)
    assert done.returncode == 2
    assert "every rank is alone" in done.stderr


@pytest.mark.parametrize("library", ONE, indirect=True)
def test_launch_run_takes_the_hosts_of_salloc(slurm: Slurm, library: Library) -> None:
    run = ["launch/run", "-n", "3", "--mpirun", str(library.mpirun), "mpinet", *ROUTE, "--json"]
    done = slurm.run("salloc", *THREE, *run)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["digest"] == alone(*ROUTE)["digest"]


def test_the_template_runs_a_command_and_fails_with_it(slurm: Slurm) -> None:
    job = submitted(slurm, *THREE, "launch/slurm.sbatch", *ROUTE)
    wrong = submitted(slurm, *THREE, "launch/slurm.sbatch", "flood", "rng:8")
    ends(slurm, job, "COMPLETED")
    document = result_of(slurm, job)
    assert (document["ranks"], document["digest"]) == (3, alone(*ROUTE)["digest"])
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


Strike = Callable[[Slurm, str], None]
"""What befalls a job in the middle of its work."""


def struck(
    slurm: Slurm, strike: Strike, *options: str, state: str = "Restarts=1"
) -> tuple[str, list[str]]:
    """A job with checkpoints that was hit in the middle of its work, and its command."""
    settings = "--export=ALL,CHECKPOINT=saved"
    for points in LENGTHS:
        command = ["flood", f"ring:{points}"]
        job = submitted(slurm, *options, settings, "launch/slurm.sbatch", *command, "--every", "0")

        def has(word: str, job: str = job) -> bool:
            told = shown(slurm, job)
            return word in told or "JobState=COMPLETED" in told

        def told(job: str = job) -> str:
            return f"{shown(slurm, job)}\n{log_of(slurm, job)}"

        wait_until(
            lambda has=has: has_state(slurm.hosts) or has("JobState=F"), TIME_LIMIT, told, ASKED
        )
        strike(slurm, job)
        wait_until(lambda has=has: has(state), TIME_LIMIT, told, ASKED)
        if state in shown(slurm, job):
            return job, command
        slurm.mend()
    raise AssertionError(f"jobs were always over before: {told()}")


def shown(slurm: Slurm, job: str) -> str:
    """All that Slurm knows of a job."""
    return slurm.says("scontrol", "show", "job", "-o", job)


def goes_on(slurm: Slurm, job: str, command: list[str]) -> None:
    """A job that was queued again comes to its end, and to the digest of one host."""
    ends(slurm, job, "COMPLETED")
    assert result_of(slurm, job)["digest"] == alone(*command)["digest"]


def is_warned(slurm: Slurm, job: str) -> None:
    """Slurm's signal before the end of a job's time comes to its script."""
    slurm.run("scancel", "--batch", "--signal=USR1", job)


def is_cancelled(slurm: Slurm, job: str) -> None:
    """The user ends the job."""
    slurm.run("scancel", job)


def is_set_down(slurm: Slurm, job: str) -> None:
    """The administrator takes node 2 away."""
    slurm.run("scontrol", "update", "nodename=node2", "state=down", "reason=test")


def dies(slurm: Slurm, job: str) -> None:
    """Node 2 is dead: its slurmd, and all processes of the job there."""
    slurm.hosts.all[2].die()


def is_cut_off(slurm: Slurm, job: str) -> None:
    """Nothing is heard of node 2, whose processes run on."""
    slurm.hosts.cut(2)


def has_little_time(slurm: Slurm, job: str) -> None:
    """The time that the job has left is less than that at which it is to be warned."""
    slurm.run("scontrol", "update", f"jobid={job}", "timelimit=20")


@pytest.mark.long
def test_a_warned_job_saves_itself_is_requeued_and_goes_on(slurm: Slurm) -> None:
    job, command = struck(slurm, is_warned, *THREE)
    assert "Stopped as asked, with a checkpoint: mpinet resume" in log_of(slurm, job)
    goes_on(slurm, job, command)


@pytest.mark.long
def test_a_cancelled_job_leaves_nothing(slurm: Slurm) -> None:
    job, _ = struck(slurm, is_cancelled, *THREE, state="JobState=CANCELLED")
    assert nothing_is_left(slurm.hosts) == []
    assert not (slurm.hosts.shared / f"mpinet-{job}.json").exists()


@pytest.mark.long
def test_a_job_whose_node_is_set_down_is_requeued_and_goes_on(slurm: Slurm) -> None:
    job, command = struck(slurm, is_set_down, *TWO)
    assert "DUE TO NODE FAILURE" in log_of(slurm, job)
    goes_on(slurm, job, command)


@pytest.mark.long
@pytest.mark.parametrize("loss", [dies, is_cut_off])
def test_a_job_that_loses_a_node_is_requeued_and_goes_on_without_it(
    slurm: Slurm, loss: Strike
) -> None:
    job, command = struck(slurm, loss, *TWO)
    goes_on(slurm, job, command)
    assert "NodeList=node[1,3]" in shown(slurm, job)
    slurm.hosts.restore()
    assert nothing_is_left(slurm.hosts) == []


@pytest.mark.long
@pytest.mark.parametrize("loss", [dies, is_cut_off])
def test_a_job_that_loses_its_first_node_with_its_script_and_rank_0_goes_on(
    slurm: Slurm, loss: Strike
) -> None:
    first = ["scontrol", "update", "nodename=node1"]

    def strikes_the_first(slurm: Slurm, job: str) -> None:
        assert "BatchHost=node2" in shown(slurm, job)
        slurm.run(*first, "state=resume")
        loss(slurm, job)

    slurm.run(*first, "state=drain", "reason=test")
    goes_on(slurm, *struck(slurm, strikes_the_first, *TWO))


@pytest.mark.long
def test_a_job_that_is_out_of_time_saves_itself_and_is_requeued(slurm: Slurm) -> None:
    job, _ = struck(slurm, has_little_time, *THREE, "--time=60", "--signal=B:USR1@1800")
    assert "Stopped as asked, with a checkpoint: mpinet resume" in log_of(slurm, job)


@pytest.mark.long
def test_the_lines_of_the_page_run(slurm: Slurm) -> None:
    page = (CHECKOUT / "docs/how-to/clusters.md").read_text()
    lines = re.findall(r"^\$ ((?:srun|salloc) .*)$", page, re.MULTILINE)
    assert len(lines) == 2
    settings = dict(re.findall(r"^\$ export (\w+)=(\w+)$", page, re.MULTILINE))
    settings["PATH"] = path_of(library_named("openmpi"))
    for line in lines:
        done = slurm.run("bash", "-c", line, **settings)
        assert done.returncode == 0, done.stderr
        assert "broadcast on torus:64x64x64" in done.stdout
