"""The job's interface to the compile process, which takes descriptions and stores objects.

Each host and cache has one active compile process, the holder of a lock. The process is started by
exec, without the launcher's variables, because an MPI library might mistake it for a rank. The
process ends at the end of its input, and therefore always together with the job.
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
"""Prefixes of the environment variables with which launchers turn a process into a rank."""

start_new_thread = _thread.start_new_thread
"""Starts a thread that user scripts do not see in their list of threads."""

LENGTH = 8
"""Bytes of the length field in front of each request and answer."""

# One compiler per host uses one core. After this time the other process is assumed to be stopped.
OTHERS_TIME = 60.0
"""Seconds of waiting for another job's compile process before this job starts its own."""


class Code(Protocol):
    """Interface of a kernel or a rule, as the compile process needs it."""

    @property
    def name(self) -> str:
        """Human-readable name of the function."""

    @property
    def fingerprint(self) -> str:
        """Hash of the function and of everything compiled into it."""

    @property
    def description(self) -> Description:
        """Description of the function for the compiler."""

    def refused(self, wrong: str) -> str:
        """Return the error sentence for a failed compilation."""


class Busy(Exception):
    """Another job's compile process holds the lock."""


class Compiler:
    """A running compile process.

    Parameters
    ----------
    beside : bool
        True to start the process even if another job's process is running.

    Raises
    ------
    Busy
        Another job's process compiles for this host and cache.
    OSError
        The process cannot be started.
    """

    def __init__(self, beside: bool = False) -> None:
        folder = kept().folder
        assert folder is not None
        self.asked: dict[str, None] = {}
        """Fingerprints of all requests, in order."""
        self.answers: dict[str, str] = {}
        """Error of each answered request, by fingerprint; an empty text after success."""
        self.changed = threading.Condition()
        """Condition notified at each answer."""
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
        """Fingerprint of the first unanswered request; empty if all are answered."""
        return next((each for each in self.asked if each not in self.answers), "")

    @property
    def runs(self) -> bool:
        """True until the process has ended."""
        return self._process.poll() is None

    def ask(self, codes: Iterable[Code]) -> None:
        """Request native code for all functions not requested before, in this order."""
        for code in codes:
            if code.fingerprint not in self.asked:
                self.asked[code.fingerprint] = None
                try:
                    described = packed(code.description)
                    self._requests.put(marshal.dumps((code.fingerprint, described)))
                # Descriptions include a user's globals, which may be any objects.
                except Exception as error:  # a function without a description cannot be compiled
                    self.answers[code.fingerprint] = f"{type(error).__name__}: {error}"

    def end(self) -> None:
        """End the process, unless called in a fork of the job that started it."""
        # A fork inherits the handle, but the process belongs to the fork's parent.
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
        # A separate session: Ctrl-C at the terminal first ends the job, which then ends the
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
    """Return this process's environment variables without the variables of a launcher."""
    # With a rank's variables an imported MPI library would join the job.
    return {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)} | {
        "OMP_NUM_THREADS": "1",
        "NUMBA_DISABLE_JIT": "0",
    }
