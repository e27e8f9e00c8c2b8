"""The files, command lines and scripts of pages, and their execution by the docs build.

A new process runs them, because a command may change the environment. Results are kept in
docs/_build until the sources of mpinet change.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from hashlib import sha256
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mpinet.cli.session import CommandSession
from mpinet.experiments.journal import version_of

DOCS = Path(__file__).parents[1]
BUILD = DOCS / "_build"

FILE = re.compile(r"^```\w+\n(# ([\w-]+\.\w+)\n.*?)^```", re.DOTALL | re.MULTILINE)
"""A block that is a file: the first line is the name."""

COMMANDS = re.compile(r"```\n(\$ .*?)```", re.DOTALL)
"""A block of command lines with their outputs."""

SHOWN = re.compile(r"\$ (.+)\n((?:(?!\$ ).*\n)*)")
"""A command line of a block, and its output."""

SCRIPT = re.compile(r"^```python\n((?:(?!```).*\n)*)```", re.MULTILINE)
"""A block of Python."""

PLAIN = re.compile(r"(mpinet [^<>;&|$]*?)(?: > ?([\w.-]+))?")
"""A command that needs no shell, and the file that gets its output."""


def files_of(page: str) -> dict[str, str]:
    """Return the files that a page's text contains, by name."""
    return {name: text for text, name in FILE.findall(page)}


def lines_of(page: str) -> list[str]:
    """Return the command lines of a page, in order."""
    return [line for block in COMMANDS.findall(page) for line, _ in SHOWN.findall(block)]


def plain(line: str) -> list[re.Match[str]]:
    """Return the commands between ``&&`` as matches of `PLAIN`; none if any needs a shell."""
    found = [PLAIN.fullmatch(command) for command in line.split(" && ")]
    return [each for each in found if each] if all(found) else []


@contextmanager
def folder_with(files: Mapping[str, str]) -> Iterator[Path]:
    """Enter a new folder with these files; the folder disappears at the end."""
    with TemporaryDirectory(prefix="mpinet-docs-") as name, chdir(name):
        for file, text in files.items():
            Path(file).write_text(text)
        yield Path(name)


def run_here(words: str) -> str:
    """Run a command line in this process, and return its output; raise an error if it fails."""
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as errors:
        status = CommandSession(shlex.split(words)[1:]).run()
    if status:
        raise RuntimeError(f"{words} ends with status {status}: {errors.getvalue()}")
    return out.getvalue()


def run_line(line: str) -> None:
    """Run a command line of a page, without a filter that only selects lines of its output."""
    words, _, rest = line.partition(" | ")
    commands = [] if set(rest) & {*">&;"} else plain(words)
    # `launch` replaces its process by the launcher.
    if not commands or any(command[1].startswith("mpinet launch") for command in commands):
        run_outside(["bash", "-euo", "pipefail", "-c", line])
        return
    for command in commands:
        output = run_here(command[1])
        if command[2]:
            Path(command[2]).write_text(output)


def run_outside(words: list[str]) -> None:
    """Run a program with the commands of this environment; raise an error if it fails."""
    places = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        words, env=os.environ | {"PATH": places}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{words[-1]} ends with status {done.returncode}: {done.stderr}")


def results(script: str, jobs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the results of jobs, by name; a new process runs the new and the changed jobs.

    Parameters
    ----------
    script : str
        The module that runs the jobs, called as a script. The script calls `serve`.
    jobs : mapping
        The description of each job, as JSON values.
    """
    kept = BUILD / f"{Path(script).stem}.json"
    sources = version_of([script, __file__])
    keys = {
        name: sha256(json.dumps([sources, job]).encode()).hexdigest() for name, job in jobs.items()
    }
    known = json.loads(kept.read_text()) if kept.exists() else {}
    todo = {name: job for name, job in jobs.items() if keys[name] not in known}
    if todo:
        set_there = os.environ | {"COLUMNS": "80", "MPINET_COMPILE": "wait"}
        done = subprocess.run(
            [sys.executable, script],
            input=json.dumps(todo), env=set_there, stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
        known |= {keys[name]: result for name, result in json.loads(done.stdout).items()}
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(json.dumps({key: known[key] for key in keys.values()}))
    return {name: known[key] for name, key in keys.items()}


def serve(run: Callable[[Any], Any]) -> None:
    """Run the jobs on the standard input, and print their results by name."""
    jobs = json.load(sys.stdin)
    json.dump({name: run(job) for name, job in jobs.items()}, sys.stdout)
