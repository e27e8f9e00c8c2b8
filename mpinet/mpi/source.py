"""The program named by a user: a file, a module or a line of code."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import CodeType
from typing import Any

from mpinet.base.files import read_bytes
from mpinet.errors import FileError


@dataclass(frozen=True)
class Source:
    """The code of a script, and the names and folders for running it."""

    name: str
    """Name of the script in its ``sys.argv[0]``."""
    title: str
    """Name independent of the folder: the file's name without folders, or the module's name."""
    code: CodeType
    """Code that every processor runs."""
    folder: str
    """First folder for imports; empty for the current folder."""
    package: str = ""
    """Package of the script; empty without a package."""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    """Additional initial attributes of ``__main__``."""


def file(path: Path) -> Source:
    """Return the code and environment of a script file.

    Raises
    ------
    FileError
        The file cannot be read or is not Python.
    """
    try:
        if path.is_char_device() or path.is_block_device():
            raise FileError(f"{path} is a device, not a script file.")
        text = read_bytes(path)
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}.") from None
    place = {"__file__": str(path.absolute())}
    code = _compiled(text, str(path))
    return Source(str(path), path.name, code, str(path.resolve().parent), "", place)


def line(text: str) -> Source:
    """Return the code and environment for a line of code, as for ``python -c``.

    Raises
    ------
    FileError
        The code is not Python.
    """
    return Source("-c", "-c", _compiled(text.encode(errors="surrogateescape"), "<string>"), "")


def module(name: str) -> Source:
    """Return the code and environment of a module, as for ``python -m``.

    Raises
    ------
    FileError
        The module does not exist or is not Python.
    """
    found = _found(name)
    if found is not None and found.submodule_search_locations is not None:
        found = _found(f"{name}.__main__")
    origin = None if found is None or not found.has_location else found.origin
    if found is None or origin is None or not origin.endswith(".py"):
        raise FileError(f"-m {name}: no Python module of this name can be run.")
    code = file(Path(origin)).code
    attributes = {"__file__": origin, "__spec__": found, "__loader__": found.loader}
    return Source(origin, found.name, code, "", found.parent or "", attributes)


def _found(name: str) -> ModuleSpec | None:
    """Find a module without running its parent packages."""
    places: Any = ["", *sys.path]
    whole = ""
    found = None
    for part in name.split("."):
        whole = f"{whole}.{part}" if whole else part
        found = PathFinder.find_spec(whole, places) if places is not None else None
        if found is None:
            return None
        places = found.submodule_search_locations
    return found


def _compiled(text: bytes, name: str) -> CodeType:
    """Compile the text of a script.

    Raises
    ------
    FileError
        The text is not Python.
    """
    try:
        return compile(text, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise FileError(f"{name} is not valid Python: {error}.") from None
    except (MemoryError, RecursionError):
        raise FileError(f"{name} cannot be run: the code is nested too deeply.") from None
