"""Callable modules: ``mpinet.measure(..)`` runs the command of the same name.

A module such as `mpinet.measure` also has functions, and does not know the commands. The package
registers a function, called to find a command's function.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

IMPORT = re.compile(r"(?m)^from (\S+) import (\w+) as")
"""Line of a stub that imports one public name from its module."""

_commands: list[Callable[[str], Callable[..., Any]]] = []


class Room(ModuleType):
    """Module that can be called like the command of the same name."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Run the command of the same name."""
        return _commands[0](self.__name__.rpartition(".")[2])(*args, **options)


def commanded_by(function_of: Callable[[str], Callable[..., Any]]) -> None:
    """Register the function that returns the function of a command, given the command's name."""
    _commands[:] = [function_of]


def called(name: str) -> None:
    """Make the module of this name callable."""
    sys.modules[name].__class__ = Room


def attached(
    room: str, file: str, more: dict[str, str] | None = None
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package with a stub of public names.

    Parameters
    ----------
    room : str
        Name of the package.
    file : str
        File ``__init__.py`` of the package. The stub ``__init__.pyi`` in the same folder has a line
        ``from MODULE import NAME as NAME`` for each public name.
    more : dict of str, optional
        Further public names, each with its module: the stub has a line ``from MODULE import *``.
    """
    stub = Path(file).with_suffix(".pyi").read_text()
    modules = {name: module for module, name in IMPORT.findall(stub)} | (more or {})

    def load(name: str) -> object:
        """Load a public name from its module."""
        if name not in modules:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        module = modules[name]
        return (
            import_module(f"{room}.{name}")
            if module == room
            else getattr(import_module(module), name)
        )

    return load, lambda: sorted(modules), [*modules]
