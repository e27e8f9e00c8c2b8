"""The installed modules that every processor loads for itself: those whose import reaches mpi4py.

Such a package may ask for its rank when it is imported, or keep in variables what is different on
every rank. All others are executed once, and shared by the processors of a rank. Which ones do is
seen when they run (`loading`); nothing is read out of their texts or of what they are said to need.
"""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.machinery import ExtensionFileLoader
from importlib.util import find_spec
from types import FunctionType, ModuleType
from typing import Any

from mpinet.errors import UsageError

LIBRARIES = ("stdlib", "platstdlib", "purelib", "platlib")

INSTALLED = tuple(
    os.path.join(os.path.realpath(folder), "")
    for folder in {*map(sysconfig.get_path, LIBRARIES), site.getusersitepackages()}
)
"""Folders of modules that are installed with Python; not all that is below its folder."""

SHARED = sys.stdlib_module_names | {"mpinet", "numba", "_pytest", "pluggy", "pytest"}
"""Packages that no processor loads for itself, whatever they import."""

FOUNDATION = ("array", "llvmlite", "mpinet", "networkx", "numpy", "rich")
"""Packages that the emulator rests on, and imports or looks into when they are needed."""


class Installed:
    """Tells which modules every processor has of its own.

    These are the script's, and those of packages that have been seen to reach mpi4py. Compiled
    modules never are: most of them cannot be executed twice in one process.

    Parameters
    ----------
    packages : iterable of str
        Further packages, which processors are to load for themselves.
    """

    def __init__(self, packages: Iterable[str]) -> None:
        self._reaching = {"mpi4py", *packages}
        self._using: set[str] = set()

    def owns(self, module: ModuleType | None, name: str) -> bool:
        """Tell if every processor has a module of its own, be it the script's or installed.

        Parameters
        ----------
        module : ModuleType or None
            The module; None where a script forbids its import, which it does for itself alone.
        name : str
            The name that it is imported by.
        """
        if module is None or name == "__main__":
            return True
        # Most extension modules keep state in C and cannot be loaded twice in a process.
        if is_compiled(module):
            return False
        if self.reaches(name):
            return True
        file = getattr(module, "__file__", None)
        places = list(getattr(module, "__path__", ())) if file is None else [os.path.dirname(file)]
        return package_of(name) != "mpinet" and not all(map(is_library, places))

    def reaches(self, name: str) -> bool:
        """Tell if a module belongs to a package that has been seen to reach mpi4py."""
        return package_of(name) in self._reaching

    def shares(self, module: ModuleType, name: str) -> bool:
        """Tell if a module is one for all as yet, though a package such as its could be claimed."""
        return not (package_of(name) in SHARED or self.reaches(name) or self.owns(module, name))

    def claim(self, package: str) -> None:
        """Let every processor load for itself what it imports of a package from now on."""
        self._reaching.add(package)

    def note_use(self, package: str) -> None:
        """Note that a function of a package that is shared has reached mpi4py."""
        self._using.add(package)

    def acts_for_one(self, name: str) -> bool:
        """Tell if what a module's functions do is the doing of the running processor alone."""
        return package_of(name) in self._using or self.owns(sys.modules.get(name), name)

    def refers(self, name: str) -> bool:
        """Tell if a shared module has names for what belongs to a package that reaches mpi4py."""
        module = sys.modules[name]
        return self.shares(module, name) and any(
            self.reaches(origin_of(value)) for value in list(vars(module).values())
        )


@contextmanager
def without_users() -> Iterator[None]:
    """Hide the modules that use the real mpi4py, within the context, so that all load their own.

    pytest has imported its ``conftest.py`` and the files of marked tests before.
    """
    installed = Installed(())
    claimed = {"mpi4py"}
    while claimed:
        for package in claimed:
            installed.claim(package)
        claimed = {package_of(name) for name in sys.modules if installed.refers(name)}
    users = {name: module for name, module in sys.modules.items() if installed.owns(module, name)}
    hidden = {
        name: module
        for name, module in users.items()
        if module is not None and package_of(name) not in {"__main__", "mpi4py"}
    }
    for name in hidden:
        del sys.modules[name]
    try:
        yield
    finally:
        sys.modules.update(hidden)


def require_own(packages: Iterable[str]) -> None:
    """Refuse packages that processors cannot load for themselves.

    Raises
    ------
    UsageError
        There is no such package, or all share it, for it is Python's own, or the emulator runs on
        it, or it has been loaded, or it is compiled code.
    """
    for name in packages:
        found = find_spec(name) if name.isidentifier() else None
        if found is None:
            raise UsageError(f"--own {name}: no package of that name is installed.")
        if name in SHARED.union(FOUNDATION, ("greenlet", "mpi4py")):
            why = "the emulator itself uses it"
        elif name in sys.modules:
            why = "it was loaded before the run"
        elif isinstance(found.loader, ExtensionFileLoader):
            why = "it is compiled code"
        else:
            continue
        raise UsageError(f"--own {name}: processors cannot have it of their own, for {why}.")


def package_of(name: str) -> str:
    """The package that a module belongs to; the first with a file of its own.

    Distributions of many makers put packages into one folder without a file, such as `google`.
    """
    top, *below = name.split(".", 2)
    names = vars(sys.modules[top]) if below and sys.modules.get(top) is not None else {}
    if "__path__" in names and names.get("__file__") is None:
        return f"{top}.{below[0]}"
    return top


def origin_of(value: Any) -> str:
    """The name of a module, or of the one in which something has been defined."""
    if isinstance(value, ModuleType):
        return value.__name__
    kind = value if isinstance(value, type) else type(value)
    origin = value.__module__ if isinstance(value, FunctionType) else kind.__module__
    return origin if isinstance(origin, str) else ""


def is_compiled(module: ModuleType) -> bool:
    """Tell if a module is compiled code."""
    return isinstance(vars(module).get("__loader__"), ExtensionFileLoader)


@cache
def is_library(folder: str) -> bool:
    """Tell if what lies in a folder is installed with Python."""
    return os.path.join(os.path.realpath(folder), "").startswith(INSTALLED)
