"""Memory that all members of a window load from and store to: one segment of their host's memory.

Processors of one rank have it anyway. For others the lowest member makes a file without a name,
which lives as long as somebody maps it, and tells the others where its process keeps it open.
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
"""Bytes of what is told of a segment, which do not depend on the ranks."""


def shared_segment(part: Collective, nbytes: int) -> Any:
    """Make or find the memory of a window's members (collective over them).

    Parameters
    ----------
    part : Collective
        The call that makes the window.
    nbytes : int
        Bytes of all members together.

    Returns
    -------
    ndarray of uint8, shape (nbytes,)
        The memory, the same for all.

    Raises
    ------
    UsageError
        Members are on several hosts.
    """
    # An empty mapping is an error of the system's. A window of no bytes is none of MPI's.
    length = max(nbytes, 1)
    made, text = _made(length) if part.rank == 0 else (None, b"")
    told: bytes = part.broadcast(0, text.ljust(TOLD) if part.rank == 0 else None)
    found = _SEGMENTS.get(told) if made is None else made[1]
    if found is None:
        found = _mapped(told.decode().split(), length)
    _SEGMENTS[told] = found
    part.barrier()  # all have it, so that the file need not be open any more
    _SEGMENTS.pop(told, None)
    if made is not None:
        # The mappings keep the memory. Without a name or an open file it vanishes with the last of
        # them, even if the run is killed.
        os.close(made[0])
    return np.frombuffer(found, np.uint8)[:nbytes]


_SEGMENTS: dict[bytes, mmap.mmap] = {}
"""Segments that are being shared out, by what is told of them: one mapping serves a rank."""


def _made(length: int) -> tuple[tuple[int, mmap.mmap], bytes]:
    """A new segment: its file and its memory; and what is told of it."""
    file = os.memfd_create("mpinet")
    os.ftruncate(file, length)
    text = f"{host()} {os.getpid()} {file}"
    return (file, mmap.mmap(file, length)), text.encode()


def _mapped(told: list[str], length: int) -> mmap.mmap:
    """The memory of a segment that another rank has made."""
    place, process, number = told
    try:
        if place != host():
            raise OSError("another host")
        file = os.open(f"/proc/{process}/fd/{number}", os.O_RDWR)
    except OSError:
        running.turns.stop(
            UsageError(
                "Allocate_shared: members of the window are on ranks that do not share a host's "
                "memory. Let one rank, or ranks of one host, host all of them, or use Allocate."
            )
        )
    try:
        return mmap.mmap(file, length)
    finally:
        os.close(file)
