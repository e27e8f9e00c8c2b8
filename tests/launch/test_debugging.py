"""The debugger in a terminal: mpinet exec, mpinet launch and pytest, driven like a user types."""

import fcntl
import os
import pty
import re
import runpy
import select
import shlex
import subprocess
import sys
import termios
import time
from textwrap import dedent
from types import SimpleNamespace

import pytest
from launch.conftest import CHECKOUT, TIME_LIMIT

MPINET = str(CHECKOUT / ".venv/bin/mpinet")

PROMPT = re.compile(r"\(Pdb \d+\)\s$")
"""A prompt at the end of the screen. In front of a launcher a prompt is a line of its own."""


def in_terminal(words, lines, folder):
    """Status and screen of a command in a terminal of its own, after lines typed at its prompts."""
    ours, theirs = pty.openpty()

    def take_terminal():
        os.setsid()
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

    process = subprocess.Popen(
        words,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        preexec_fn=take_terminal,
        env=os.environ | {"TERM": "dumb", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    os.close(theirs)
    screen, left, end = "", list(lines), time.monotonic() + 40
    while time.monotonic() < end:
        if select.select([ours], [], [], 0.1)[0]:
            try:
                read = os.read(ours, 65536).decode()
            except OSError:  # the command has closed the terminal
                break
            screen += read.replace("\r\n", "\n")
            if PROMPT.search(screen) and left:
                os.write(ours, f"{left.pop(0)}\n".encode())
        elif process.poll() is not None:
            break
    process.kill()
    os.close(ours)
    assert not left, screen
    return process.wait(), screen


HANGS = """
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank

def finish():
    comm.barrier()

if rank == 0:
    comm.recv(source=1, tag=7)
elif rank == 1:
    comm.send("result", dest=0, tag=8)
finish()
"""

DEADLOCK = """
Waiting processors by line:
  0: recv at hang.py:10
  1-3: barrier at hang.py:7 via finish
> hang.py(7)finish()
-> comm.barrier()
(Pdb 2) """


@pytest.fixture
def hang(tmp_path):
    """A folder with a script that hangs."""
    (tmp_path / "hang.py").write_text(HANGS.lstrip())
    return tmp_path


@pytest.mark.parametrize("front", [["exec"], ["launch", "-n", "2", "exec"]])
def test_a_terminal_shows_each_typed_line_once_and_the_stops(hang, front):
    lines = ["tbreak 7", "c", "w", "c", "p rank", "where", "q"]
    words = [MPINET, *front, "--on", "ring:4", "--pdb", "2", "hang.py"]
    status, screen = in_terminal(words, lines, hang)
    screen = screen.replace("(Pdb 2)\n", "(Pdb 2) ")
    assert status == 1
    assert screen.startswith(
        "> hang.py(1)<module>()\n-> from mpi4py import MPI\n(Pdb 2) tbreak 7\n"
    )
    assert "\n(Pdb 2) w\n  hang.py(13)<module>()\n-> finish()\n> hang.py(7)finish()\n" in screen
    assert DEADLOCK + "p rank\n2\n(Pdb 2) where\n  0: recv at hang.py:10\n  1-3: barrier" in screen
    assert "Processor 2, after step 3, hang.py:7 in finish: the debugger has ended" in screen
    assert screen.count("p rank") == 1


def test_ctrl_d_ends_the_run_and_ctrl_c_interrupts_it(hang):
    words = [MPINET, "exec", "--on", "ring:4", "--pdb", "2", "hang.py"]
    status, screen = in_terminal(words, ["\x04"], hang)
    assert status == 1 and "the debugger has ended the run" in screen
    status, screen = in_terminal([MPINET, "launch", "-n", "2", *words[1:]], ["\x04"], hang)
    assert status == 1 and "the debugger has ended the run" in screen
    status, screen = in_terminal(words, ["\x03"], hang)
    assert status == 130 and "Traceback" not in screen


@pytest.mark.parametrize("front", [["exec"], ["launch", "-n", "2", "exec"]])
def test_piped_commands_are_shown_in_the_transcript(hang, front):
    done = subprocess.run(
        [MPINET, *front, "--on", "ring:4", "--pdb", "2", "hang.py"],
        input="c\nwhere\nq\n", cwd=hang, capture_output=True, text=True, timeout=TIME_LIMIT,
    )  # fmt: skip
    assert DEADLOCK + "where\n  0: recv at hang.py:10\n" in done.stdout
    assert done.stdout.endswith("(Pdb 2) q\n") and done.returncode == 1


FRONTS = [["exec"], ["launch", "-n", "2", "exec"]]


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("input", [b"", b"n\n", None])
def test_input_that_ends_or_is_closed_is_one_sentence(hang, input, front):
    words = [MPINET, *front, "--on", "ring:4", "--pdb", "2", "hang.py"]
    if input is None:
        words = ["bash", "-c", '"$@" <&-', "bash", *words]
    done = subprocess.run(words, input=input, cwd=hang, capture_output=True, timeout=TIME_LIMIT)
    assert done.returncode == 2
    sentence = (
        rb"mpinet: Processor 2 waits in the debugger, but standard input has ended\. [^\n]+\n"
    )
    assert re.match(sentence, done.stderr)
    if front == ["exec"]:  # a launcher adds words of its own
        assert re.fullmatch(sentence, done.stderr)


def test_a_breakpoint_below_a_launcher_without_input_is_one_sentence(hang):
    (hang / "hang.py").write_text("from mpi4py import MPI\nbreakpoint()\nMPI.Wtime()\n")
    done = subprocess.run(
        [MPINET, "launch", "-n", "2", "exec", "--on", "ring:4", "hang.py"],
        stdin=subprocess.DEVNULL, cwd=hang, capture_output=True, text=True, timeout=TIME_LIMIT,
    )  # fmt: skip
    assert done.returncode == 2
    assert "mpinet: Processor 0 waits in the debugger" in done.stderr and "--pdb" in done.stderr


REFUSED = {
    "--pdb 4": "--pdb: there is no rank 4, only 0..3.",
    "--pdb x": "argument --pdb",
    "--pdb 1 --arrivals all": "--arrivals all runs many orders",
    "--until never": "--until takes a step or rank:R,FILE:LINE, not 'never'.",
    "--until rank:9,hang.py:7": "--until: there is no rank 9, only 0..3.",
    "--until rank:1,hang.py:5": "--until: line 5 of hang.py holds no code; line 6 does.",
    "--until rank:1,none.py:5": "none.py cannot be read",
    "--until rank:1,hang.py:10": "script ended before rank 1 was at line 10 of hang.py",
    "--until 70": "--until: the script ended before rank 0 was at step 70.",
}


@pytest.mark.parametrize("options", REFUSED)
def test_wrong_options_and_stops_never_reached_are_one_sentence(hang, options):
    (hang / "hang.py").write_text(HANGS.lstrip().replace("tag=8", "tag=7"))
    done = subprocess.run(
        [MPINET, "exec", "--on", "ring:4", *options.split(), "hang.py"],
        stdin=subprocess.DEVNULL, cwd=hang, capture_output=True, text=True, timeout=TIME_LIMIT,
    )  # fmt: skip
    assert done.returncode == 2
    assert REFUSED[options] in done.stderr and done.stderr.count("\n") == 1


SUITE = """
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    rank = comm.rank

    def test_passes():
        comm.barrier()

    def test_fails():
        print("words of the test")
        square = rank * rank
        assert square != 4
        comm.barrier()

    def test_hangs():
        if rank == 1:
            comm.recv(source=0, tag=5)

    def test_stops():
        if rank == 3:
            breakpoint()
        comm.barrier()
"""


def pytest_in_terminal(folder, lines, *words):
    """Status and screen of pytest on four processors."""
    (folder / "test_suite.py").write_text(dedent(SUITE))
    plugin = ["-p", "mpinet.mpi.testing.plugin", "-p", "no:cacheprovider", "--mpinet", "4"]
    return in_terminal([sys.executable, "-m", "pytest", *plugin, *words], lines, folder)


def test_pytest_pdb_stops_at_the_failing_processor_and_at_a_deadlock(tmp_path):
    lines = ["p square, rank", "w", "where", "c", "where", "c", "p rank", "c"]
    status, screen = pytest_in_terminal(tmp_path, lines, "--pdb", "-q")
    assert status == 1
    assert "test_suite.py::test_fails fails on processor 2:\n" in screen
    assert "(Pdb 2) p square, rank\n(4, 2)\n" in screen
    assert "0-1, 3: barrier at test_suite.py:14 via test_fails\n" in screen
    assert "(Pdb 1) where\n  0, 2-3: " in screen or "(Pdb 1) where\n  0, 2, 3: " in screen
    assert "(Pdb 3) p rank\n3\n" in screen
    assert screen.index("(Pdb 2)") < screen.index("(Pdb 1)") < screen.index("(Pdb 3)")
    assert "2 failed, 2 passed" in screen and "words of the test" in screen


def test_quit_ends_the_session_of_pytest(tmp_path):
    status, screen = pytest_in_terminal(tmp_path, ["q"], "--pdb")
    assert status == 2 and "Quitting debugger" in screen and "INTERNALERROR" not in screen


SHARED = SimpleNamespace(**runpy.run_path(str(CHECKOUT / "docs/_extensions/pagecommands.py")))
TUTORIAL = (CHECKOUT / "docs/tutorials/hangs.md").read_text()
SESSIONS = re.findall(r"^```text\n\$ mpinet (.+)\n((?:(?!```).*\n)*)```", TUTORIAL, re.MULTILINE)


@pytest.mark.parametrize(("words", "shown"), SESSIONS)
def test_a_session_of_the_tutorial_is_what_a_terminal_shows(words, shown, tmp_path):
    for name, text in SHARED.files_of(TUTORIAL).items():
        (tmp_path / name).write_text(text)
    lines = re.findall(r"^\(Pdb \d+\) (.*)$", shown, re.MULTILINE)
    _, screen = in_terminal([MPINET, *shlex.split(words)], lines, tmp_path)
    assert screen == shown


def test_the_tutorial_has_both_sessions():
    assert len(SESSIONS) == 2
