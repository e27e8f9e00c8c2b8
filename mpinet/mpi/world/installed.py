"""Which installed modules every processor loads for itself: those of packages that use mpi4py.

Such a package may ask for its rank when it is imported, or keep in variables what is different on
every rank. All others are loaded once, and shared by the processors of a rank.
"""

from __future__ import annotations

import ast
import os
import re
import site
import sys
import sysconfig
import warnings
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from importlib.metadata import Distribution, distributions
from types import ModuleType

LIBRARIES = ("stdlib", "platstdlib", "purelib", "platlib")

INSTALLED = tuple(
    os.path.join(os.path.realpath(folder), "")
    for folder in {*map(sysconfig.get_path, LIBRARIES), site.getusersitepackages()}
)
"""Where modules lie that are installed with Python; not all that is below its folder."""

REQUIRED = re.compile(r"^Requires-Dist: *([\w.-]+)(.*)$", re.MULTILINE)
"""What a distribution requires, and on what condition."""

NAME = re.compile(r"^Name: *([\w.-]+)", re.MULTILINE)
"""What it is called itself."""


class Installed:
    """Tells which installed packages every processor loads for itself.

    It does so with mpi4py, and with a package

    - a file of which imports mpi4py, anywhere in its text, or another such package that is in use;
    - whose distribution requires mpi4py, be it for an extra, or a distribution of this kind;
    - that is found to import such a package while it is loaded itself.

    Python's own modules and what has been loaded before the run is shared.
    """

    def __init__(self) -> None:
        loaded = {name.partition(".")[0] for name in sys.modules}
        self._own = dict.fromkeys(loaded | sys.stdlib_module_names, False)
        self._own["mpi4py"] = True

    def owns(self, module: ModuleType, name: str) -> bool:
        """Whether every processor has a module of its own, be it the script's or installed.

        Parameters
        ----------
        module : ModuleType
            The module.
        name : str
            The name that it is imported by.
        """
        top = name.partition(".")[0]
        if top in ("mpi4py", "mpinet"):
            return top == "mpi4py"
        file = getattr(module, "__file__", None)
        places = list(getattr(module, "__path__", ())) if file is None else [os.path.dirname(file)]
        return not all(map(is_library, places)) or (bool(places) and self._decided(top))

    def claim(self, name: str) -> None:
        """Let every processor load the package of a module for itself."""
        self._own[name.partition(".")[0]] = True

    def _decided(self, top: str) -> bool:
        """Whether every processor loads an installed package for itself."""
        found = self._own.get(top)
        if found is None:
            in_use = {name for name, own in self._own.items() if own and name in sys.modules}
            found = top in self._requiring or _imports(top, self._requiring | in_use)
            self._own[top] = found
        return found

    @cached_property
    def _requiring(self) -> frozenset[str]:
        """The packages of distributions that require mpi4py, and mpi4py itself."""
        requiring = {"mpi4py": [], **_requiring_mpi4py()}
        tops = {top for each in requiring.values() for top in _tops(each)}
        return frozenset(tops - {"mpinet"} | {"mpi4py"})


@cache
def is_library(folder: str) -> bool:
    """Whether what lies in a folder is installed with Python."""
    return os.path.join(os.path.realpath(folder), "").startswith(INSTALLED)


def _requiring_mpi4py() -> dict[str, list[Distribution]]:
    """By name, the distributions that require mpi4py or one of them."""
    requires: dict[str, set[str]] = {}
    found: dict[str, list[Distribution]] = {}
    for distribution in distributions():
        text = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""
        name = NAME.search(text)
        if name is None:
            continue
        wanted = {
            (_plain(other), "extra" in condition) for other, condition in REQUIRED.findall(text)
        }
        requires[_plain(name[1])] = {other for other, extra in wanted if not extra}
        found.setdefault(_plain(name[1]), []).append(distribution)
        if wanted & {("mpi4py", True), ("mpi4py", False)}:
            requires[_plain(name[1])].add("mpi4py")
    requiring, before = {"mpi4py"}, 0
    while len(requiring) > before:
        before = len(requiring)
        requiring |= {name for name, others in requires.items() if others & requiring}
    return {name: found[name] for name in requiring if name in found}


def _plain(name: str) -> str:
    """A distribution's name as all its spellings have it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _tops(found: Iterable[Distribution]) -> Iterator[str]:
    """The names by which a distribution's packages and modules are imported."""
    for distribution in found:
        for file in distribution.files or ():
            if file.suffix == ".py" or ".so" in file.suffixes:
                top = file.parts[0].partition(".")[0]
                if top.isidentifier():
                    yield top


def _imports(top: str, names: frozenset[str] | set[str]) -> bool:
    """Whether a file of a package imports one of others.

    Parameters
    ----------
    top : str
        The package, or the module.
    names : set of str
        The others.
    """
    spec = getattr(sys.modules.get(top), "__spec__", None)
    if spec is None:
        return False
    # Parsing is slow: a file that does not name another package anywhere cannot import it.
    others = {name.encode(): name for name in names - {top}}
    for file in _texts(spec.submodule_search_locations or [spec.origin]):
        with open(file, "rb") as opened:
            text = opened.read()
        named = {name for word, name in others.items() if word in text}
        if named and not named.isdisjoint(_imported(text)):
            return True
    return False


def _texts(places: Iterable[str | None]) -> Iterator[str]:
    """The Python files that are in folders, or are named themselves."""
    for place in places:
        if place is None:
            continue
        if place.endswith(".py"):
            yield place
        for folder, _, files in os.walk(place):
            yield from (os.path.join(folder, file) for file in files if file.endswith(".py"))


def _imported(text: bytes) -> set[str]:
    """What a Python file imports, or names as `import_module` would take it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return set()  # it cannot be imported itself
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Constant) and isinstance(word := node.value, str):
            found.update([word] if len(word) < 256 else [])
    return {name.partition(".")[0] for name in found}
