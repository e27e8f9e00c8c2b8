"""Sets of strings have one order in all runs and on all ranks: Python's own for a known seed."""

import ast
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from launch.conftest import CHECKOUT, SETTINGS, TIME_LIMIT, own_mpirun

from mpinet.base.hashseed import settings, settle

MPINET = CHECKOUT / ".venv/bin/mpinet"

ORDER = "sorted(['density', 'energy', 'pressure', 'temperature', 'tracer', 'velocity'], key=hash)"

SCRIPT = f"import sys; print((sys.argv, {ORDER}))"

WORDS = ["--on", "ring:3", "--json", "-c", SCRIPT, "two words", "--seed", "4"]
"""Options and arguments; the last two are the script's own."""

PLAIN = {
    name: value
    for name, value in os.environ.items()
    if name not in ("PYTHONHASHSEED", "MPINET_HASHSEED")
}


def python_order(seed: int) -> list[str]:
    """The order of hashes in a plain Python with a seed."""
    environment = PLAIN | {"PYTHONHASHSEED": str(seed)}
    words = [sys.executable, "-c", f"print({ORDER})"]
    return ast.literal_eval(subprocess.check_output(words, env=environment, text=True))


def run(*words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command that works, in an environment without a seed."""
    done = subprocess.run(
        words,
        env=PLAIN | SETTINGS | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    return done


def require_order(seed: int, done: subprocess.CompletedProcess[str]) -> None:
    """Require that all processors have a plain Python's order, and all arguments."""
    said = [ast.literal_eval(line) for line in done.stderr.splitlines() if line[:2] == "(["]
    assert said == [(["-c", *WORDS[-3:]], python_order(seed))] * 3
    assert json.loads(done.stdout)["model"]["hash_seed"] == seed


STARTS = {
    "alone": [MPINET],
    "a module": [sys.executable, "-m", "mpinet"],
    "mpinet launch": [MPINET, "launch", "-n", "2"],
    "launch/run": [CHECKOUT / "launch/run", "-n", "2", "mpinet"],
    "mpirun": [own_mpirun() or "mpirun", "-n", "2", MPINET],
}


@pytest.mark.parametrize("how", STARTS)
def test_sets_have_the_order_of_the_seed_however_a_script_is_started(how):
    require_order(0, run(*STARTS[how], "exec", *WORDS))
    require_order(11, run(*STARTS[how], "exec", "--seed", "11", *WORDS))


@pytest.mark.parametrize("typed", [["flood", "ring:4"], ["exec", "--seed", "11", *WORDS]])
def test_ranks_with_the_launchers_settings_do_not_start_again(typed, monkeypatch):
    started = []
    monkeypatch.setattr(os, "execve", lambda *words: started.append(words))
    monkeypatch.setattr(sys, "orig_argv", [sys.executable, "/bin/mpinet", *typed])
    monkeypatch.setattr(sys, "argv", ["/bin/mpinet", *typed])
    for name in ("PYTHONHASHSEED", "MPINET_HASHSEED"):
        monkeypatch.delenv(name, raising=False)
    settle(typed, True, bool)
    assert len(started) == 1
    for name, value in settings(["-n", "2", *typed]).items():
        monkeypatch.setenv(name, value)
    settle(typed, True, bool)
    assert len(started) == 1
    monkeypatch.setenv("PYTHONHASHSEED", "3")
    assert settings(typed) == {}


def test_a_hash_seed_of_the_user_comes_first():
    require_order(3, run(MPINET, "exec", "--seed", "11", *WORDS, PYTHONHASHSEED="3"))
    drawn = run(MPINET, "exec", *WORDS, PYTHONHASHSEED="random")
    assert json.loads(drawn.stdout)["model"]["hash_seed"] is None


def test_the_program_starts_again_once_and_imports_numpy_and_mpi_only_then():
    done = run(sys.executable, "-X", "importtime", "-m", "mpinet", "exec", *WORDS)
    imports = re.findall(r"\| +(\S+)$", done.stderr, re.M)
    assert [imports.count(name) for name in ("mpinet.base.hashseed", "numpy", "mpi4py")] == [
        2,
        1,
        1,
    ]


def test_a_signal_that_comes_before_the_program_starts_again_is_heard_after_that():
    """Both programs ignore nothing: without a checkpoint the signal ends the second one."""
    code = (
        "import os, signal, sys; sys.argv = sys.orig_argv[2:]\n"
        "from mpinet.base import hashseed\n"
        "from mpinet.cli.signals import hold, release\n"
        "held = lambda: (hold(), os.kill(os.getpid(), signal.SIGUSR1))\n"
        "hashseed.start_again(sys.argv[1:], ('',), before=held)\n"
        "print('again', signal.sigpending()); sys.stdout.flush()\n"
        "signal.signal(signal.SIGUSR1, lambda *_: print('heard')); release()"
    )
    done = run(sys.executable, "-c", code)
    assert done.stdout.splitlines() == [f"again {{{signal.SIGUSR1!r}}}", "heard"]


def test_a_script_that_is_run_from_python_is_told_that_the_seed_was_drawn():
    call = "mpinet.exec(sys.argv[1], 'ring:3', arg=['9'])"
    code = f"import mpinet, sys; print({call}.to_dict()['model'])"
    script = str(CHECKOUT / "mpinet/examples/mpi/pi.py")
    drawn = run(sys.executable, "-c", code, script)
    assert "'hash_seed': None" in drawn.stdout and "PYTHONHASHSEED=0" in drawn.stderr
    known = run(sys.executable, "-c", code, script, PYTHONHASHSEED="0")
    assert "'hash_seed': 0" in known.stdout and "PYTHONHASHSEED" not in known.stderr


@pytest.mark.parametrize("program", [["-m", "pytest"], [str(CHECKOUT / ".venv/bin/pytest")]])
def test_tests_on_processors_have_the_order_of_a_known_seed(tmp_path, program):
    (tmp_path / "test_order.py").write_text(
        f"def test_order(comm): assert {ORDER} == {python_order(0)} and comm.size == 2\n"
    )
    words = ["-p", "no:cacheprovider", "--mpinet", "2", str(tmp_path)]
    for _ in range(2):
        done = run(sys.executable, *program, *words)
        assert "mpinet: 2 processors of complete:2; hash seed 0" in done.stdout
