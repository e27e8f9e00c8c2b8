"""Cache files that are either complete or ignored: each file ends with a hash of its contents.

Other processes may write the same file at the same time, or be killed during the write. Readers map
the file into memory.
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
    """Write a file and the hash of its contents.

    Raises
    ------
    OutputError
        The file cannot be written completely.
    """
    with whole_file(path) as file:
        file.write(contents)
        file.write(sha256(contents).digest())


def unsealed(path: Path) -> Bytes | None:
    """Map a file's contents into memory; return None if the file is missing or damaged."""
    try:
        # Copy on write: a process that changes the contents gets private pages; all other processes
        # share the file's pages.
        found = np.asarray(np.memmap(path, np.uint8, "c"))
    except (OSError, ValueError):  # an empty file cannot be mapped
        return None
    contents, seal = found[:-SEAL], found[-SEAL:]
    return contents if sha256(contents.data).digest() == seal.tobytes() else None
