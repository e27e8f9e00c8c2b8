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
from mpinet.base.damage import DAMAGED
from mpinet.base.files import whole_file
from mpinet.base.locks import alone
from mpinet.base.native.tiers import cache_folder
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
    path = folder / f"{sha256(key.encode()).hexdigest()}.npy"
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
    """Map a file; None if it is not there, or not whole: the hash behind the array says that."""
    try:
        # Copy on write: a program that changes the array gets its own pages, and the file stays
        # whole.
        found = np.asarray(np.load(path, mmap_mode="c", allow_pickle=False))
        with path.open("rb") as file:
            file.seek(-sha256().digest_size, os.SEEK_END)
            seal = file.read()
        os.utime(path)
    except (OSError, *DAMAGED):
        return None
    whole = found.dtype == np.int64 and found.ndim == 1 and sha256(found.data).digest() == seal
    return found if whole else None


def _written(path: Path, array: Ints) -> bool:
    """Write an array and its hash; return whether there was room for them."""
    try:
        with whole_file(path) as file:
            np.save(file, array, allow_pickle=False)
            file.write(sha256(array.data).digest())
    except OutputError:
        return False
    # Tidying is no part of the result; any process may do it.
    with suppress(OSError):  # another process may be tidying up, too
        _forget_oldest(path.parent)
    return True


def _forget_oldest(folder: Path) -> None:
    """Delete the arrays that have not been used for longest, but for `FILES`."""
    kept = sorted(folder.glob("*.npy"), key=lambda each: each.stat().st_mtime_ns)
    for old in kept[:-FILES]:
        old.unlink()
