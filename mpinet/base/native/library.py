"""The library of native code that a wheel brings: kernels and rules by fingerprint.

It is loaded from the installation alone. No variable and no current folder leads elsewhere.
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
"""Folder of libraries and of the index of each Python version; only wheels have it."""

LEVELS = ("x86-64-v2", "x86-64-v3", "x86-64-v4")
"""Levels of x86-64 processors, each with all that those before it can do."""

HEADING = f"form {FORM}"
"""First line of an index: how the library's functions are called."""


def index_name(version: tuple[int, int]) -> str:
    """Return the file with a Python version's fingerprints.

    Fingerprints hash bytecode, which differs between versions of Python.
    """
    return f"index-{version[0]}.{version[1]}.txt"


class Library:
    """A library, with the names of its functions by the fingerprints of this Python.

    Parameters
    ----------
    file, index : Path
        The library; a line with its form, and lines ``FINGERPRINT SYMBOL``.

    Raises
    ------
    OSError
        There is no such library, or the system cannot load it.
    ValueError
        Functions of this form cannot be called.
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
    """Return the library for this processor and this Python, if the package has one."""
    index = FOLDER / index_name(sys.version_info[:2])
    if not index.exists():
        return None
    level = calls.cpu_level()
    levels = LEVELS[: LEVELS.index(level) + 1] if level in LEVELS else (level,)
    # The best level first. A library that the system cannot load leads to the next one, not to an
    # error.
    for each in reversed(levels):
        with suppress(OSError, ValueError):
            return Library(FOLDER / f"libmpinet-{each}.so", index)
    return None
