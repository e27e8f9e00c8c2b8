"""Arguments and results of plain kernels: Python calculates with the same results as compiled code.

Compiled code calculates with 64 bits, for any type of array. NumPy differs: 32-bit numbers wrap
around at 32 bits, the sum of two flags is a flag, and reading a record's field takes a microsecond.
Plain kernels therefore see the same memory in other forms:

* Arrays of records are `ctypes` structures with Python numbers as fields.
* Other arrays are `Exact` or `ExactRows` with Python numbers as items.

In these forms whole numbers are exact. Numbers wrap around when a kernel stores them in an array or
a record, and in conversions such as ``np.uint64(..)``. Compiled code wraps numbers earlier. A
kernel must therefore not compare, divide or right-shift a number beyond 64 bits.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

KINDS: dict[str, Any] = {
    "i8": ctypes.c_int64, "i4": ctypes.c_int32, "i2": ctypes.c_int16, "i1": ctypes.c_int8,
    "u8": ctypes.c_uint64, "u4": ctypes.c_uint32, "u2": ctypes.c_uint16, "u1": ctypes.c_uint8,
    "b1": ctypes.c_bool, "f8": ctypes.c_double,
}  # fmt: skip
"""C types by NumPy's type codes."""

_set = object.__setattr__


class Row(ctypes.Structure):
    """One record."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Write a field; numbers of NumPy are converted to Python numbers for `ctypes`."""
        try:
            _set(self, name, value)
        # `ctypes` does not accept NumPy integers; the conversion is rarely needed.
        except TypeError:
            _set(self, name, int(value))


@lru_cache(64)
def row_type(dtype: Any) -> Any:
    """Return the `ctypes` structure with the layout of a record's dtype."""
    fields = [(name, KINDS[dtype[name].str[1:]]) for name in dtype.names]
    made = type("Row", (Row,), {"_fields_": fields})
    alike = all(getattr(made, name).offset == dtype.fields[name][1] for name in dtype.names)
    if not alike or ctypes.sizeof(made) != dtype.itemsize:
        raise TypeError(f"{dtype} has no equivalent structure in C")
    return made


@lru_cache(256)
def rows_type(dtype: Any, count: int) -> Any:
    """Return the `ctypes` type of an array of `count` records."""
    return type("Rows", (row_type(dtype) * count,), {"size": count, "shape": (count,)})


class RecordGrid:
    """Two-dimensional array of records."""

    __slots__ = ("_flat", "_width", "shape", "size")

    def __init__(self, flat: Any, shape: tuple[int, ...]):
        self._flat, self._width, self.shape, self.size = flat, shape[1], shape, shape[0] * shape[1]

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.shape[0]

    def __getitem__(self, at: tuple[int, int]) -> Any:
        """Return the record at (row, column)."""
        i, j = at
        if j < 0:
            j += self._width
        return self._flat[i * self._width + j]


def rows(array: Any) -> Any:
    """Return an array of records, or one record, in the form of plain kernels; memory is shared."""
    if not isinstance(array, np.ndarray):
        return _kept(row_type(array.dtype).from_address(np.asarray(array).ctypes.data), array)
    if not array.flags.c_contiguous:
        raise TypeError("the memory of an array of records is not contiguous")
    flat = _kept(rows_type(array.dtype, array.size).from_address(array.ctypes.data), array)
    return RecordGrid(flat, array.shape) if array.ndim == 2 else flat


def _kept(made: Any, array: Any) -> Any:
    """Attach an array to a structure in its memory, to keep the memory; return the structure."""
    _set(made, "_owner", array)
    return made


_item, _get, _put = np.ndarray.item, np.ndarray.__getitem__, np.ndarray.__setitem__


class Exact(np.ndarray):
    """A one-dimensional array whose items are Python numbers."""

    def __getitem__(self, at: Any) -> Any:
        """Return a number, or a part of the array."""
        try:
            return _item(self, at)
        except (TypeError, ValueError):
            return _get(self, at)

    def __setitem__(self, at: Any, value: Any) -> None:
        """Write numbers; a number that does not fit wraps around."""
        try:
            _put(self, at, value)
        except OverflowError:
            _put(self, at, wrapped(value, self.dtype))


class ExactRows(Exact):
    """An array with several dimensions, whose items are Python numbers."""

    def __getitem__(self, at: Any) -> Any:
        """Return a number, or a part of the array."""
        if type(at) is tuple:
            try:
                return _item(self, at)
            except (TypeError, ValueError):
                pass
        found = _get(self, at)
        return found.view(Exact) if found.ndim == 1 else found


def exact(array: Any) -> Any:
    """Return an array of numbers or flags in the form of plain kernels; memory is shared."""
    return array.view(Exact if array.ndim == 1 else ExactRows)


def wrapped(number: int, dtype: Any) -> Any:
    """Return a whole number after wraparound to the size of an integer dtype."""
    bits = 8 * dtype.itemsize
    # Two's complement, as hardware stores it: plain and compiled kernels leave the same bytes.
    low = int(number) & ((1 << bits) - 1)
    return low - (1 << bits) if dtype.kind == "i" and low >> (bits - 1) else low


def _number_type(kind: Any) -> Any:
    """Return the replacement for a NumPy integer type in plain kernels; calls give Python ints."""
    dtype = np.dtype(kind)
    limits = np.iinfo(kind)
    least, most = int(limits.min), int(limits.max)

    def number(value: Any = 0) -> int:
        return value if type(value) is int and least <= value <= most else wrapped(value, dtype)

    # NumPy accepts any object with a dtype in place of a type, so kernels need no change.
    vars(number)["dtype"] = dtype  # lets NumPy accept the function as a type
    return number


_int64 = _number_type(np.int64)


def as_python(value: Any) -> Any:
    """Convert a kernel's result to Python numbers, wrapped to 64 bits as in compiled code."""
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) is int:
        return _int64(value)
    return tuple(map(as_python, value)) if type(value) is tuple else value


def is_changed(dtype: Any) -> bool:
    """Return whether plain kernels take arrays of this dtype in a different form."""
    return dtype.kind in "biuf"


def _exact_maker(maker: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function that makes arrays; its arrays then suit plain kernels."""

    def made(*args: Any, **kws: Any) -> Any:
        array = maker(*args, **kws)
        return exact(array) if is_changed(array.dtype) else array

    return made


def _plain_numpy() -> ModuleType:
    """Return a copy of the NumPy module for plain kernels: Python numbers and exact arrays."""
    module = ModuleType("numpy")
    makers = {name: _exact_maker(getattr(np, name)) for name in MAKERS}
    numbers = {name: _number_type(getattr(np, name)) for name in NUMBERS}
    vars(module).update({**vars(np), **makers, **numbers, "bool_": bool, "float64": float})
    return module


MAKERS = ("empty", "zeros", "ones", "full", "arange", "empty_like", "zeros_like")
"""NumPy functions with which kernels make arrays."""

NUMBERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
"""NumPy's types of whole numbers."""

PLAIN_NUMPY = _plain_numpy()
"""The NumPy module in the global scope of plain kernels."""
