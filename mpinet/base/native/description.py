"""Descriptions of functions, with which a job requests native code from the compiler.

A description is a tree of numbers, texts and code objects in the format of `marshal`. It goes
through a pipe to a process of this job and is never read from a disk. The compiler does not import
the job's modules: descriptions contain the functions themselves.
"""

from __future__ import annotations

import builtins
from collections import namedtuple
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from functools import cache
from importlib import import_module
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

# No user module is on this list: the compile process runs no user code.
LIBRARIES = frozenset({"builtins", "cmath", "math", "numba", "numpy", "operator"})
"""Packages that the compiler imports itself if a function names them."""


class Description(NamedTuple):
    """A function together with all inputs of its compilation."""

    kind: str
    """``kernel``, ``rule``, ``callee``, ``idiom`` or ``hint``."""
    name: str
    """Name of the function, including its fingerprint if it has one."""
    how: dict[str, Any]
    """Compiler options for Numba."""
    numbers_alike: bool
    """True if one compiled version serves all argument numbers."""
    function: Callable[..., Any]
    """The plain function."""
    parts: dict[str, Description]
    """The compiled functions called by this function, by global name."""
    form: Any
    """A kernel's signature (`mpinet.base.arguments.Arguments.described`), or a rule's kind."""


def packed(part: Description) -> Any:
    """Convert a function and all its callees to a tree that `marshal` can write."""
    table: dict[str, Any] = {}
    _add(part, table)
    return part.name, table


def unpacked(description: Any) -> Description:
    """Rebuild a function and its callees from the result of `packed`."""
    name, table = description
    made: dict[str, Description] = {}
    # Each callee is made once, so all callers share its compiled form.
    for key, (kind, how, alike, function, names, form) in table.items():
        # Callees come before their callers.
        parts = {own: made[key_] for own, key_ in names.items()}
        made[key] = Description(kind, key, how, alike, _function(function), parts, form)
    return made[name]


def names_in(code: CodeType) -> set[str]:
    """Return the names of globals and attributes used in code, including nested functions."""
    inner = (names_in(each) for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*inner)


def _add(part: Description, table: dict[str, Any]) -> None:
    if part.name in table:
        return
    for each in part.parts.values():
        _add(each, table)
    names = {own: each.name for own, each in part.parts.items()}
    table[part.name] = (
        part.kind, part.how, part.numbers_alike, _told(part.function, names.keys()), names,
        part.form,
    )  # fmt: skip


def _told(function: Any, without: AbstractSet[str]) -> Any:
    """Describe a plain function, without the globals named in `without`."""
    code = function.__code__
    names = names_in(code) - set(without)
    scope = {
        name: _value(function.__globals__[name], names)
        for name in sorted(names)
        if name in function.__globals__
    }
    cells = [_value(cell.cell_contents, names) for cell in function.__closure__ or ()]
    defaults = [_value(each, names) for each in function.__defaults__ or ()]
    return function.__name__, code, scope, cells, defaults


def _function(told: Any) -> FunctionType:
    name, code, scope, cells, defaults = told
    known = {key: _meant(value) for key, value in scope.items()}
    return FunctionType(
        code,
        {"__builtins__": builtins, "__name__": "mpinet.compiler", **known},
        name,
        tuple(_meant(each) for each in defaults) or None,
        tuple(CellType(_meant(each)) for each in cells) or None,
    )


def _value(value: Any, names: set[str]) -> Any:
    """Describe a global's value: a letter for its kind, and the data needed to rebuild it."""
    if value is None or type(value) in (bool, int, float, complex, str, bytes):
        return ("c", value)
    if isinstance(value, np.generic | np.ndarray) and value.dtype.kind not in "biufc":
        return ("x", type(value).__name__)
    if isinstance(value, np.generic):
        return ("s", value.dtype.str, value.tobytes())
    # Subclasses of int would fail in `marshal`, which accepts exact types only.
    if isinstance(value, int):  # e.g. a member of an enumeration
        return ("c", int(value))
    if isinstance(value, np.ndarray):
        return ("a", value.dtype.str, value.shape, np.ascontiguousarray(value).tobytes())
    if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
        return ("g", value.__name__, tuple(value._fields))
    if isinstance(value, tuple):
        return ("t", tuple(_value(each, names) for each in value))
    if isinstance(value, ModuleType):
        return _module(value, names)
    # A recursive function names itself; its own name is left out, or the description would never
    # end.
    if hasattr(value, "py_func"):  # compiled by Numba itself; a user's rule may call it
        itself = {name for name, each in value.py_func.__globals__.items() if each is value}
        return ("n", _told(value.py_func, itself), sorted(itself))
    place = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if callable(value) and all(place) and str(place[0]).partition(".")[0] in LIBRARIES:
        return ("o", *place)
    return ("x", type(value).__name__)


def _module(module: ModuleType, names: set[str]) -> Any:
    if module.__name__.partition(".")[0] in LIBRARIES:
        return ("m", module.__name__)
    own = {name: getattr(module, name) for name in sorted(names) if hasattr(module, name)}
    return ("d", module.__name__, {
        name: _value(value, names) for name, value in own.items() if isinstance(value, int | float)
    })  # fmt: skip


@cache
def group_type(name: str, fields: tuple[str, ...]) -> type:
    """Return the named tuple class with this name and these fields; always the same class."""
    return namedtuple(name, fields)


class Unknown:
    """Placeholder for a global that compiled functions cannot use; its compilation fails."""


def _meant(told: Any) -> Any:
    """Rebuild the value described by `_value`."""
    letter, *rest = told
    if letter == "c":
        return rest[0]
    if letter == "s":
        return np.frombuffer(rest[1], rest[0])[0]
    if letter == "a":
        return np.frombuffer(rest[2], rest[0]).reshape(rest[1])
    if letter == "g":
        return group_type(*rest)
    if letter == "t":
        return tuple(_meant(each) for each in rest[0])
    if letter == "m":
        return import_module(rest[0])
    if letter == "d":
        module = ModuleType(rest[0])
        vars(module).update({name: _meant(value) for name, value in rest[1].items()})
        return module
    if letter == "n":
        function = _function(rest[0])
        compiled = import_module("numba").njit(function)
        function.__globals__.update(dict.fromkeys(rest[1], compiled))  # for recursive calls
        return compiled
    if letter == "o":
        found: Any = import_module(rest[0])
        for name in rest[1].split("."):
            found = getattr(found, name)
        return found
    return Unknown()
