"""A command's words reach their reader, or it says why they cannot: without a traceback."""

import json
import os
import resource
import subprocess
from pathlib import Path

import pytest

from mpinet.cli.session import CommandSession

pytestmark = pytest.mark.usefixtures("forked")

PROGRAMS = r"""
import os, sys

def closing(node):
    yield node.idle()
    if node.id == 0:
        os.closerange(1, 3)
    raise ValueError("after closing")

def closed_stream(node):
    sys.stdout.close()
    yield node.idle()
    return node.id

def surrogate(node, *given):
    yield node.idle()
    return "\ud800" + "".join(given)

def large(node):
    yield node.idle()
    return "x" * 100_000

def long_number(node):
    yield node.idle()
    return 10**5000 + node.id

def endless(node):
    yield node.idle()
    ring = []
    ring.append(ring)
    return ring

class Mute:
    def __repr__(self):
        raise ValueError("no words")

def mute(node):
    yield node.idle()
    return Mute()

def abrupt(node):
    yield node.idle()
    raise GeneratorExit
"""


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    file = tmp_path / "programs.py"
    file.write_text(PROGRAMS)
    return file


def mpinet(*words: str | bytes | Path, **settings: object) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **settings}
    return subprocess.run(["mpinet", *words], text=True, errors="replace", timeout=300, **settings)


def here(capfd: pytest.CaptureFixture[str], *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in this process, where no stream or limit of its own is the fact."""
    status = CommandSession(list(words)).run()
    return subprocess.CompletedProcess(words, status, *capfd.readouterr())


def at_most(size: int) -> dict[str, object]:
    """Let a process write files of so many bytes, but no bytecode: Python keeps what is cut off."""
    return {
        "preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
        "env": {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    }


def a_sentence(text: str) -> bool:
    return len(text.splitlines()) == 1 and text.startswith("mpinet: ")


@pytest.mark.parametrize(
    "command", ["show ring:8", "show ring:8 --json", "--help", "exec --on ring:4 -c print(1)"]
)
def test_a_full_output_is_told(command: str) -> None:
    with open("/dev/full", "w") as full:
        done = mpinet(*command.split(), stdout=full)
    assert done.returncode == 1
    assert a_sentence(done.stderr)
    assert "No space left" in done.stderr


@pytest.mark.parametrize(
    "command", ["show ring:8", "--help", "exec --on ring:4 -c print('x'*100000)"]
)
def test_a_reader_that_has_gone_ends_the_command_without_a_word(command: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = mpinet(*command.split(), stdout=writing)
    os.close(writing)
    assert done.returncode == 141
    assert done.stderr == ""


def test_a_process_without_streams_gives_its_status() -> None:
    for word, status in (("ring:8", 0), ("ring:x", 2)):
        done = mpinet("show", word, preexec_fn=lambda: os.close(1) or os.close(2))
        assert done.returncode == status


@pytest.mark.parametrize("command", ["show ring:400 --out r.json", "show ring:400 --edges r.txt"])
def test_a_file_that_grows_too_large_is_told_and_leaves_nothing(
    command: str, tmp_path: Path
) -> None:
    done = mpinet(*command.split(), cwd=tmp_path, **at_most(64))
    assert done.returncode == 1
    assert a_sentence(done.stderr)
    assert "File too large" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_values_larger_than_a_file_may_be_are_told(programs: Path) -> None:
    words = ("run", f"{programs}:large", "--on", "ring:4", "--out", "values.csv")
    done = mpinet(*words, cwd=programs.parent, **at_most(100_000))
    assert done.returncode == 1
    assert a_sentence(done.stderr)


@pytest.mark.parametrize(
    "command",
    [
        "show ring:8 --out {}.json",
        "show ring:8 --edges {}",
        "show graph:{}.gml",
        "route ring:8 --pairs {}.csv",
        "route ring:8 --faults {}",
        "run {}.py:x --on ring:4",
        "exec --on ring:4 {}.py",
        "verify {}.py",
        "verify gbsn --journal {}",
    ],
)
def test_a_file_name_that_is_too_long_is_refused(
    command: str, capfd: pytest.CaptureFixture[str]
) -> None:
    done = here(capfd, *command.format("a" * 300).split())
    assert done.returncode == 2
    assert a_sentence(done.stderr)


@pytest.mark.parametrize("program", ["closing"])
def test_a_program_that_closes_descriptors_leaves_us_ours(programs: Path, program: str) -> None:
    done = mpinet("run", f"{programs}:{program}", "--on", "ring:3", "--json")
    assert done.returncode == 1
    assert "after closing" in json.loads(done.stdout)["error"]
    assert "after closing" in done.stderr


def test_a_program_that_closes_the_output_leaves_us_ours(programs: Path) -> None:
    done = mpinet("run", f"{programs}:closed_stream", "--on", "ring:3", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["result"]["values"] == [0, 1, 2]


@pytest.mark.parametrize("options", [[], ["--json"], ["--out", "r.csv"], ["--out", "r.json"]])
def test_surrogates_are_told_as_escapes(programs: Path, options: list[str]) -> None:
    words = ("run", f"{programs}:surrogate", "--on", "ring:3", "--arg", b"\xff", *options)
    done = mpinet(*words, cwd=programs.parent)
    assert done.returncode == 0
    assert r"\ud800\udcff" in done.stdout


@pytest.mark.parametrize("words", [["show", b"ring\xff:3"], ["show", "ring:3", b"--\xff"]])
def test_bytes_that_are_no_text_are_refused_with_a_sentence(words: list[str | bytes]) -> None:
    done = mpinet(*words)
    assert done.returncode == 2
    assert a_sentence(done.stderr)


def test_a_script_prints_surrogates_as_escapes() -> None:
    done = mpinet("exec", "--on", "complete:2", "-c", "print(chr(0xd800))")
    assert done.returncode == 0
    assert done.stdout.startswith("\\ud800\n\\ud800\n")


def test_a_number_too_long_for_decimals_is_told_in_hexadecimals(
    programs: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    done = here(capfd, "run", f"{programs}:long_number", "--on", "ring:3", "--json")
    assert json.loads(done.stdout)["result"]["values"][2] == hex(10**5000 + 2)


@pytest.mark.parametrize(("program", "reason"), [("endless", "itself"), ("mute", "no words")])
def test_a_value_that_cannot_be_told_is_a_sentence(
    programs: Path, program: str, reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    done = here(capfd, "run", f"{programs}:{program}", "--on", "ring:3")
    assert done.returncode == 1
    assert a_sentence(done.stderr)
    assert reason in done.stderr


def test_a_program_that_ends_abruptly_is_named(programs: Path) -> None:
    done = mpinet("run", f"{programs}:abrupt", "--on", "ring:3")
    assert done.returncode == 1
    assert done.stderr.startswith("mpinet: Processor 0 after step 1, ")
    assert "mpinet/process" not in done.stderr


def test_without_a_command_the_help_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    shown = here(capfd).stdout
    assert shown == here(capfd, "--help").stdout
    assert "mpinet help" in shown


def test_a_command_that_is_almost_right_is_suggested(capfd: pytest.CaptureFixture[str]) -> None:
    done = here(capfd, "rout", "ring:8")
    assert done.returncode == 2
    assert "did you mean route?" in done.stderr
