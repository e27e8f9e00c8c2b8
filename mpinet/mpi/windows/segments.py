"""Shared memory of a window's members: a segment of their host's memory.

Processors of one rank share memory anyway. For several ranks the lowest member creates an unnamed
file, which exists as long as any process maps it. The member sends the file's location in its
process to all ranks.
"""

from __future__ import annotations

import mmap
import os
from typing import Any

import numpy as np

from mpinet.errors import UsageError
from mpinet.mpi.collectives.algorithms import Collective
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.host import host

TOLD = 128
"""Size of a segment's description in bytes, independent of the number of ranks."""


def shared_segment(part: Collective, nbytes: int) -> Any:
    """Create or find the memory of a window's members (collective over the members).

    Parameters
    ----------
    part : Collective
        The call that creates the window.
    nbytes : int
        Total size for all members, in bytes.

    Returns
    -------
    ndarray of uint8, shape (nbytes,)
        The memory, shared by all members.

    Raises
    ------
    UsageError
        Members are on several hosts.
    """
    # The operating system refuses an empty mapping, but MPI allows a window of 0 bytes.
    length = max(nbytes, 1)
    made, text = _made(length) if part.rank == 0 else (None, b"")
    told: bytes = part.broadcast(0, text.ljust(TOLD) if part.rank == 0 else None)
    found = _SEGMENTS.get(told) if made is None else made[1]
    if found is None:
        found = _mapped(told.decode().split(), length)
    _SEGMENTS[told] = found
    part.barrier()  # all members have mapped the file, and it need not stay open
    _SEGMENTS.pop(told, None)
    if made is not None:
        # The mappings keep the memory. Without a name or an open file it is deleted with the last
        # mapping, even if the run is killed.
        os.close(made[0])
    return np.frombuffer(found, np.uint8)[:nbytes]


_SEGMENTS: dict[bytes, mmap.mmap] = {}
"""Segments being distributed, by description: each rank maps a segment once."""


def _made(length: int) -> tuple[tuple[int, mmap.mmap], bytes]:
    """Create a segment; return its file, its memory and its description."""
    file = os.memfd_create("mpinet")
    os.ftruncate(file, length)
    text = f"{host()} {os.getpid()} {file}"
    return (file, mmap.mmap(file, length)), text.encode()


def _mapped(told: list[str], length: int) -> mmap.mmap:
    """Map a segment created by another rank."""
    place, process, number = told
    try:
        if place != host():
            raise OSError("another host")
        file = os.open(f"/proc/{process}/fd/{number}", os.O_RDWR)
    except OSError:
        running.turns.stop(
            UsageError(
                "Allocate_shared: the window's members are on ranks without shared memory. Run all "
                "members on ranks of one host, or use Allocate."
            )
        )
    try:
        return mmap.mmap(file, length)
    finally:
        os.close(file)
