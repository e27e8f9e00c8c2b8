"""Large arrays shared by all processes of a user on this host, with a single copy in memory.

The first process in need of an array computes it and writes it to the user's cache folder. All
processes, including the first, map the file. The operating system then keeps its pages in memory
only once.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.locks import alone
from mpinet.base.native.tiers import cache_folder
from mpinet.base.sealed import unsealed, write_sealed
from mpinet.errors import OutputError

FILES = 8
"""Most arrays in the folder; the least recently used arrays are deleted."""


def one_copy(key: str, make: Callable[[], Ints | None]) -> Ints | None:
    """Return an array shared in memory by all processes on this host.

    Processes with write access to the array get private copies of the pages they change. If no
    private cache folder is available, or the folder is full, every process computes its own array.

    Parameters
    ----------
    key : str
        Unique text for each array.
    make : callable
        Computes the array, shape (k,), or returns None, which is not cached. If several processes
        need the array at the same time, one of these processes calls `make` and the rest wait.

    Returns
    -------
    ndarray of int64, shape (k,), or None
        The result of `make`, in this or in another process.
    """
    folder = _folder()
    if folder is None:
        return make()
    path = folder / f"{sha256(key.encode()).hexdigest()}.ints"
    found = _mapped(path)
    if found is not None:
        return found
    # The computation takes minutes: the other ranks of a host wait instead of repeating the work.
    with alone(f"{path}.lock", patience=math.inf):
        found = _mapped(path)  # perhaps made meanwhile by another process
        if found is not None:
            return found
        made = make()
        if made is None or not _written(path, made):
            return made
    del made
    return _mapped(path)


def _folder() -> Path | None:
    """Return the cache folder, created if needed; None if unwritable or not private."""
    try:
        return Path(cache_folder("networks"))
    except OSError:
        return None


def _mapped(path: Path) -> Ints | None:
    """Map a file into memory; return None for a missing or incomplete file."""
    found = unsealed(path)
    if found is None:
        return None
    with suppress(OSError):  # another process may delete the file at this moment
        os.utime(path)
    return found.view(np.int64)


def _written(path: Path, array: Ints) -> bool:
    """Write an array and its hash; return False if writing fails."""
    try:
        write_sealed(path, array.data.cast("B"))
    except OutputError:
        return False
    # Tidying is not part of the result; any process may do it.
    with suppress(OSError):  # another process may be tidying up at the same time
        _forget_oldest(path.parent)
    return True


def _forget_oldest(folder: Path) -> None:
    """Keep the `FILES` most recently used arrays, and delete the rest."""
    kept = sorted(folder.glob("*.ints"), key=lambda each: each.stat().st_mtime_ns)
    for old in kept[:-FILES]:
        old.unlink()
