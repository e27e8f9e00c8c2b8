"""The remains of killed processes: folders, and segments of shared memory.

The MPI libraries are told to keep what they can in the job's own folders. Other segments are known
by their names, and by this: nobody has them open or mapped. A rank may be killed at any moment, so
that what it has made cannot be noted in time; but it holds a segment from the first moment on.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from contextlib import suppress

SHARED = "/dev/shm"
"""Folder in which Linux has shared memory."""

NAME = re.compile(
    r"mpich_(shm|vci)_[0-9a-f]+_\d+|mpich_shar_tmp\w{6}|(sm|vader)_segment\..+|osc_(sm|rdma)\..+"
    r"|ucx_shm_posix_.+|psm\d_shm\..+"
)
"""The names that MPI libraries give to their segments."""

LOOKS, BETWEEN = 3, 0.05
"""Number of looks at segments that somebody holds, and seconds between two: who has just been
killed may hold them for a moment."""


class Remains:
    """Files that a job's processes would leave behind if they were killed."""

    def __init__(self) -> None:
        self._folders: list[str] = []

    def add(self, folder: str) -> None:
        """Have a folder deleted at the end."""
        self._folders.append(folder)

    def remove(self) -> None:
        """Delete the folders, and this user's segments that no process of any job holds."""
        import shutil  # which ranks do not need

        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)
        for look in range(LOOKS):
            time.sleep(BETWEEN if look else 0)
            held = [path for path in segments() if not delete_unheld(path)]
            if not held:
                return


def segments() -> list[str]:
    """List the segments that MPI libraries have made on this host."""
    with suppress(OSError):
        return [f"{SHARED}/{name}" for name in os.listdir(SHARED) if NAME.fullmatch(name)]
    return []


def delete_unheld(path: str) -> bool:
    """Delete a file of this user unless a process has it open or mapped; return whether none has.

    Linux leases a file to a writer only if nobody else holds it, not even in a container that
    shares the folder, whose processes cannot be seen here. Without leases the file is left.
    """
    try:
        # Opened without following links: a segment's name is public, and could be another user's
        # trap.
        file = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # gone, or nothing that this user may write to
        return True
    try:
        if os.fstat(file).st_uid == os.geteuid():
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            os.unlink(path)
    except OSError:
        return False
    finally:
        os.close(file)
    return True
