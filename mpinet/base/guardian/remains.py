"""The remains of killed processes: folders, and segments of shared memory.

The MPI libraries are told to keep what they can in the job's own folders. For other segments it is
noted while the job runs which ones its processes have mapped; they are deleted at its end if no
process has them mapped then.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress

from .processes import processes

SHARED = "/dev/shm"
"""Folder in which Linux has shared memory."""

NAME = r"(?:mpich_shm_|sm_segment\.|vader_segment\.|osc_|ucx_shm_|psm\d_shm)[^/\n]*"
"""The names that MPI libraries give to their segments."""

MAPPED = re.compile(rf"\S+ r\S+ \S+ \S+ (\d+) +({SHARED}/{NAME})\n".encode())
"""A line of /proc/PID/maps: inode and path of a segment that an MPI library has made."""

READS = 5
"""Number of looks at a new segment. The process that makes one maps it only a little later."""


class Remains:
    """Files that a job's processes would leave behind if they were killed."""

    def __init__(self) -> None:
        self._folders: list[str] = []
        self._segments: dict[str, int] = {}
        self._seen: dict[tuple[str, int], int] = {}

    def add(self, folder: str) -> None:
        """Have a folder deleted at the end."""
        self._folders.append(folder)

    def note(self, processes: Iterable[int]) -> None:
        """Note the segments of shared memory that these processes have mapped."""
        for number in processes:
            self._segments |= segments(number)

    def note_new(self, family: Callable[[], Iterable[int]]) -> None:
        """Note what a job's processes have mapped, where there is a new segment on this host.

        To list the segments takes microseconds, but milliseconds to find the processes and to read
        what they have mapped: a job makes its segments when it starts, and seldom after that.
        """
        self._seen = {each: self._seen.get(each, 0) + 1 for each in standing()}
        if any(looks <= READS for looks in self._seen.values()):
            self.note(family())

    def remove(self) -> None:
        """Delete the folders, and those of the segments that no process maps any more."""
        import shutil  # which ranks do not need

        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)
        # Another job may have mapped a segment, or made a new one under an old name: delete only
        # those that no process maps, and that still have the inode noted.
        left = {path for path in self._segments if os.path.exists(path)}
        if not left:
            return
        for number in processes():
            left -= set(segments(number))
        for path in left:
            with suppress(OSError):
                found = os.stat(path)
                if found.st_uid == os.geteuid() and found.st_ino == self._segments[path]:
                    os.unlink(path)


def standing() -> list[tuple[str, int]]:
    """List name and inode of the segments that MPI libraries have on this host."""
    with suppress(OSError), os.scandir(SHARED) as files:
        return [(file.name, file.inode()) for file in files if re.fullmatch(NAME, file.name)]
    return []


def segments(number: int) -> dict[str, int]:
    """Return the inodes of the MPI segments that a process has mapped, by their paths."""
    try:
        with open(f"/proc/{number}/maps", "rb") as file:
            found = MAPPED.findall(file.read())
    except OSError:
        return {}
    return {os.fsdecode(path): int(inode) for inode, path in found}
