"""Locks of files: a process that holds one keeps others out; it ends with the process."""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import suppress
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
