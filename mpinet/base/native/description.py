"""Descriptions of functions, with which a job asks the compiler for native code.

A description is a tree of numbers, texts and code objects, which `marshal` writes. It goes through
a pipe to a process of this job and is never read from a disk. The compiler imports no module of the
job's: it gets the functions as the job has them.
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

# Nothing of a user's is imported there: the compiler runs no code but what it compiles.
LIBRARIES = frozenset({"builtins", "cmath", "math", "numba", "numpy", "operator"})
"""Packages that the compiler imports itself, if a function names them."""


class Description(NamedTuple):
    """A function with all that its native code depends on."""

    kind: str
    """``kernel``, ``rule``, ``callee``, ``idiom`` or ``hint``."""
    name: str
    """Its name, with its fingerprint if it has one."""
    how: dict[str, Any]
    """Options of Numba's."""
    numbers_alike: bool
    """True if it is compiled once for all numbers that it is called with."""
    function: Callable[..., Any]
    """The plain function."""
    parts: dict[str, Description]
    """The compiled functions that it calls, by the global's name."""
    form: Any
    """A kernel's signature (`mpinet.base.arguments.Arguments.described`), or a rule's kind."""


def packed(part: Description) -> Any:
    """Return a description, as `marshal` writes it, of a function with all that it calls."""
    table: dict[str, Any] = {}
    _add(part, table)
    return part.name, table


def unpacked(description: Any) -> Description:
    """Return the function that a description describes."""
    name, table = description
    made: dict[str, Description] = {}
    # Each callee is made once, so that all callers share its compiled form.
    for key, (kind, how, alike, function, names, form) in table.items():
        # Callees come before their callers.
        parts = {own: made[key_] for own, key_ in names.items()}
        made[key] = Description(kind, key, how, alike, _function(function), parts, form)
    return made[name]


def names_in(code: CodeType) -> set[str]:
    """Return the globals and attributes that code names, also within functions inside it."""
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
    """Describe a plain function, without some of its globals."""
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
    """Describe a global: a letter, and what it needs."""
    if value is None or type(value) in (bool, int, float, complex, str, bytes):
        return ("c", value)
    if isinstance(value, np.generic | np.ndarray) and value.dtype.kind not in "biufc":
        return ("x", type(value).__name__)
    if isinstance(value, np.generic):
        return ("s", value.dtype.str, value.tobytes())
    # Subclasses of int would fail in `marshal`, which knows exact types alone.
    if isinstance(value, int):  # a member of an enumeration, or a switch
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
    if hasattr(value, "py_func"):  # compiled by Numba itself, as a user's rule may call
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
    """Return the named tuple of this name, the same one each time."""
    return namedtuple(name, fields)


class Unknown:
    """Stand-in for a global that no compiled function can use; the compiler then says so."""


def _meant(told: Any) -> Any:
    """Return the value that `_value` has described."""
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
        function.__globals__.update(dict.fromkeys(rest[1], compiled))  # it may call itself
        return compiled
    if letter == "o":
        found: Any = import_module(rest[0])
        for name in rest[1].split("."):
            found = getattr(found, name)
        return found
    return Unknown()
