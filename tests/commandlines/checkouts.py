"""Run command lines under a checkout: its server forks the commands, as `forked.py` says."""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

TIME_LIMIT = 120
"""Seconds of one command; most take a tenth of one."""

SETTINGS = {
    "COLUMNS": "100",
    "MPINET_WATCHDOG": "0",  # it finds ranks below the launcher, where forked commands are not
    "NO_COLOR": "1",
    "NUMBA_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "SOURCE_DATE_EPOCH": "0",  # the date in pictures
}
"""Environment variables of all commands."""


class Ended(NamedTuple):
    """How a command has ended."""

    status: int
    output: str
    errors: str


class Checkout:
    """A checkout, and the program `mpinet` that runs its commands.

    Parameters
    ----------
    checkout : Path
        The folder that has the package `mpinet`.
    place : Path
        A new folder for the programs, as long as the checkout is used.
    real : bool
        Whether each command is a process of its own instead of a fork.
    """

    def __init__(self, checkout: Path, place: Path, real: bool):
        if not (checkout / "mpinet/__init__.py").is_file():
            raise SystemExit(f"{checkout} is no checkout: it has no package mpinet.")
        self.checkout, self.place = checkout.resolve(), place
        place.mkdir()
        path = os.pathsep.join([str(place), str(Path(sys.executable).parent), os.environ["PATH"]])
        self._environment = os.environ | SETTINGS | {"PATH": path, "PYTHONPATH": str(self.checkout)}
        started = [sys.executable, "-m", "mpinet"]
        self._server = None if real else self._serve(place / "socket")
        if self._server is not None:
            really = _program(place / "really", started)
            client = str(self.checkout / "tests/forkedclient.py")
            started = [sys.executable, "-IS", client, str(place / "socket"), str(really)]
        self._mpinet = _program(place / "mpinet", started)

    def _serve(self, address: Path) -> subprocess.Popen[bytes]:
        """Start the checkout's own server, which has imported its commands."""
        server = subprocess.Popen(
            [sys.executable, str(self.checkout / "tests/forked.py"), str(address)],
            env=self._environment,
            stdin=subprocess.PIPE,  # the server ends when this ends
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert server.stdout is not None
        if server.stdout.readline() != b"ready\n":
            raise SystemExit(f"The server of {self.checkout} did not start.")
        return server

    def run(self, words: list[str], folder: Path) -> Ended:
        """Run an mpinet command in a folder."""
        try:
            done = subprocess.run(
                [self._mpinet, *words],
                cwd=folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=TIME_LIMIT,
            )
        except subprocess.TimeoutExpired:
            return Ended(-1, "", f"no end after {TIME_LIMIT} s")
        texts = (each.decode(errors="backslashreplace") for each in (done.stdout, done.stderr))
        return Ended(done.returncode, *texts)

    def python(self, script: str) -> str:
        """Run a Python script that imports the checkout's mpinet; return what it prints."""
        words = [sys.executable, "-c", script]
        return subprocess.run(
            words,
            cwd=self.place,  # the first folder where Python looks for modules
            env=self._environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    def end(self) -> None:
        """End the server."""
        if self._server is not None:
            self._server.communicate()


def _program(file: Path, words: list[str]) -> Path:
    """Write a program that runs these words."""
    file.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    file.chmod(0o755)
    return file
