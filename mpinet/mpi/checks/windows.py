"""Local stores to a window's memory that conflict with accesses of other processors."""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.base.arrays import Array
from mpinet.mpi.windows.accesses import GET, Access, known
from mpinet.mpi.windows.conflicts import bytes_of
from mpinet.mpi.windows.exposure import Exposure

COPIED = 1 << 16
"""Size in bytes up to which a window is copied after every call of its owner, and not only after
calls that synchronize the window.
"""

SYNCHRONIZING = frozenset(
    "Fence Start Complete Post Wait Test Lock Unlock Lock_all "
    "Unlock_all Flush Flush_all Flush_local Flush_local_all Sync".split()
)
"""Calls that synchronize a window."""


class WatchedWindow:
    """Memory of a window, with a copy of the contents at its owner's last call.

    Parameters
    ----------
    exposure : Exposure
        The member's exposure.
    """

    def __init__(self, exposure: Exposure):
        self._memory: Array = np.frombuffer(exposure.memory.memory, np.uint8)
        self._unit = exposure.memory.unit
        self._copy: Array | None = None
        self._accessed: list[tuple[int, Any]] = []

    def access(self, access: Access) -> bool:
        """Return whether the owner has stored to the accessed bytes since its last call."""
        if self._copy is None or not access.count:
            return False
        places = bytes_of(access.displacement * self._unit, access.count, known(access.datatype))
        return bool((self._memory[places] != self._copy[places]).any())

    def accessed(self, access: Access) -> None:
        """Record a completed access."""
        if self._copy is None or not access.count:
            return
        places = bytes_of(access.displacement * self._unit, access.count, known(access.datatype))
        self._copy[places] = self._memory[places]
        if access.kind != GET:
            self._accessed.append((access.account, places))

    def returned(self, kind: str) -> list[int]:
        """Record that a call of the owner returns; return accounts of overwritten accesses."""
        overwritten = []
        if self._copy is not None:
            overwritten = [
                account
                for account, places in self._accessed
                if (self._memory[places] != self._copy[places]).any()
            ]
        synchronizes = kind in SYNCHRONIZING
        if synchronizes:
            self._accessed.clear()
        # A copy after each call would take too long for a large window. Without a copy, stores
        # before the next synchronization go unnoticed. A new window has no epoch yet.
        keeps = synchronizes or (self._copy is not None and len(self._memory) <= COPIED)
        self._copy = self._memory.copy() if keeps else None
        return overwritten
