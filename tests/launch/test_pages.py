"""What the pages for people show, README and docs, is what their commands and scripts print."""

import re
import runpy
import shlex
import subprocess
from types import SimpleNamespace

import pytest
from launch.conftest import CHECKOUT, TIME_LIMIT

from mpinet.cli.session import CommandSession

SHARED = SimpleNamespace(**runpy.run_path(str(CHECKOUT / "docs/_extensions/pagecommands.py")))
"""How the docs build finds and runs the commands of pages."""

pytestmark = pytest.mark.usefixtures("forked")

PAGES = [CHECKOUT / "README.md"]
PAGES += sorted(path for path in (CHECKOUT / "docs").rglob("*.md") if "_build" not in path.parts)
LARGE = {
    "mpinet load torus:8x8 mesh:8x8 --routing",  # beside a torus:4x4 on its page
    "mpinet launch -n 4 route hypercube:16",  # beside a torus:8x8x8
    "mpinet launch -n 4 broadcast arcs:Arcs:28",  # beside smaller ones in one process
    "mpinet verify GMN-TB1-3584",  # which serial/papers/test_findings.py runs, too
    "for n in debruijn:5 ccc:3",  # five optima, beside those of single networks
    "# choice.py",  # traffic with three rules of the page's own, each compiled into the loop
}
"""Beginnings of commands and scripts that take minutes and show what cheaper ones show."""


def marks(command):
    """The marks of a command or script."""
    return [pytest.mark.long] if command.startswith(tuple(LARGE)) else []


SHOWN = [
    pytest.param(page, command, output, id=f"{page.stem}: {command}", marks=marks(command))
    for page in PAGES
    for block in SHARED.COMMANDS.findall(page.read_text())
    for command, output in SHARED.SHOWN.findall(block)
]
PRINTING = [
    pytest.param(page, script, output, id=page.stem, marks=marks(script))
    for page in PAGES
    for script, output in re.findall(
        r"```python\n((?:(?!```).*\n)*)```\n\nprints\n\n```\n((?:(?!```).*\n)*)```",
        page.read_text(),
    )
]
SHELL = {
    "shell": True,
    "capture_output": True,
    "text": True,
    "timeout": TIME_LIMIT,
}


def write_files(page, folder):
    """Put what a page itself says into an empty folder: no page relies on another one."""
    for name, text in SHARED.files_of(page.read_text()).items():
        (folder / name).write_text(text)


ANEW = {"exec", "launch", "load", "resume", "verify"}
"""Commands that start processes, or that are to find nothing of other commands in theirs."""


def plain(commands):
    """The commands between && as matches; none where a shell or a process is needed."""
    found = SHARED.plain(commands)
    return found if all(each[1].split()[1] not in ANEW for each in found) else []


def run_here(commands, folder, capfd):
    """Run plain commands one after the other while they succeed: status, output, complaints."""
    status, out, said = 0, "", ""
    for command in commands:
        status = CommandSession(shlex.split(command[1])[1:]).run()
        shown, told = capfd.readouterr()
        said += told
        if command[2]:
            (folder / command[2]).write_text(shown)
        else:
            out += shown
        if status:
            break
    return status, out, said


@pytest.mark.parametrize(("page", "command", "output"), SHOWN)
def test_a_command_prints_what_the_page_shows(page, command, output, tmp_path, monkeypatch, capfd):
    write_files(page, tmp_path)
    monkeypatch.chdir(tmp_path)
    words, _, rest = command.partition(" | ")
    if commands := plain(words):
        status, out, said = run_here(commands, tmp_path, capfd)
        out = filtered(out, rest) if rest else out
    else:
        done = subprocess.run(command.replace("launch/run", str(CHECKOUT / "launch/run")), **SHELL)
        status, out, said = done.returncode, done.stdout, done.stderr
    refused = output.startswith("mpinet: ")
    assert (said if refused else out) == output, said
    assert (status != 0) == refused


def test_commands_run_here_as_a_shell_runs_them(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    shown = "mpinet show ring:4 --json > a.json && mpinet show ring:x && mpinet show ring:5"
    status, out, said = run_here(plain(shown), tmp_path, capfd)
    assert (status, out) == (2, "") and said.startswith("mpinet: ")
    assert '"size": 4' in (tmp_path / "a.json").read_text()
    for needs_more in ("mpinet show ring:4; ls", "mpinet show $N", "mpinet show a && ls", "exec"):
        assert plain(needs_more) == []
    assert plain("mpinet show ring:4 && mpinet launch -n 2 flood ring:4") == []


def filtered(text, command):
    """What a command of the shell makes of a text."""
    return subprocess.run(command, input=text, **SHELL).stdout


@pytest.mark.parametrize(("page", "script", "output"), PRINTING)
def test_a_script_prints_what_the_page_shows(page, script, output, tmp_path):
    write_files(page, tmp_path)
    command = ["forked-python", "-c", script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=TIME_LIMIT)
    assert (done.stdout, done.returncode) == (output, 0), done.stderr


def test_the_pages_show_commands_and_scripts():
    assert (len(SHOWN) >= 28, len(PRINTING) >= 2) == (True, True)
    assert sum(bool(shown.marks) for shown in [*SHOWN, *PRINTING]) == len(LARGE)


def test_a_script_prints_what_its_comments_say(tmp_path):
    write_files(CHECKOUT / "docs/tutorials/ten-minutes.md", tmp_path)
    done = subprocess.run(
        [CHECKOUT / ".venv/bin/python", "api.py"], cwd=tmp_path, capture_output=True, text=True
    )
    lines = done.stdout.splitlines()
    assert lines[0] == "[4 6] [1 3] [1.5 2.5]"
    assert lines[1].startswith("Step 2: processor 0 sends on port 1: a processor sends at most 1")
    assert lines[2:] == ["6"]


def test_a_file_of_a_page_begins_with_its_name(tmp_path):
    page = tmp_path / "page.md"
    blocks = ("python\n# a.py\nx = 1", "python\nx = 2", "toml\n# b.toml")
    page.write_text("\n".join(f"```{block}\n```\n" for block in blocks))
    write_files(page, tmp_path)
    assert (tmp_path / "a.py").read_text() == "# a.py\nx = 1\n"
    assert {path.name for path in tmp_path.iterdir()} == {"page.md", "a.py", "b.toml"}


def test_no_two_files_of_a_page_have_one_name():
    for page in PAGES:
        names = [name for _, name in SHARED.FILE.findall(page.read_text())]
        assert len(names) == len(set(names)), page


def test_the_network_that_a_page_adds_is_the_whole_file():
    page = (CHECKOUT / "docs/tutorials/own-network.md").read_text()
    added = re.search(r"\+\+\+ b/(\S+)\n((?:\+.*\n)+)```", page)
    lines = [line[1:] for line in added.group(2).splitlines()]
    assert lines == (CHECKOUT / added.group(1)).read_text().splitlines()


def test_the_readme_is_short_and_its_links_lead_somewhere():
    text = (CHECKOUT / "README.md").read_text()
    assert len(text.encode()) <= 6 * 1024
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (CHECKOUT / target).exists(), target
