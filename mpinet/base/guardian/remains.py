"""Removal of folders and shared-memory segments left behind by killed processes.

MPI libraries are configured to keep their files in the job's own folders if possible. The remaining
segments are recognized by their names, and deleted if no process has opened or mapped the file. A
rank may be killed at any moment, even before recording a new segment. But a living process holds
its segment from the moment of creation.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from contextlib import suppress

SHARED = "/dev/shm"
"""Folder of shared memory on Linux."""

NAME = re.compile(
    r"mpich_(shm|vci)_[0-9a-f]+_\d+|mpich_shar_tmp\w{6}|(sm|vader)_segment\..+|osc_(sm|rdma)\..+"
    r"|ucx_shm_posix_.+|psm\d_shm\..+"
)
"""File names of the shared-memory segments of MPI libraries."""

LOOKS, BETWEEN = 3, 0.05
"""Number of attempts to delete segments, and seconds between two attempts. A killed process may
hold a segment for another moment.
"""


class Remains:
    """Folders and shared-memory segments left behind by the killed processes of a job."""

    def __init__(self) -> None:
        self._folders: list[str] = []

    def add(self, folder: str) -> None:
        """Register a folder for deletion at the end."""
        self._folders.append(folder)

    def remove(self) -> None:
        """Delete the registered folders, and this user's segments not held by any process."""
        import shutil  # not needed by ranks

        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)
        for look in range(LOOKS):
            time.sleep(BETWEEN if look else 0)
            held = [path for path in segments() if not delete_unheld(path)]
            if not held:
                return


def segments() -> list[str]:
    """List the paths of shared-memory segments of MPI libraries on this host."""
    with suppress(OSError):
        return [f"{SHARED}/{name}" for name in os.listdir(SHARED) if NAME.fullmatch(name)]
    return []


def delete_unheld(path: str) -> bool:
    """Delete a file of this user unless a process has it open or mapped; False for a held file.

    The check uses a Linux write lease, granted only for a file without other holders. This includes
    invisible processes in containers with access to the folder. Without support for leases the file
    stays.
    """
    try:
        # Opened without following links: a segment's name is public, and another user could plant a
        # link.
        file = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # gone, or not writable for this user
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
