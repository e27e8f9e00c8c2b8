"""Large arrays of which all processes of a user on this host hold one copy between them.

The first process that needs such an array makes it, and writes it to the user's cache folder. That
process and all others map the file: the system keeps its pages once, whoever reads them.
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
"""Most arrays in the folder; those that have not been used for longest are deleted."""


def one_copy(key: str, make: Callable[[], Ints | None]) -> Ints | None:
    """Return an array that is in memory once on this host, however many processes ask for it.

    Whoever writes into it gets pages of its own. Where there is no folder that this user alone can
    write, or no room in it, every process makes the array for itself.

    Parameters
    ----------
    key : str
        Text that changes whenever the array does.
    make : callable
        Returns the array, shape (k,); None, which is not kept, where there is none. Of the
        processes that need it at the same time, one calls this, and the others wait.

    Returns
    -------
    ndarray of int64, shape (k,), or None
        What `make` returned, here or in another process.
    """
    folder = _folder()
    if folder is None:
        return make()
    path = folder / f"{sha256(key.encode()).hexdigest()}.ints"
    found = _mapped(path)
    if found is not None:
        return found
    # Making the array takes minutes: the other ranks of a host wait for it rather than making it as
    # well.
    with alone(f"{path}.lock", patience=math.inf):
        found = _mapped(path)  # another process may have made it meanwhile
        if found is not None:
            return found
        made = make()
        if made is None or not _written(path, made):
            return made
    del made
    return _mapped(path)


def _folder() -> Path | None:
    """Return the folder, made if needed; None if others can write it, or it cannot be made."""
    try:
        return Path(cache_folder("networks"))
    except OSError:
        return None


def _mapped(path: Path) -> Ints | None:
    """Map a file; None if it is not there, or not whole."""
    found = unsealed(path)
    if found is None:
        return None
    with suppress(OSError):  # another process may just delete it
        os.utime(path)
    return found.view(np.int64)


def _written(path: Path, array: Ints) -> bool:
    """Write an array and its hash; return whether there was room for them."""
    try:
        write_sealed(path, array.data.cast("B"))
    except OutputError:
        return False
    # Tidying is no part of the result; any process may do it.
    with suppress(OSError):  # another process may be tidying up, too
        _forget_oldest(path.parent)
    return True


def _forget_oldest(folder: Path) -> None:
    """Delete the arrays that have not been used for longest, but for `FILES`."""
    kept = sorted(folder.glob("*.ints"), key=lambda each: each.stat().st_mtime_ns)
    for old in kept[:-FILES]:
        old.unlink()
