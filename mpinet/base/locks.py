"""File locks: one process at a time holds a lock, and the end of the process frees it."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


def lock(file: IO[str]) -> bool:
    """Lock an open file until it is closed; return False if its file system has no locks.

    Raises
    ------
    BlockingIOError
        Another process holds the lock.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return False
    return True


def locked(path: Path) -> IO[str] | None:
    """Open a file, create it if needed, and lock it until it is closed.

    Returns
    -------
    file or None
        The open file; None if the file system has no locks.

    Raises
    ------
    BlockingIOError
        Another process holds the lock.
    OSError
        The file cannot be opened.
    """
    # A lock belongs to the file, not to the name: after a deletion the name may denote a new file.
    while True:
        if path.exists() and not path.is_file():  # opening a pipe would block
            raise OSError(errno.EINVAL, "it is not a regular file")
        file = path.open("a")
        try:
            knows = lock(file)
        except BlockingIOError:
            file.close()
            raise
        if not knows:
            file.close()
            return None
        # The previous holder of the lock may have deleted the file. A lock on a file without a name
        # excludes no process.
        if is_at(path, file):
            return file
        file.close()  # its previous holder has just ended, and deleted the file


def is_at(path: Path, file: IO[str]) -> bool:
    """Return whether a path still denotes this open file."""
    with suppress(FileNotFoundError), path.open() as there:  # opening asks the file server
        return os.path.samestat(os.fstat(there.fileno()), os.fstat(file.fileno()))
    return False


PATIENCE = 60.0
"""Seconds of waiting for another process, after which `alone` continues without the lock."""


@contextmanager
def alone(file: str, patience: float | None = None) -> Iterator[None]:
    """Exclude other processes from this context for the same lock file, which exists meanwhile.

    The operating system frees the lock of every ended process, however the process ended. Several
    processes may run at once if the file system has no locks, or if another process holds the lock
    for longer than `patience`.

    Parameters
    ----------
    file : str
        Name of the lock file, deleted at the end of the context.
    patience : float, optional
        Seconds to wait for another process. Default: `PATIENCE`.
    """
    # Without a lock some work is done twice, but never wrongly: files are renamed into place.
    lock = _waited_for(file, PATIENCE if patience is None else patience)
    try:
        yield
    finally:
        if lock is not None:
            with suppress(OSError):
                os.unlink(file)  # still locked: a waiting process sees the deletion
            lock.close()


def _waited_for(file: str, patience: float) -> IO[str] | None:
    """Open and lock the file, waiting for other processes; return None on failure or timeout."""
    began = time.monotonic()
    while (waited := time.monotonic() - began) < patience:
        try:
            return locked(Path(file))
        except BlockingIOError:
            time.sleep(min(0.002 + waited / 20, 0.1))
        except OSError:
            break
    return None
