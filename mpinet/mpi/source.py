"""The thing that a person names to be run: a file, a module or a line of code."""

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
    """A script's code, and what it finds."""

    name: str
    """Name of the script in its ``sys.argv[0]``."""
    title: str
    """Name that is the same in every folder: the file's name without folders, or the module's."""
    code: CodeType
    """Code that every processor runs."""
    folder: str
    """First folder for imports; '' for the current one."""
    package: str = ""
    """The package that it is a part of; '' if of none."""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    """Further attributes that ``__main__`` has from the beginning."""


def file(path: Path) -> Source:
    """A file.

    Raises
    ------
    FileError
        It cannot be read, or is no Python.
    """
    try:
        if path.is_char_device() or path.is_block_device():
            raise FileError(f"{path} is a device, and no file that could be run.")
        text = read_bytes(path)
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}.") from None
    place = {"__file__": str(path.absolute())}
    code = _compiled(text, str(path))
    return Source(str(path), path.name, code, str(path.resolve().parent), "", place)


def line(text: str) -> Source:
    """Code as it stands.

    Raises
    ------
    FileError
        It is no Python.
    """
    return Source("-c", "-c", _compiled(text.encode(errors="surrogateescape"), "<string>"), "")


def module(name: str) -> Source:
    """A module, or a package that has a module ``__main__``.

    Raises
    ------
    FileError
        There is no such module, or it is no Python.
    """
    found = _found(name)
    if found is not None and found.submodule_search_locations is not None:
        found = _found(f"{name}.__main__")
    origin = None if found is None or not found.has_location else found.origin
    if found is None or origin is None or not origin.endswith(".py"):
        raise FileError(f"-m {name}: there is no such module in Python that could be run.")
    code = file(Path(origin)).code
    attributes = {"__file__": origin, "__spec__": found, "__loader__": found.loader}
    return Source(origin, found.name, code, "", found.parent or "", attributes)


def _found(name: str) -> ModuleSpec | None:
    """Find a module without running the packages that it is in."""
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
    """A text's code.

    Raises
    ------
    FileError
        It is no Python.
    """
    try:
        return compile(text, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise FileError(f"{name} is no Python: {error}.") from None
    except (MemoryError, RecursionError):
        raise FileError(f"{name} cannot be run: it is nested too deeply for Python.") from None
