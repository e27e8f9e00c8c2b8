"""Jobs on three hosts: the result of one host, and a quick, named end where a host is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cluster.conftest import Library, library_named, nothing_is_left
from cluster.hosts import CHECKOUT, Hosts, wait_until
from launch.conftest import TIME_LIMIT, in_turn_on

MPINET = CHECKOUT / ".venv/bin/mpinet"
LONG = bool(os.environ.get("MPINET_LONG"))
SECONDS = 30.0  # in which a loss ends the job, on a crowded machine, too

ONE = ["mpich", "openmpi"][: 1 + LONG]  # where the digest's test has tried both
SAVED = ["--checkpoint", "saved", "--every", "0"]  # at every step


def alone(*words: str, cwd: Path | None = None) -> dict:
    """The document of a command on this machine, on one rank."""
    done = subprocess.run([MPINET, *words, "--json"], capture_output=True, text=True, cwd=cwd)
    return json.loads(done.stdout)


def started(hosts: Hosts, library: Library, steps: int) -> subprocess.Popen[str]:
    """A job on three hosts that is in the middle of its work."""
    process = hosts.start(1, *library.words(hosts, "flood", f"ring:{2 * steps}", "--json", *SAVED))
    wait_until(lambda: (hosts.shared / "saved/manifest.json").exists(), TIME_LIMIT)
    return process


def end_of(process: subprocess.Popen[str], since: float) -> tuple[int, str]:
    """The status of a job that ends in seconds, and what it said."""
    _, said = process.communicate(timeout=TIME_LIMIT)
    assert time.monotonic() - since < SECONDS, said
    return process.returncode, said


def kill(hosts: Hosts, number: int, program: str, sign: int = signal.SIGKILL) -> None:
    """Send a signal to the first process of a program on a host."""
    for pid, words in sorted(hosts.all[number].processes().items()):
        if Path(words.split()[0]).name == program or f"launching/{program}" in words:
            os.kill(pid, sign)
            return
    raise AssertionError(f"no {program} on {number}: {hosts.left()}")


def test_a_command_on_three_hosts_has_the_digest_of_one(hosts: Hosts, library: Library) -> None:
    command = ["route", "torus:6x7", "--pairs", "random:300", "--seed", "5", "--ports", "one"]
    done = hosts.run(1, *library.words(hosts, *command, "--json"))
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["ranks"], document["digest"]) == (6, alone(*command)["digest"])
    assert nothing_is_left(hosts, 2) == []


@pytest.mark.parametrize("library", ONE, indirect=True)
def test_the_ranks_are_spread_over_the_hosts(hosts: Hosts, library: Library) -> None:
    (hosts.shared / "where.py").write_text(
        "import platform, sys, time\nfrom mpi4py import MPI\n"
        "names = MPI.COMM_WORLD.gather(platform.node())\ntime.sleep(0.5)\n"
        "if names: print(sorted(names))\n"
    )
    command = library.words(hosts)[:-1]
    done = hosts.run(1, *command, "python", "where.py")
    assert done.stdout.strip() == str(sorted(["node1", "node2", "node3"] * 2)), done.stderr


@pytest.mark.parametrize("library", ONE, indirect=True)
def test_a_host_that_cannot_be_reached_is_named(hosts: Hosts, library: Library) -> None:
    began = time.monotonic()
    on = ("node1", "node9", "node3")
    done = hosts.run(1, *library.words(hosts, "flood", "ring:8", on=on))
    assert (done.returncode != 0, time.monotonic() - began < SECONDS) == (True, True)
    assert "launch/run: node9 is lost: no connection by ssh" in done.stderr
    done = hosts.run(1, *library.words(hosts, "flood", "ring:8"), MPINET_SSH="ssh -p 1")
    assert (done.returncode != 0, "port 1: Connection refused" in done.stderr) == (True, True)
    assert nothing_is_left(hosts) == []


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
    process = started(hosts, library, 20000)
    began = time.monotonic()
    if loss == "daemon":
        kill(hosts, 2, library.daemon)
    elif loss == "launcher":
        kill(hosts, 1, library.program)
    elif loss == "script":
        kill(hosts, 1, "run.sh")
    else:
        loss(hosts)
    status, said = end_of(process, began)
    assert status != 0
    assert nothing_is_left(hosts) == []
    if loss in (die, cut, "daemon"):
        assert "launch/run: node2 is lost: " in said
    else:
        assert "is lost" not in said


@pytest.mark.long
def test_sigterm_writes_a_checkpoint_on_all_hosts_and_fewer_hosts_go_on(hosts: Hosts) -> None:
    library = library_named("openmpi")
    process = started(hosts, library, 200)
    kill(hosts, 1, "run.sh", signal.SIGTERM)
    status, said = end_of(process, time.monotonic())
    assert (status, nothing_is_left(hosts)) == (75, []), said
    on = library_named("mpich")
    done = hosts.run(1, *on.words(hosts, "resume", "saved", on=("node1", "node3")))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["digest"] == alone("flood", "ring:400")["digest"]


@pytest.mark.parametrize("library", ONE, indirect=True)
def test_hosts_with_different_files_are_refused(hosts: Hosts, library: Library) -> None:
    pairs = hosts.shared / "pairs.csv"
    pairs.write_text("0,1\n2,3\n")
    with hosts.all[3].sees(pairs, "0,1\n2,4\n"):
        command = library.words(hosts, "route", "ring:8", "--pairs", "pairs.csv")
        done = hosts.run(1, *command)
    assert done.returncode == 2
    assert "mpinet: pairs.csv on node3 is not the file that it is on node1." in done.stderr
    assert "Traceback" not in done.stderr


def test_another_mpinet_on_a_host_is_refused(hosts: Hosts) -> None:
    other = CHECKOUT / "mpinet/examples/flood.py"  # not imported by the command
    with hosts.all[2].sees(other, other.read_text() + "\n"):
        done = hosts.run(1, *library_named("openmpi").words(hosts, "flood", "ring:8"))
    assert done.returncode == 2
    assert "mpinet: node2 has another mpinet (" in done.stderr


@pytest.mark.long
@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_every_command_on_three_hosts_has_the_digest_of_one(hosts: Hosts, name: str) -> None:
    library = library_named(name)
    tests = CHECKOUT / "tests"
    ranks = ["python", tests / "rankmain.py", "-p", "no:cacheprovider", "--with-mpi", "-q"]
    file = tests / "mpi/cli/test_invariance.py"
    share = ["--share", "0/3", "-k", "number_of_ranks"]
    command = [*library.words(hosts)[:-1], *ranks, file, *share, "--rootdir", CHECKOUT]
    logs = hosts.shared / "logs"
    done = hosts.run(1, *command, limit=400, cwd=CHECKOUT, MPINET_TEST_LOGS=str(logs))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
