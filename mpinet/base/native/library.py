"""The library of native code in a wheel: kernels and rules by fingerprint.

The library is loaded only from the installation. Neither a variable nor the current folder can
redirect the search.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

from mpinet.base.native import calls
from mpinet.base.native.kept import FORM
from mpinet.base.version import PACKAGE

FOLDER = PACKAGE / "native"
"""Folder of the libraries and of one index per Python version; only wheels contain it."""

LEVELS = ("x86-64-v2", "x86-64-v3", "x86-64-v4")
"""Levels of x86-64 processors, in ascending order; each level includes all lower levels."""

HEADING = f"form {FORM}"
"""First line of an index: the version of the object format."""


def index_name(version: tuple[int, int]) -> str:
    """Return the name of the file with a Python version's fingerprints.

    Fingerprints hash bytecode, which differs between versions of Python.
    """
    return f"index-{version[0]}.{version[1]}.txt"


class Library:
    """A library, with the names of its functions by the fingerprints of this Python.

    Parameters
    ----------
    file, index : Path
        The library; its index: a line with the format, then lines ``FINGERPRINT SYMBOL``.

    Raises
    ------
    OSError
        The library is missing, or the system cannot load it.
    ValueError
        The index has a different format, so its functions cannot be called.
    """

    def __init__(self, file: Path, index: Path):
        self.file = file
        form, *lines = index.read_text(encoding="ascii").splitlines()
        if form != HEADING:
            raise ValueError(f"{index} has another form")
        self.symbols = dict(line.split(" ") for line in lines)
        self._handle = calls.library(str(file))

    def address(self, fingerprint: str) -> int:
        """Return the address of a function; 0 if the library lacks it."""
        symbol = self.symbols.get(fingerprint)
        return calls.symbol(self._handle, symbol) if symbol else 0


@cache
def library() -> Library | None:
    """Return the library for this processor and this Python; None if the package has none."""
    index = FOLDER / index_name(sys.version_info[:2])
    if not index.exists():
        return None
    level = calls.cpu_level()
    levels = LEVELS[: LEVELS.index(level) + 1] if level in LEVELS else (level,)
    # The best level first. If the system cannot load a library, the next level is tried.
    for each in reversed(levels):
        with suppress(OSError, ValueError):
            return Library(FOLDER / f"libmpinet-{each}.so", index)
    return None
