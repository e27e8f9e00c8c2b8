"""Topologies of users' classes, named by module (or file) and class."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from mpinet.base.blame import describe
from mpinet.errors import MpinetError, RuleError, TopologyError, TopologyFileError
from mpinet.networks.arguments import read_declared, read_undeclared
from mpinet.networks.topology import Topology


class ModuleMissing(TopologyFileError):
    """Error: no module has the given name."""


def open_own(place: str, class_name: str, text: str) -> Topology:
    """Open a topology of a user's own class.

    Parameters
    ----------
    place : str
        ``module.path`` or ``path/file.py``; the current directory is searched as well.
    class_name : str
        Name of the class in this module.
    text : str
        Arguments of the class.

    Raises
    ------
    TopologyError
        The module, file or class does not exist, or the class does not accept these arguments.
    RuleError
        The class fails with these arguments, possibly on this rank alone.
    """
    cls = _own_class(place, class_name)
    where = f"{place}:{class_name}"
    positional: list[Any] = []
    if cls.parameters:
        named = read_declared(where, cls.parameters, text)
    else:
        positional, named = read_undeclared(where, text)
    try:
        # Binding first separates wrong arguments from errors inside the constructor. Both raise
        # TypeError otherwise.
        inspect.signature(cls).bind(*positional, **named)
    except TypeError as error:
        raise TopologyError(f"{where}: wrong arguments {text!r}: {error}.") from None
    try:
        topology = cls(*positional, **named)
    except MpinetError:
        raise
    except BaseException as error:  # a class may raise anything, even KeyboardInterrupt
        raise RuleError(f"{where}:{text} could not be made: {describe(error)}.") from error
    topology.name = f"{where}:{text}" if text else where
    if place.endswith(".py"):
        topology.reopened = open_own, (place, class_name, text)
    return topology


def _own_class(place: str, class_name: str) -> type[Topology]:
    module = import_from(place)
    cls = getattr(module, class_name, None)
    if cls is None:
        raise TopologyFileError(f"{place} has no class {class_name!r}.")
    if not (isinstance(cls, type) and issubclass(cls, Topology)):
        raise TopologyError(
            f"{place}:{class_name} is not a topology: "
            "the class must be a subclass of mpinet.Topology."
        )
    if not hasattr(cls, "neighbor"):
        raise TopologyError(f"{place}:{class_name} lacks the rule 'neighbor'.")
    return cls


def import_from(place: str) -> ModuleType:
    """Import a user's module, by file or by name (also from the current directory).

    Parameters
    ----------
    place : str
        ``module.path`` or ``path/file.py``.

    Raises
    ------
    TopologyFileError
        The module or file does not exist (`ModuleMissing`), or cannot be imported.
    """
    load: Callable[[str], ModuleType] = import_module
    if place.endswith(".py"):
        if not os.path.isfile(place):
            raise TopologyFileError(f"There is no file {place}.")
        load, argument = _load_file, str(Path(place).resolve())
    else:
        argument = place
    try:
        # A console script does not search the current folder. Users expect Python's own behaviour
        # with a module in that folder.
        with _importable(os.getcwd()):
            return load(argument)
    except MpinetError:
        raise
    except ModuleNotFoundError as error:
        if error.name is not None and place.split(".")[0] == error.name.split(".")[0]:
            raise ModuleMissing(
                f"There is no module {place!r}, neither installed nor in the current directory."
            ) from None
        raise TopologyFileError(f"{place} cannot be imported: {error}.") from error
    except BaseException as error:  # a module may raise anything, even SystemExit
        raise TopologyFileError(f"{place} cannot be imported: {describe(error)}.") from error


@cache
def _load_file(path: str) -> ModuleType:
    """Load a module from a file once; later calls return the same module."""
    # Two files of the same name in different folders must not replace each other in sys.modules.
    name = f"{Path(path).stem}_{sha256(path.encode()).hexdigest()[:8]}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@contextmanager
def _importable(directory: str) -> Iterator[None]:
    """Make modules in the directory importable for the duration of a with block."""
    sys.path.insert(0, directory)
    try:
        yield
    finally:
        sys.path.remove(directory)
