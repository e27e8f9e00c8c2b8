"""What the pages for people show, README and docs, is what their commands and scripts print."""

import os
import re
import shlex
import subprocess

import pytest
from launch.conftest import CHECKOUT, TIME_LIMIT

from mpinet.cli.session import Session

PAGES = [CHECKOUT / "README.md"]
PAGES += sorted(path for path in (CHECKOUT / "docs").rglob("*.md") if "_build" not in path.parts)
SHOWN = [
    pytest.param(command, output, id=f"{page.stem}: {command}")
    for page in PAGES
    for block in re.findall(r"```\n(\$ .*?)```", page.read_text(), re.DOTALL)
    for command, output in re.findall(r"\$ (.+)\n((?:(?!\$ ).*\n)*)", block)
]
PRINTING = [
    pytest.param(script, output, id=page.stem)
    for page in PAGES
    for script, output in re.findall(
        r"```python\n((?:(?!```).*\n)*)```\n\nprints\n\n```\n((?:(?!```).*\n)*)```",
        page.read_text(),
    )
]
SCRIPTS = [
    script
    for page in PAGES
    for script in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
]
FILES = {
    "wheel.py": "class Wheel",
    "turns.py": "class Turns",
    "arcs.py": "class Arcs",
    "greedy.py": "class Greedy",
    "gcd.py": "class Gcd",
    "wheels.py": "WHEEL-D",
    "echo.py": "def echo",
    "relay.py": "def relay",
    "wait.py": "def wait",
    "heat.py": "turns = comm.bcast",
    "meet.py": "rank ^ 1",
}

SHELL = {
    "shell": True,
    "env": os.environ | {"PATH": f"{CHECKOUT}/.venv/bin:{os.environ['PATH']}"},
    "capture_output": True,
    "text": True,
    "timeout": TIME_LIMIT,
}


@pytest.fixture
def folder(tmp_path):
    """A folder with the pages' scripts and plans, under the names that they give them."""
    for name, mark in FILES.items():
        (tmp_path / name).write_text(next(script for script in SCRIPTS if mark in script))
    for page in PAGES:
        for plan, name in re.findall(
            r"```toml\n(# (\w+\.toml)\n.*?)```", page.read_text(), re.DOTALL
        ):
            (tmp_path / name).write_text(plan)
    return tmp_path


ANEW = {"exec", "launch", "load", "resume", "verify"}
"""Commands that start processes, or that are to find nothing of other commands in theirs."""


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_a_command_prints_what_the_page_shows(command, output, folder, monkeypatch, capfd):
    monkeypatch.chdir(folder)
    words, _, rest = command.partition(" | ")
    if re.fullmatch(r"mpinet [^<>;&|$]*", words) and words.split()[1] not in ANEW:
        status = Session(shlex.split(words)[1:]).run()
        out, said = capfd.readouterr()
        out = filtered(out, rest) if rest else out
    else:
        done = subprocess.run(command.replace("launch/run", str(CHECKOUT / "launch/run")), **SHELL)
        status, out, said = done.returncode, done.stdout, done.stderr
    refused = output.startswith("mpinet: ")
    assert (said if refused else out) == output, said
    assert (status != 0) == refused


def filtered(text, command):
    """What a command of the shell makes of a text."""
    return subprocess.run(command, input=text, **SHELL).stdout


@pytest.mark.parametrize(("script", "output"), PRINTING)
def test_a_script_prints_what_the_page_shows(script, output, folder):
    command = [CHECKOUT / ".venv/bin/python", "-c", script]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIME_LIMIT)
    assert (done.stdout, done.returncode) == (output, 0), done.stderr


def test_the_pages_show_commands_and_scripts():
    assert (len(SHOWN) >= 28, len(PRINTING) >= 2) == (True, True)


def test_a_script_prints_what_its_comments_say(tmp_path):
    script = next(script for script in SCRIPTS if "traffic(machine.topology" in script)
    (tmp_path / "api.py").write_text(script)
    done = subprocess.run(
        [CHECKOUT / ".venv/bin/python", "api.py"], cwd=tmp_path, capture_output=True, text=True
    )
    lines = done.stdout.splitlines()
    assert lines[0] == "[4 6] [1 3] [1.5 2.5]"
    assert lines[1].startswith("Step 2: processor 0 sends on port 1: a processor sends at most 1")
    assert lines[2:] == ["6"]


def test_the_network_that_a_page_adds_is_the_whole_file():
    page = (CHECKOUT / "docs/tutorials/own-network.md").read_text()
    added = re.search(r"\+\+\+ b/(\S+)\n((?:\+.*\n)+)```", page)
    lines = [line[1:] for line in added.group(2).splitlines()]
    assert lines == (CHECKOUT / added.group(1)).read_text().splitlines()


def test_the_readme_is_short_and_its_links_lead_somewhere():
    text = (CHECKOUT / "README.md").read_text()
    assert len(text.encode()) <= 8 * 1024
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (CHECKOUT / target).exists(), target
