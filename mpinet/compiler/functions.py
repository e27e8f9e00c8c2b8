"""Numba's form of functions, made from descriptions."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numba
import numpy as np
from numba.core import types

from mpinet.base.native.description import Description, group_type
from mpinet.compiler import callees
from mpinet.compiler.ruletype import RULES, TYPES

UNSEEN = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options of all functions: entries for Python and C would take 5 % of the compile time."""

_idioms: dict[str, Any] = {}


def native_callee(part: Description) -> Any:
    """Return a callee's Numba function, without a fixed signature."""
    if part.kind == "hint":
        return getattr(callees, part.name)
    if part.kind == "idiom":
        if part.name not in _idioms:
            _idioms[part.name] = numba.njit(with_native_callees(part), **UNSEEN)
        return _idioms[part.name]
    if part.name in callees.KNOWN:
        return callees.KNOWN[part.name]
    return callees.callee(with_native_callees(part), part.numbers_alike, **part.how, **UNSEEN)


def with_native_callees(part: Description) -> FunctionType:
    """Return the plain function with Numba functions as callees."""
    function: Any = part.function
    scope = function.__globals__ | {name: native_callee(each) for name, each in part.parts.items()}
    clone = FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, function.__closure__
    )
    clone.__qualname__, clone.__module__ = part.name, __name__
    return clone


def signature_of(part: Description) -> Any:
    """Return the signature of a kernel or rule, in Numba's types."""
    if part.kind == "rule":
        return RULES[part.form]
    records, params, result = part.form
    known = TYPES | {name: numba.from_dtype(_record(told)) for name, told in records.items()}
    given = [
        types.NamedTuple([eval(each, {}, known) for each in kinds], group_type(*group))
        if group
        else eval(kinds[0], {}, known)
        for group, kinds in params
    ]
    return eval(result, {}, known)(*given)


def _record(told: Any) -> np.dtype[Any]:
    """Return the layout of a record."""
    names, formats, offsets, itemsize = told
    return np.dtype({
        "names": names, "formats": formats, "offsets": offsets, "itemsize": itemsize,
        "aligned": True,
    })  # fmt: skip
