"""Commands that a server forks for tests are the commands that start by themselves."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import forkedclient
import pytest
from forked import BIN, Forked, at_start, refusal
from launch.conftest import TIME_LIMIT, comes_true, is_running

TOLD = """
import beside, os, signal, sys
if MPI.COMM_WORLD.rank == 1:
    print(os.getcwd(), sys.argv, sys.path, os.environ["TOLD"], os.umask(0), beside.VALUE)
    print(__name__, __file__, sys.stdin.read(), sys.stdout.encoding, sys.flags, sys.executable)
    print(signal.getsignal(signal.SIGHUP), signal.getsignal(signal.SIGINT))
    os.write(int(sys.argv[1]), b"through")
    print("aside", file=sys.stderr)
"""

WAITING = """
import os, time
if MPI.COMM_WORLD.rank == 0:
    open(f"{os.getpid()}.number", "w").close()
    time.sleep(600)
"""

HEADING = "from mpi4py import MPI\n"


@pytest.fixture
def folder(tmp_path: Path, forked: None) -> Path:
    """A folder with scripts, where `mpinet` is the client of a server."""
    (tmp_path / "told.py").write_text(HEADING + TOLD)
    (tmp_path / "waiting.py").write_text(HEADING + WAITING)
    killing = "import os\nos.kill(os.getpid(), 15)"
    (tmp_path / "killing.py").write_text(HEADING + killing)
    (tmp_path / "library").mkdir()
    (tmp_path / "library/beside.py").write_text("VALUE = 7\n")
    return tmp_path


def ended(program: str | Path, words: str, folder: Path, **settings: str) -> tuple[int, str, str]:
    """A command's status, output and complaints; a pipe that it is given and what came by it."""
    reader, writer = os.pipe()
    done = subprocess.run(
        [program, *words.format(writer=writer).split()],
        cwd=folder,
        env=os.environ | {"TOLD": "a\nb", "PYTHONPATH": f"{folder}/library", **settings},
        input="typed",
        capture_output=True,
        text=True,
        umask=0o31,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
        pass_fds=[writer],
        timeout=TIME_LIMIT,
    )
    os.close(writer)
    with os.fdopen(reader) as came:
        return done.returncode, done.stdout + came.read(), done.stderr


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("show ring:x", 2),
        ("exec --on ring:3 told.py {writer} --json", 0),
        ("exec --on ring:3 killing.py", -signal.SIGTERM),
    ],
)
def test_a_forked_command_does_what_the_real_one_does(folder, words, status):
    real = ended(BIN / "mpinet", words, folder)
    assert ended("mpinet", words, folder) == real
    assert real[0] == status
    assert ("through" in real[1]) == ("told" in words)


def test_a_forked_script_is_run_as_python_runs_it(folder):
    script = "import beside, sys; print(sys.argv, sys.path, __name__); sys.exit(beside.VALUE)"
    real, forked = (
        subprocess.run(
            [program, "-c", script, "-x"], cwd=folder / "library", capture_output=True, text=True
        )
        for program in (BIN / "python", "forked-python")
    )
    assert (forked.returncode, forked.stdout, forked.stderr) == (7, real.stdout, real.stderr)
    assert real.returncode == 7 and "['-c', '-x']" in real.stdout


def test_a_command_that_would_start_in_another_way_is_started_really(folder):
    (folder / "flags.py").write_text("import sys\nprint('optimize', sys.flags.optimize)\n")
    words = "exec --on ring:3 flags.py"
    assert ended("mpinet", words, folder)[1].startswith("optimize 0\n" * 3)
    done = ended("mpinet", words, folder, PYTHONOPTIMIZE="1")
    assert done[1].startswith("optimize 1\n" * 3)


def test_the_server_names_what_it_cannot_give():
    asked = forkedclient.request(["show"])
    assert refusal(asked) == ""
    assert refusal(asked | {"files": [0, 2, 5]}) == "a closed stream"
    assert refusal(asked | {"ignored": []}) == "signals that the server ignores"
    assert refusal(asked | {"ignored": [*asked["ignored"], 2, 3]}) == ""
    for name in asked["state"]:
        assert refusal(asked | {"state": asked["state"] | {name: "another"}}) == name
    for name in ("NUMBA_DISABLE_JIT", "PYTHONHASHSEED", "LD_PRELOAD", "PYTHONUSERBASE"):
        assert refusal(asked | {"environment": asked["environment"] | {name: "other"}}) == name
    for name in ("PYTHONPATH", "OMP_NUM_THREADS", "TOLD"):
        assert refusal(asked | {"environment": asked["environment"] | {name: "other"}}) == ""
    lacking = {"environment": {}}
    assert refusal(asked | lacking) == ", ".join(sorted(at_start(asked["environment"])))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_the_client_ends_the_command(folder, number):
    job = subprocess.Popen(["mpinet", "exec", "--on", "ring:3", "waiting.py"], cwd=folder)
    assert comes_true(lambda: list(folder.glob("*.number")))
    (file,) = folder.glob("*.number")
    assert int(file.stem) != job.pid and is_running(int(file.stem))
    job.send_signal(number)
    assert job.wait(TIME_LIMIT) == -number
    assert comes_true(lambda: not is_running(int(file.stem)))


def test_a_server_that_began_in_the_background_forks_for_all_others(tmp_path):
    numbers = signal.SIGHUP, signal.SIGINT, signal.SIGQUIT
    before = {each: signal.signal(each, signal.SIG_IGN) for each in numbers}
    try:
        server = Forked(tmp_path)
    finally:
        for each in numbers:
            signal.signal(each, before[each])
    listed = [*map(int, numbers)]
    script = f"import os, signal; print(os.getpid(), [*map(signal.getsignal, {listed})])"
    told = {}
    for program in (BIN / "python", "forked-python"):
        job = subprocess.Popen(
            [program, "-c", script], env=os.environ | server.variables, stdout=subprocess.PIPE
        )
        number, told[program] = job.communicate()[0].split(b" ", 1)
        assert (int(number) == job.pid) == (program != "forked-python")
    server.end()
    assert told[BIN / "python"] == told["forked-python"]


def test_a_client_without_a_server_fails(tmp_path):
    words = [sys.executable, "-IS", forkedclient.__file__, tmp_path / "socket", BIN / "mpinet"]
    done = subprocess.run([*words, "show"], capture_output=True, text=True)
    assert done.returncode == 1 and "FileNotFoundError" in done.stderr
