"""The native record in which a rule is handed to a kernel.

Numba takes 50 us to pass a function to a kernel, but under 1 us to pass a record that holds one;
so a rule is put into a `Box` once and passed as that. Imports Numba: `compiled` loads this module
where the first rule or kernel is compiled.
"""

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import numba
from numba.experimental import structref

from mpinet.base.arguments import SIGNATURES
from mpinet.base.nativecache import load_or_compile
from mpinet.base.records import Record


@structref.register
class BoxType(numba.types.StructRef):
    """Numba type of the record."""


class Box(structref.StructRefProxy):
    """The record as Python code sees it."""


structref.define_boxing(BoxType, Box)

TYPES: dict[str, Any] = {
    name: getattr(numba.types, name)
    for name in (
        "void boolean uint8 uint16 int32 int64 uint32 uint64 float64 complex128 Tuple UniTuple"
    ).split()
}
"""Names that a kernel's signature may use."""

RULES: dict[str, Any] = {kind: eval(text, {}, TYPES) for kind, text in SIGNATURES.items()}
"""Signatures of the rules, in Numba's types."""

TYPES |= {
    kind: BoxType((("call", numba.types.FunctionType(signature)),))
    for kind, signature in RULES.items()
}


def types_of(records: Mapping[str, type[Record]]) -> dict[str, Any]:
    """The names of `TYPES`, and those of records."""
    return TYPES | {name: numba.from_dtype(each.dtype) for name, each in records.items()}


def _put(function):
    record = structref.new(box)  # noqa: F821 (put in by box_maker)
    record.call = function
    return record


def box_maker(kind: str) -> Callable[[Any], Any]:
    """Return the function that wraps a compiled rule of this kind in its record."""
    box = TYPES[kind]
    # A function for each kind: `structref.new` needs a type that is constant when it is compiled,
    # and Numba takes globals for constants.
    put = FunctionType(_put.__code__, {"structref": structref, "box": box}, "put")
    put.__qualname__ = f"put_{kind}"
    put.__module__ = __name__
    return load_or_compile(put, box(box.field_dict["call"]))
