"""Installed packages that every processor loads for itself, because their import reaches mpi4py.

Such a package may ask for its rank during import, or keep rank-specific values in variables. All
other installed packages are executed once and shared by the processors of a rank. Packages are
classified while they run (`loading`), not by their source text or declared dependencies.
"""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.machinery import ExtensionFileLoader, PathFinder
from importlib.util import find_spec
from types import FunctionType, ModuleType
from typing import Any

from mpinet.errors import UsageError

LIBRARIES = ("stdlib", "platstdlib", "purelib", "platlib")

INSTALLED = tuple(
    os.path.join(os.path.realpath(folder), "")
    for folder in {*map(sysconfig.get_path, LIBRARIES), site.getusersitepackages()}
)
"""Folders of installed modules. Not every file below these folders is installed with Python."""

SHARED = sys.stdlib_module_names | {"mpinet", "numba", "_pytest", "pluggy", "pytest"}
"""Packages shared in any case, even if they import mpi4py."""

FOUNDATION = ("array", "llvmlite", "mpinet", "networkx", "numpy", "rich")
"""Packages that the emulator itself imports or inspects at any time."""


class Installed:
    """Decides which modules each processor loads for itself.

    These are the script's modules, and modules of packages observed to reach mpi4py. Compiled
    modules are always shared, because most of them cannot be executed twice in one process.

    Parameters
    ----------
    packages : iterable of str
        Further packages for processors to load for themselves.
    """

    def __init__(self, packages: Iterable[str]) -> None:
        self._reaching = {"mpi4py", *packages}
        self._using: set[str] = set()

    def owns(self, module: ModuleType | None, name: str) -> bool:
        """Return whether every processor has its own copy of a module.

        Parameters
        ----------
        module : ModuleType or None
            The module. None if a script forbids its import, which affects this script's processor
            alone.
        name : str
            The name by which the module is imported.
        """
        if module is None or name == "__main__":
            return True
        # Most extension modules keep state in C and cannot be loaded twice in a process.
        if is_compiled(module):
            return False
        if self.reaches(name):
            return True
        file = getattr(module, "__file__", None)
        if not isinstance(module, ModuleType):  # the module has put an object in its place
            spec = PathFinder.find_spec(name.partition(".")[0])
            file = None if spec is None else spec.origin
            return file is None or not is_library(os.path.dirname(file))
        places = list(getattr(module, "__path__", ())) if file is None else [os.path.dirname(file)]
        return package_of(name) != "mpinet" and not all(map(is_library, places))

    def reaches(self, name: str) -> bool:
        """Return whether a module belongs to a package observed to reach mpi4py."""
        return package_of(name) in self._reaching

    def shares(self, module: ModuleType, name: str) -> bool:
        """Return whether a module is shared so far, although its package could still be claimed."""
        return not (package_of(name) in SHARED or self.reaches(name) or self.owns(module, name))

    def claim(self, package: str) -> None:
        """From now on, let every processor load the modules of a package for itself."""
        self._reaching.add(package)

    def note_use(self, package: str) -> None:
        """Record that a function of a shared package has reached mpi4py."""
        self._using.add(package)

    def acts_for_one(self, name: str) -> bool:
        """Return whether the functions of a module act for the running processor alone."""
        return package_of(name) in self._using or self.owns(sys.modules.get(name), name)

    def refers(self, name: str) -> bool:
        """Return whether a shared module holds objects of a package that reaches mpi4py."""
        module = sys.modules[name]
        return self.shares(module, name) and any(
            self.reaches(origin_of(value)) for value in list(vars(module).values())
        )


@contextmanager
def without_users() -> Iterator[None]:
    """Context manager: hides modules that use the real mpi4py, so processors load their own.

    pytest imports its ``conftest.py`` and the files of marked tests before the run.
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
        The package is not installed. Or it must be shared: the package is used by the emulator,
        already loaded, or compiled.
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
        raise UsageError(f"--own {name}: processors cannot load it separately, because {why}.")


def package_of(name: str) -> str:
    """Return a module's package: the outermost package with a file of its own.

    Namespace packages such as `google` have no file. Distributions of many makers add packages to
    them.
    """
    top, *below = name.split(".", 2)
    names = vars(sys.modules[top]) if below and sys.modules.get(top) is not None else {}
    if "__path__" in names and names.get("__file__") is None:
        return f"{top}.{below[0]}"
    return top


def origin_of(value: Any) -> str:
    """Return the name of a module, or of the module that defines a value."""
    if isinstance(value, ModuleType):
        return value.__name__
    kind = value if isinstance(value, type) else type(value)
    origin = value.__module__ if isinstance(value, FunctionType) else kind.__module__
    return origin if isinstance(origin, str) else ""


def is_compiled(module: ModuleType) -> bool:
    """Return whether a module is compiled code."""
    return isinstance(getattr(module, "__loader__", None), ExtensionFileLoader)


@cache
def is_library(folder: str) -> bool:
    """Return whether files in a folder are installed with Python."""
    return os.path.join(os.path.realpath(folder), "").startswith(INSTALLED)
