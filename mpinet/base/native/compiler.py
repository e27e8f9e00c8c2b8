"""The compile process, as a job sees it: it takes descriptions and keeps objects.

One per host and cache compiles at a time: it holds a lock. It is started by exec, without the
launcher's variables, so that no MPI library takes it for a rank. It ends when its input ends, and
so with the job, however the job ends.
"""

from __future__ import annotations

import _thread
import contextlib
import fcntl
import marshal
import os
import subprocess
import threading
from collections.abc import Iterable
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Protocol

from mpinet.base.native.description import Description, packed
from mpinet.base.native.kept import kept
from mpinet.base.ownership import own_python

MODULE = "mpinet.compiler"
LAUNCHERS = ("OMPI_", "PMIX_", "PMI_", "PRTE_", "HYDRA_", "MPI_LOCAL", "MPIEXEC_", "SLURM_")
"""Beginnings of the variables by which launchers make a process a rank."""

start_new_thread = _thread.start_new_thread
"""Starts a thread that no script finds among its own."""

LENGTH = 8
"""Bytes of the number in front of each request and answer."""

# One compiler per host uses one core. After this time the other one is taken for stopped.
OTHERS_TIME = 60.0
"""Seconds of waiting for another job's compile process, which may have been stopped."""


class Code(Protocol):
    """A kernel or a rule."""

    @property
    def name(self) -> str:
        """Its name, for people."""

    @property
    def fingerprint(self) -> str:
        """Hash of all that is compiled into it."""

    @property
    def description(self) -> Description:
        """Description of it for the compiler."""

    def refused(self, wrong: str) -> str:
        """Return the sentence for code that cannot be compiled."""


class Busy(Exception):
    """Another job's compile process has the lock."""


class Compiler:
    """A running compile process.

    Parameters
    ----------
    beside : bool
        Start it also next to another job's process.

    Raises
    ------
    Busy
        Another job's process compiles for this host and cache.
    OSError
        It cannot be started.
    """

    def __init__(self, beside: bool = False) -> None:
        folder = kept().folder
        assert folder is not None
        self.asked: dict[str, None] = {}
        """Fingerprints of all requests, in their order."""
        self.answers: dict[str, str] = {}
        """Error of each function that was asked for; mostly an empty text."""
        self.changed = threading.Condition()
        """Notified with each answer."""
        self._process, self._job = _started(folder, beside), os.getpid()
        self._requests: SimpleQueue[bytes] = SimpleQueue()
        for work in (self._write, self._read):
            start_new_thread(work, ())

    @property
    def done(self) -> int:
        """Number of answered requests."""
        return len(self.answers)

    @property
    def unanswered(self) -> str:
        """Fingerprint of the first request without an answer; empty if there is none."""
        return next((each for each in self.asked if each not in self.answers), "")

    @property
    def runs(self) -> bool:
        """True until the process has ended."""
        return self._process.poll() is None

    def ask(self, codes: Iterable[Code]) -> None:
        """Ask for native code that nobody has asked for yet, in this order."""
        for code in codes:
            if code.fingerprint not in self.asked:
                self.asked[code.fingerprint] = None
                try:
                    described = packed(code.description)
                    self._requests.put(marshal.dumps((code.fingerprint, described)))
                # Descriptions follow a user's globals, which may be anything at all.
                except Exception as error:  # what cannot be described cannot be compiled
                    self.answers[code.fingerprint] = f"{type(error).__name__}: {error}"

    def end(self) -> None:
        """End the process, unless this is a fork of the job that has started it."""
        # A fork inherits the handle, but the process belongs to its parent.
        if os.getpid() != self._job:
            return
        with contextlib.suppress(OSError):
            self._process.kill()
            self._process.wait()

    def _write(self) -> None:
        stream: Any = self._process.stdin
        with contextlib.suppress(OSError, ValueError):
            while True:
                request = self._requests.get()
                stream.write(len(request).to_bytes(LENGTH, "little") + request)
                stream.flush()

    def _read(self) -> None:
        """Read answers until the process ends."""
        stream: Any = self._process.stdout
        with contextlib.suppress(OSError, ValueError):
            while len(head := stream.read(LENGTH)) == LENGTH:
                fingerprint, wrong = marshal.loads(stream.read(int.from_bytes(head, "little")))
                with self.changed:
                    self.answers[fingerprint] = wrong
                    self.changed.notify_all()
        with self.changed:
            self.changed.notify_all()


def _started(folder: Path, beside: bool) -> subprocess.Popen[bytes]:
    lock = open(folder / "compiler.lock", "ab")  # noqa: SIM115 (the process holds it)
    try:
        with contextlib.suppress(OSError):  # without locks, each job compiles
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                if not beside:
                    raise Busy from error
        # A session of its own: Ctrl-C at the terminal ends the job first, which then ends the
        # compiler.
        return subprocess.Popen(
            [*own_python("-m", MODULE), str(folder), str(lock.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            pass_fds=[lock.fileno()],
            start_new_session=True,
        )
    finally:
        lock.close()


def _environment() -> dict[str, str]:
    """Return this process's variables without those of a launcher."""
    # A rank's variables would make an imported MPI library join the job.
    return {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)} | {
        "OMP_NUM_THREADS": "1",
        "NUMBA_DISABLE_JIT": "0",
    }
