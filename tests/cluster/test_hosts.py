"""Jobs on three hosts: the result of one host, and a quick, named end where a host is lost."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

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
from cluster.slurm import FEW_CORES, program_of
from launch.conftest import REMEDIES, TIME_LIMIT, in_turn_on
from launch.debian import debian_openmpi
from workers import WORKER

LONG = bool(os.environ.get("MPINET_LONG"))
ONE = ["mpich", "openmpi"][: 1 + LONG]  # where the digest's test has tried both
EVERY = [CHECKOUT / ".venv/bin/python", CHECKOUT / "tests/mpi/cli/invariant.py"]
SAVED = ["--checkpoint", "saved", "--every", "0"]  # at every step


def started(hosts: Hosts, library: Library, *command: str) -> subprocess.Popen[str]:
    """A job on three hosts that is in the middle of its work."""
    process = hosts.start(1, *library.words(hosts, *command, "--json", *SAVED))
    wait_until(
        lambda: has_state(hosts) or process.poll() is not None, TIME_LIMIT, lambda: "no checkpoint"
    )
    return process


def end_of(process: subprocess.Popen[str]) -> tuple[int, str]:
    """The status of a job that ends, and what it said."""
    _, said = process.communicate(timeout=TIME_LIMIT)
    return process.returncode, said


def kill(hosts: Hosts, number: int, program: str, sign: int = signal.SIGKILL) -> None:
    """Send a signal to a program on a host, if it runs: to the process that started its others."""
    found = {
        pid
        for pid, words in hosts.all[number].processes().items()
        if program_of(words) == program or f"launching/{program}" in words
    }
    for pid in found:
        if parent_of(pid) not in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, sign)


def parent_of(pid: int) -> int:
    """The process that has started this one, by numbers of this machine; 0: it has ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[1])
    except FileNotFoundError:
        return 0


def test_a_command_on_three_hosts_has_the_digest_of_one(hosts: Hosts, library: Library) -> None:
    command = ["route", "torus:6x7", "--pairs", "random:300", "--seed", "5", "--ports", "one"]
    done = hosts.run(1, *library.words(hosts, *command, "--json", each=2))
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["ranks"], document["digest"]) == (6, alone(*command)["digest"])
    assert nothing_is_left(hosts) == []


def test_so_it_has_with_open_mpi_4(hosts: Hosts) -> None:
    mpirun = debian_openmpi()
    if mpirun is None:
        pytest.skip(f"debian_openmpi is not present: {REMEDIES['debian_openmpi']}")
    command = ["route", "torus:6x7", "--pairs", "random:300", "--seed", "5"]
    done = hosts.run(1, *Library("openmpi", mpirun).words(hosts, *command, "--json"))
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["ranks"], document["digest"]) == (3, alone(*command)["digest"])
    assert nothing_is_left(hosts) == []


@pytest.mark.parametrize("library", ONE, indirect=True)
def test_the_ranks_are_spread_over_the_hosts(hosts: Hosts, library: Library) -> None:
    (hosts.shared / "where.py").write_text(
        "import platform, sys, time\nfrom mpi4py import MPI\n"
        "names = MPI.COMM_WORLD.gather(platform.node())\ntime.sleep(0.5)\n"
        "if names: print(sorted(names))\n"
    )
    command = library.words(hosts, each=2)[:-1]
    done = hosts.run(1, *command, "python", "where.py")
    assert done.stdout.strip() == str(sorted(["node1", "node2", "node3"] * 2)), done.stderr


@pytest.mark.parametrize("library", ONE, indirect=True)
def test_a_host_that_cannot_be_reached_is_named(hosts: Hosts, library: Library) -> None:
    on = ("node1", "node9", "node3")
    done = hosts.run(1, *library.words(hosts, "flood", "ring:8", on=on))
    assert done.returncode != 0
    assert "launch/run: node9 is lost: no connection by ssh" in done.stderr
    done = hosts.run(1, *library.words(hosts, "flood", "ring:8"), MPINET_SSH="ssh -p 1")
    assert (done.returncode != 0, "port 1: Connection refused" in done.stderr) == (True, True)
    assert nothing_is_left(hosts) == []


@pytest.mark.parametrize("library", ONE, indirect=True)
def test_a_host_without_mpinet_is_named(hosts: Hosts, library: Library) -> None:
    with hosts.all[2].lacks(CHECKOUT / "mpinet"):
        done = hosts.run(1, *library.words(hosts, "flood", "ring:8"))
    assert done.returncode != 0
    said = "launch/run: node2 is lost: nothing can be started there: it needs the same mpinet"
    assert said in done.stderr
    assert nothing_is_left(hosts) == []


@pytest.mark.parametrize("library", ONE, indirect=True)
def test_the_pbs_template_runs_on_the_hosts_of_its_job(hosts: Hosts, library: Library) -> None:
    (hosts.shared / ".venv").symlink_to(library.mpirun.parent.parent)
    nodes = hosts.shared / "nodes"
    nodes.write_text("".join(f"{name}\n" for name in ("node1", "node2", "node3")))
    job = {"PBS_JOBID": "17.server", "PBS_O_WORKDIR": str(hosts.shared), "PBS_NODEFILE": str(nodes)}
    template = CHECKOUT / "launch/pbs.sh"
    command = ["flood", "torus:5x6"]
    settings = FEW_CORES | job | {"MPINET_ARGS": " ".join(command)}
    done = hosts.run(1, "bash", template, cwd=Path("/"), **settings)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "result in mpinet-17.json"), done
    document = json.loads((hosts.shared / "mpinet-17.json").read_text())
    assert (document["ranks"], document["digest"]) == (3, alone(*command)["digest"])
    settings["MPINET_ARGS"] = "flood rng:8"
    done = hosts.run(1, "bash", template, cwd=Path("/"), **settings)
    assert (done.returncode, "did you mean ring" in done.stderr) == (2, True)
    assert nothing_is_left(hosts) == []


BESIDE = """
import os
import numpy as np
from mpi4py import MPI
ranks = MPI.COMM_WORLD
for number in range(20):
    assert ranks.allreduce(np.full(3000, ranks.rank + number))[0] == 1 + 2 * number
launchers = ranks.gather(os.getppid())
if launchers: print(launchers[0])
"""


def test_jobs_with_one_process_number_and_one_tmp_do_not_meet(hosts: Hosts) -> None:
    (hosts.shared / "beside.py").write_text(BESIDE)
    options = ["-n", "2", "--mpirun", library_named("openmpi").mpirun]
    apart = ["unshare", "--pid", "--fork", "--mount-proc", CHECKOUT / "launch/run", *options]
    jobs = [hosts.start(1, *apart, "python", "beside.py") for _ in range(6)]
    ends = [job.communicate(timeout=TIME_LIMIT) for job in jobs]
    assert [job.returncode for job in jobs] == [0] * 6, ends
    assert len({launcher for launcher, _ in ends}) < 6
    assert (nothing_is_left(hosts), hosts.files()) == ([], [])


HELD = "/dev/shm/mpich_shm_77_0"
HOLDING = f"touch {HELD}; exec 3<{HELD}; echo held; exec sleep 600"


def test_a_segment_that_another_container_holds_outlives_a_job(hosts: Hosts) -> None:
    apart = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    holder = hosts.start(1, *apart, "bash", "-c", HOLDING)
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    job = [CHECKOUT / "launch/run", "-n", "1", "true"]
    assert hosts.run(1, *job).returncode == 0
    wait_until(lambda: not hosts.are_guarded())
    assert hosts.files() == ["node1: mpich_shm_77_0"]
    hosts.clear()
    holder.communicate()
    assert hosts.run(1, *job).returncode == 0
    assert (nothing_is_left(hosts), hosts.files()) == ([], [])


def cut(hosts: Hosts) -> None:
    """The network of host 2 is gone; it runs on."""
    hosts.cut(2)


def die(hosts: Hosts) -> None:
    """Host 2 is dead."""
    hosts.all[2].die()


LOSSES = [die, cut, "launcher", *([] if not LONG else ["daemon", "script"])]
CASES = in_turn_on(["openmpi", "mpich"], LOSSES)


@pytest.mark.parametrize(
    ("name", "loss"), CASES, ids=[f"{n}-{getattr(x, '__name__', x)}" for n, x in CASES]
)
def test_a_loss_ends_the_job_everywhere_and_is_named(
    hosts: Hosts, name: str, loss: Callable[[Hosts], None] | str
) -> None:
    library = library_named(name)
    process = started(hosts, library, "flood", "ring:200000")  # for longer than a test may take
    if loss == "daemon":
        kill(hosts, 2, library.daemon)
    elif loss == "launcher":
        kill(hosts, 1, library.program)
    elif loss == "script":
        kill(hosts, 1, "run.sh")
    else:
        loss(hosts)
    status, said = end_of(process)
    assert status != 0
    assert nothing_is_left(hosts) == []
    assert hosts.files() == []
    if loss in (die, cut, "daemon"):
        assert "launch/run: node2 is lost: " in said
    else:
        assert "is lost" not in said


@pytest.mark.long
def test_sigterm_writes_a_checkpoint_on_all_hosts_and_fewer_hosts_go_on(hosts: Hosts) -> None:
    library, status = library_named("openmpi"), 0
    for points in LENGTHS:
        process = started(hosts, library, "flood", f"ring:{points}")
        kill(hosts, 1, "run.sh", signal.SIGTERM)
        status, said = end_of(process)
        if status != 0:
            break
    assert (status, nothing_is_left(hosts)) == (75, []), said
    on = library_named("mpich")
    done = hosts.run(1, *on.words(hosts, "resume", "saved", on=("node1", "node3")))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["digest"] == alone("flood", f"ring:{points}")["digest"]


@pytest.mark.parametrize("library", ONE, indirect=True)
def test_hosts_with_different_files_are_refused(hosts: Hosts, library: Library) -> None:
    pairs = hosts.shared / "pairs.csv"
    pairs.write_text("0,1\n2,3\n")
    with hosts.all[3].sees(pairs, "0,1\n2,4\n"):
        command = library.words(hosts, "route", "ring:8", "--pairs", "pairs.csv")
        done = hosts.run(1, *command)
    assert done.returncode == 2
    assert "mpinet: pairs.csv has different contents on node3 and on node1." in done.stderr
    assert "Traceback" not in done.stderr


def test_another_mpinet_on_a_host_is_refused(hosts: Hosts) -> None:
    other = CHECKOUT / "mpinet/examples/flood.py"  # not imported by the command
    with hosts.all[2].sees(other, other.read_text() + "\n"):
        done = hosts.run(1, *library_named("openmpi").words(hosts, "flood", "ring:8"))
    assert done.returncode == 2
    assert "mpinet: node2 has another version of mpinet (" in done.stderr


@pytest.fixture(scope="session")
def digests(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The digest of every command on one rank, which also compiles what the hosts' ranks load.

    Processes that the tests are spread over make them once.
    """
    folder = tmp_path_factory.getbasetemp()
    if folder.name.startswith(WORKER):
        folder = folder.parent
    with (folder / "digests.json").open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        if not (found := file.read()):
            done = subprocess.run([*EVERY, "1"], capture_output=True, text=True, check=True)
            file.write(found := done.stdout)
    return json.loads(found)


@pytest.mark.long
def test_every_command_on_three_hosts_has_the_digest_of_one(
    hosts: Hosts, library: Library, digests: dict[str, str]
) -> None:
    done = hosts.run(1, *library.words(hosts)[:-1], "python", *EVERY[1:], "3", limit=400)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == digests
    assert len(digests) > 50
