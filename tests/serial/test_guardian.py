"""What watches a job's processes: who is taken for stopped, who is named, and who is ended."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from mpinet.base.guardian import remains
from mpinet.base.guardian.processes import by_ps, descendants, processes, program_of
from mpinet.base.guardian.ranks import PROGRAM, claimed, daemon_of, is_watched
from mpinet.base.guardian.remains import Remains
from mpinet.base.guardian.watch import Guardian

LIMIT = 300  # seconds after which something hangs, on a busy machine, too
WAITING = [sys.executable, "-S", "-c", "import time; print(flush=True); time.sleep(600)"]
BUSY = [sys.executable, "-S", "-c", "print(flush=True)\nwhile True: pass"]
PARENT = [
    *(sys.executable, "-S", "-c"),
    "import subprocess; child = subprocess.Popen(['sleep', '600'])\n"
    "print(child.pid, flush=True); child.wait()",
]


@pytest.fixture
def start():
    """Start a command as a rank of a job; the process, once it has said something."""
    started = []

    def begin(words, rank="3"):
        job = subprocess.Popen(
            words, env={"PMI_RANK": rank, "MPINET_PROOF": f"mark-{os.getpid()}"}, stdout=-1
        )
        started.append(job)
        job.said = job.stdout.readline()
        return job

    yield begin
    for number in descendants([job.pid for job in started], processes()):
        os.kill(number, signal.SIGKILL)
    for job in started:
        job.wait()
        job.stdout.close()


def comes(fact):
    deadline = time.monotonic() + LIMIT
    while not fact() and time.monotonic() < deadline:
        time.sleep(0.01)
    return fact()


def stop(job):
    job.send_signal(signal.SIGSTOP)
    assert comes(lambda: processes()[job.pid].state == "T")


def watching(*jobs, limit=1.0, patience=60.0, owner=0):
    made = Guardian(limit, patience, "mpinet", owner, "")
    made.watch([job.pid for job in jobs])
    return made


def test_processes_are_known_with_parents_and_states(start):
    job = start(BUSY)
    table = processes()
    assert table[job.pid] == (os.getpid(), "R")
    assert table[os.getpid()].parent == os.getppid()
    job.kill()
    assert comes(lambda: job.pid not in processes())  # not yet waited for: dead is dead


def test_ps_tells_the_same(start):
    job = start(PARENT)
    assert comes(lambda: processes()[job.pid].state == "S")  # it waits for its child
    table = {number: (parent, state[:1]) for number, parent, state in by_ps()}
    child = int(job.said)
    assert table[job.pid] == (os.getpid(), "S") and table[child][0] == job.pid


def test_children_of_children_belong_to_a_job(start):
    job = start(PARENT)
    table = processes()
    assert descendants([job.pid], table) == [job.pid, int(job.said)]
    assert os.getpid() not in descendants([os.getpid()], table)  # never the one that asks
    assert is_watched(int(job.said), os.getpid())
    assert not is_watched(os.getpid(), job.pid)


def test_a_rank_that_is_stopped_for_too_long_is_named_and_killed(start, capfd):
    job, other = start(WAITING), start(WAITING, "4")
    stop(job)
    made = watching(job, other)
    pauses = round(1 / made.pause)
    assert all(made.look(made.pause) for _ in range(pauses - 1))
    assert not made.look(2 * made.pause)
    assert job.wait(LIMIT) == -signal.SIGKILL
    assert other.wait(LIMIT) == -signal.SIGKILL  # no launcher was there to end it
    said = capfd.readouterr().err
    assert said.startswith(f"mpinet: rank 3 (process {job.pid}) on ")
    assert "rank 4" not in said and len(said.splitlines()) == 1


DAEMON = [
    *(sys.executable, "-S", "-c"),
    "import os, subprocess, sys, time\n"
    "def rank(number):\n"
    "    words = ['bash', '-c', 'sleep 600; true']\n"
    "    return subprocess.Popen(words, env=os.environ | {'PMI_RANK': number}).pid\n"
    "other = subprocess.Popen(['sleep', '600']).pid\n"
    "print(other, rank('0'), rank('1'), flush=True)\n"
    "time.sleep(600)",
]


def test_ranks_of_a_host_are_found_by_what_has_started_them(start, capfd):
    daemon = start(["env", "-u", "PMI_RANK", *DAEMON])
    other, first, second = map(int, daemon.said.split())
    assert comes(lambda: len(descendants([first, second], processes())) == 4)
    child = max(descendants([first], processes()))
    assert daemon_of(child, processes()) == daemon.pid
    made = Guardian(1.0, 60.0, "mpinet", 0, "")
    made.watch_below(daemon.pid)
    assert made.look(made.pause)
    for number in (other, second):
        os.kill(number, signal.SIGSTOP)
    assert comes(lambda: processes()[second].state == "T")
    assert not all(made.look(made.pause) for _ in range(25))
    said = capfd.readouterr().err
    assert f"rank 1 (process {second}) on " in said and str(other) not in said
    assert comes(lambda: not {first, second, child} & set(processes()))
    assert other in processes() and daemon.poll() is None


STEP = [
    *("env", "-u", "PMI_RANK", "bash", "-c"),
    'program=$2/hydra_pmi_proxy; ln -s "$(readlink -f "$1")" "$program"\n'
    'SLURM_PROCID=0 "$program" "${@:3}"; :',
    *("step", sys.executable),
]
"""A step of Slurm's, of which a Python is a task that the system knows as MPICH's daemon."""


@pytest.mark.skipif(sys.platform != "linux", reason="programs are known by /proc")
def test_a_launchers_daemon_is_no_rank_where_slurm_has_numbered_it(start, tmp_path):
    step = start([*STEP, tmp_path, *DAEMON[1:]])
    started = list(map(int, step.said.split()))
    table = processes()
    daemon = daemon_of(started[1], table)
    assert program_of(daemon) == "hydra_pmi_proxy"
    assert table[daemon].parent == step.pid
    made = Guardian(1.0, 60.0, "mpinet", 0, "")
    made.watch_below(step.pid)
    assert made.look(made.pause)
    for number in descendants(started, processes()):
        os.kill(number, signal.SIGKILL)
    assert comes(lambda: not set(started) & set(processes()))
    assert daemon in processes()
    assert not made.look(made.pause)  # or it waited for the daemon, which waits for it


def test_a_stopped_rank_is_told_once_while_its_script_still_runs(start, capfd):
    script = start(WAITING)
    job = start(WAITING)
    stop(job)
    made = watching(job, owner=script.pid)
    assert not all(made.look(made.pause) for _ in range(25))
    assert job.wait(LIMIT) == -signal.SIGKILL
    assert not made.look(made.pause)
    assert len(capfd.readouterr().err.splitlines()) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="the name of a claim is Linux's")
def test_one_rank_of_a_host_watches_at_a_time():
    claim = claimed(os.getpid())
    with claim:
        assert claimed(os.getpid()) is None
        claimed(os.getpid() + 1).close()
    claimed(os.getpid()).close()


def test_a_rank_that_computes_or_waits_is_never_ended(start, capfd):
    made = watching(start(BUSY), start(WAITING))
    assert all(made.look(made.pause) for _ in range(40))
    assert capfd.readouterr().err == ""


def test_a_rank_that_goes_on_in_time_begins_anew(start):
    job = start(WAITING)
    made = watching(job)
    for _ in range(3):
        stop(job)
        assert all(made.look(made.pause) for _ in range(15))
        job.send_signal(signal.SIGCONT)
        assert comes(lambda: processes()[job.pid].state == "S")
        assert made.look(made.pause)


def test_time_in_which_nobody_looked_does_not_count(start):
    job = start(WAITING)
    stop(job)
    made = watching(job)
    assert made.look(3600.0)  # the batch system had suspended all of the job


def test_without_a_limit_nobody_is_ended(start, capfd):
    job = start(WAITING)
    stop(job)
    made = watching(job, limit=0.0)
    assert all(made.look(made.pause) for _ in range(40))
    assert capfd.readouterr().err == ""  # a rank: the other ranks tell


HOLDS = (
    "import mmap, os, sys, time\n"
    "kept = [os.open(name, {}) for name in sys.argv[1:]]\n"
    "if {}: kept = [mmap.mmap(one, 0) for one in kept]\n"
    "print(flush=True); time.sleep(600)"
)
MAPS, OPENS = (
    [sys.executable, "-S", "-c", HOLDS.format(*how)]
    for how in [("os.O_RDWR", True), ("os.O_RDONLY", False)]
)


@pytest.fixture
def shared(monkeypatch):
    """Make files in a folder that stands for all shared memory; jobs end beside this test, too."""
    with tempfile.TemporaryDirectory(dir=remains.SHARED) as folder:
        monkeypatch.setattr(remains, "SHARED", folder)

        def make(name):
            path = Path(folder, f"{name}_{os.getpid()}")
            path.write_bytes(bytes(4096))
            return str(path)

        yield make


@pytest.mark.parametrize("holds", [MAPS, OPENS], ids=["mapped", "open"])
def test_the_end_of_a_job_leaves_the_segments_that_somebody_holds(start, shared, holds):
    names = [shared(name) for name in ("mpich_shm_a", "sm_segment.b", "mpich_vci_c")]
    job, other = start([*MAPS, *names]), start([*holds, *names[1:]])
    Remains().remove()
    assert [os.path.exists(name) for name in names] == [True, True, True]
    job.kill()
    job.wait(LIMIT)
    Remains().remove()
    assert [os.path.exists(name) for name in names] == [False, True, True]
    other.kill()
    other.wait(LIMIT)
    Remains().remove()
    assert [os.path.exists(name) for name in names] == [False, False, False]


def test_a_segment_that_is_still_held_for_a_moment_is_deleted(shared):
    name = shared("mpich_shm_d")
    holder = os.open(name, os.O_RDONLY)
    threading.Timer(0.03, os.close, [holder]).start()
    Remains().remove()
    assert not os.path.exists(name)


def test_what_is_no_segment_of_this_user_is_left(shared, monkeypatch):
    names = [shared(name) for name in ("own-data", "osc_results", "mpich_shm_table", "psm2_shmx")]
    folder = Path(names[0]).parent
    (folder / "mpich_shm_1_0").symlink_to(names[0])
    (folder / "mpich_shm_2_0").mkdir()
    os.mkfifo(folder / "mpich_shm_3_0")
    (folder / "mpich_shm_4_0").touch()
    before = set(folder.iterdir())
    Remains().remove()
    assert before - set(folder.iterdir()) == {folder / "mpich_shm_4_0"}
    name = shared("mpich_shm_5")
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    Remains().remove()
    assert os.path.exists(name)


def test_where_the_system_knows_no_leases_segments_are_left(shared, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EINVAL, "no leases here")

    name = shared("mpich_shm_e")
    monkeypatch.setattr(fcntl, "fcntl", refuse)
    Remains().remove()
    assert os.path.exists(name)


def test_a_watchdog_of_the_ranks_alone_leaves_no_segment(start):
    name = f"{remains.SHARED}/sm_segment.h.{os.getpid()}"
    with open(name, "xb") as file:  # held from the first moment on, as a rank does
        file.truncate(4096)
        job = start([*MAPS, name])
    watching = subprocess.Popen([sys.executable, "-I", "-S", PROGRAM, "0.5"], stdin=subprocess.PIPE)
    watching.stdin.write(f"below {os.getpid()}\n".encode())
    watching.stdin.flush()
    stop(job)
    assert watching.wait(LIMIT) == 0
    watching.stdin.close()
    assert job.wait(LIMIT) == -signal.SIGKILL
    assert not os.path.exists(name)


def test_a_job_s_own_folders_are_deleted_when_its_script_is_gone(start, tmp_path):
    folder = tmp_path / "of the job"
    (folder / "ompi.17/1").mkdir(parents=True)
    job = start(PARENT)
    watching = guarded(job)
    watching.stdin.write(f"folder {folder}\n".encode())
    watching.stdin.close()
    assert watching.wait(LIMIT) == 0
    assert not folder.exists()


def guarded(job, mark=None):
    """The program itself, watching a job for a script that then dies."""
    words = [sys.executable, "-I", "-S", PROGRAM, "0", "60", "launch/run"]
    watching = subprocess.Popen(
        [*words, str(os.getpid())],
        env={"MPINET_PROOF": mark} if mark else {},
        stdin=subprocess.PIPE,
    )
    watching.stdin.write(f"watch {job.pid}\n".encode())
    watching.stdin.flush()
    return watching


def test_the_job_ends_when_its_script_is_gone(start):
    job = start(PARENT)
    watching = guarded(job)
    watching.stdin.close()
    assert job.wait(LIMIT) == -signal.SIGTERM
    assert watching.wait(LIMIT) == 0
    assert comes(lambda: int(job.said) not in processes())


def test_a_script_that_says_that_it_is_over_leaves_the_rest_alone(start):
    job = start(WAITING)
    watching = guarded(job)
    watching.communicate(b"over\n", timeout=LIMIT)
    assert watching.returncode == 0 and job.poll() is None


def test_orphans_are_found_by_what_is_theirs_alone(start):
    orphan, stranger = start(WAITING), subprocess.Popen(["sleep", "600"])
    watching = guarded(stranger, mark=f"mark-{os.getpid()}")
    watching.communicate(b"orphans\n", timeout=LIMIT)
    assert orphan.wait(LIMIT) == -signal.SIGKILL
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()
