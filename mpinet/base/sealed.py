"""Files of the cache that are whole or nothing: their contents, and behind these a hash.

Other processes may write the same file, or be killed while they do. Whoever reads it maps it.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import numpy as np

from mpinet.base.arrays import Bytes
from mpinet.base.files import whole_file

SEAL = sha256().digest_size
"""Bytes of the hash at the end of a file."""


def write_sealed(path: Path, contents: bytes | memoryview) -> None:
    """Write a file and its seal.

    Raises
    ------
    OutputError
        It cannot be written, or not all of it.
    """
    with whole_file(path) as file:
        file.write(contents)
        file.write(sha256(contents).digest())


def unsealed(path: Path) -> Bytes | None:
    """Return the contents of a file, mapped; None if it is not there, or not whole."""
    try:
        # Copy on write: a process that changes the contents gets its own pages, and all others
        # share those of the file.
        found = np.asarray(np.memmap(path, np.uint8, "c"))
    except (OSError, ValueError):  # an empty file cannot be mapped
        return None
    contents, seal = found[:-SEAL], found[-SEAL:]
    return contents if sha256(contents.data).digest() == seal.tobytes() else None
