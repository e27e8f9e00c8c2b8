"""Locks of files: a process that holds one keeps others out; it ends with the process."""

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
    """Lock an open file until it is closed; return whether its file system knows locks.

    Raises
    ------
    BlockingIOError
        Another process has locked it.
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
        The file; nothing where the file system knows no locks.

    Raises
    ------
    BlockingIOError
        Another process has locked it.
    OSError
        It cannot be opened.
    """
    # A lock belongs to the file, not to its name: after a deletion the name may lead to another
    # file.
    while True:
        if path.exists() and not path.is_file():  # a pipe would keep who opens it waiting
            raise OSError(errno.EINVAL, "it is no file")
        file = path.open("a")
        try:
            knows = lock(file)
        except BlockingIOError:
            file.close()
            raise
        if not knows:
            file.close()
            return None
        # Whoever held the lock before may have deleted the file: the lock of a file without a name
        # keeps nobody out.
        if is_at(path, file):
            return file
        file.close()  # of a process that has just ended, and deleted it


def is_at(path: Path, file: IO[str]) -> bool:
    """Tell if an open file is the one that has this name."""
    with suppress(FileNotFoundError), path.open() as there:  # a file server is asked by opening
        return os.path.samestat(os.fstat(there.fileno()), os.fstat(file.fileno()))
    return False


PATIENCE = 60.0
"""Seconds of waiting for another process, after which `alone` goes on beside it."""


@contextmanager
def alone(file: str, patience: float | None = None) -> Iterator[None]:
    """Exclude other processes from this context for the same file; the file exists in it.

    The system frees the lock of a process that has ended, however it did. Where there are no locks,
    or another process does not end in time, several go on at once.

    Parameters
    ----------
    file : str
        The file's name; whoever leaves the context deletes it.
    patience : float, optional
        Seconds to wait for another process. Default: `PATIENCE`.
    """
    # Without a lock work is done twice, never wrongly: files are renamed into place.
    lock = _waited_for(file, PATIENCE if patience is None else patience)
    try:
        yield
    finally:
        if lock is not None:
            with suppress(OSError):
                os.unlink(file)  # while it is locked: whoever has opened it sees that it is gone
            lock.close()


def _waited_for(file: str, patience: float) -> IO[str] | None:
    """Open and lock the file; None if that fails."""
    began = time.monotonic()
    while (waited := time.monotonic() - began) < patience:
        try:
            return locked(Path(file))
        except BlockingIOError:
            time.sleep(min(0.002 + waited / 20, 0.1))
        except OSError:
            break
    return None
