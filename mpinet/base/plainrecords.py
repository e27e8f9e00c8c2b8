"""Arguments and results of plain kernels: what makes plain Python calculate as compiled code does.

Compiled code calculates with 64 bits, whatever an array holds. NumPy's own numbers of 32 bits wrap
around at 32 bits, the sum of two of its flags is a flag, and a field of its records takes a
microsecond. Plain kernels see the same memory in other forms:

* arrays of records as structures of `ctypes`, whose fields are Python's numbers;
* other arrays as `Exact` or `ExactRows`, whose items are Python's numbers.

So whole numbers are exact. They wrap around where a kernel writes them into an array or a record,
and where it converts them, as by ``np.uint64(..)``. A kernel must not compare, divide, shift to the
right a number that compiled code has wrapped around before.
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
"""Types of C by the letters that NumPy has for them."""

_set = object.__setattr__


class Row(ctypes.Structure):
    """One record."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Write a field: `ctypes` takes Python's numbers alone."""
        try:
            _set(self, name, value)
        # NumPy's integers are no Python integers to ctypes; the conversion is needed rarely.
        except TypeError:
            _set(self, name, int(value))


@lru_cache(64)
def row_type(dtype: Any) -> Any:
    """Return the structure of a record's layout."""
    fields = [(name, KINDS[dtype[name].str[1:]]) for name in dtype.names]
    made = type("Row", (Row,), {"_fields_": fields})
    alike = all(getattr(made, name).offset == dtype.fields[name][1] for name in dtype.names)
    if not alike or ctypes.sizeof(made) != dtype.itemsize:
        raise TypeError(f"{dtype} is no structure of C")
    return made


@lru_cache(256)
def rows_type(dtype: Any, count: int) -> Any:
    """Return the type of an array of so many records."""
    return type("Rows", (row_type(dtype) * count,), {"size": count, "shape": (count,)})


class RecordGrid:
    """Records with two indices."""

    __slots__ = ("_flat", "_width", "shape", "size")

    def __init__(self, flat: Any, shape: tuple[int, ...]):
        self._flat, self._width, self.shape, self.size = flat, shape[1], shape, shape[0] * shape[1]

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.shape[0]

    def __getitem__(self, at: tuple[int, int]) -> Any:
        """Return the record in a row and a column."""
        i, j = at
        if j < 0:
            j += self._width
        return self._flat[i * self._width + j]


def rows(array: Any) -> Any:
    """Return an array of records, or one record, as plain kernels take it; the same memory."""
    if not isinstance(array, np.ndarray):
        return _kept(row_type(array.dtype).from_address(np.asarray(array).ctypes.data), array)
    if not array.flags.c_contiguous:
        raise TypeError("an array of records whose memory is not in one piece")
    flat = _kept(rows_type(array.dtype, array.size).from_address(array.ctypes.data), array)
    return RecordGrid(flat, array.shape) if array.ndim == 2 else flat


def _kept(made: Any, array: Any) -> Any:
    """Return a structure that holds the owner of its memory."""
    _set(made, "_owner", array)
    return made


_item, _get, _put = np.ndarray.item, np.ndarray.__getitem__, np.ndarray.__setitem__


class Exact(np.ndarray):
    """An array with one index, whose items are Python's numbers."""

    def __getitem__(self, at: Any) -> Any:
        """Return a number, or a part of the array."""
        try:
            return _item(self, at)
        except (TypeError, ValueError):
            return _get(self, at)

    def __setitem__(self, at: Any, value: Any) -> None:
        """Write numbers: what does not fit wraps around."""
        try:
            _put(self, at, value)
        except OverflowError:
            _put(self, at, wrapped(value, self.dtype))


class ExactRows(Exact):
    """An array with several indices, whose items are Python's numbers."""

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
    """Return an array of numbers or flags as plain kernels take it; the same memory."""
    return array.view(Exact if array.ndim == 1 else ExactRows)


def wrapped(number: int, dtype: Any) -> Any:
    """Return what a whole number becomes in a type that is too small for it."""
    bits = 8 * dtype.itemsize
    # Two's complement, as hardware stores it: plain and compiled kernels leave the same bytes.
    low = int(number) & ((1 << bits) - 1)
    return low - (1 << bits) if dtype.kind == "i" and low >> (bits - 1) else low


def _number_type(kind: Any) -> Any:
    """Return what a type of whole numbers is for plain kernels: a call gives Python's number."""
    dtype = np.dtype(kind)
    limits = np.iinfo(kind)
    least, most = int(limits.min), int(limits.max)

    def number(value: Any = 0) -> int:
        return value if type(value) is int and least <= value <= most else wrapped(value, dtype)

    # NumPy accepts any object with a dtype in place of a type, so kernels need no change.
    vars(number)["dtype"] = dtype  # so NumPy takes it for a type
    return number


_int64 = _number_type(np.int64)


def as_python(value: Any) -> Any:
    """Return a kernel's result as compiled code does: Python's numbers, of 64 bits."""
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) is int:
        return _int64(value)
    return tuple(map(as_python, value)) if type(value) is tuple else value


def is_changed(dtype: Any) -> bool:
    """Tell if plain kernels take arrays of such numbers in another form."""
    return dtype.kind in "biuf"


def _exact_maker(maker: Callable[..., Any]) -> Callable[..., Any]:
    """Return a maker of arrays that plain kernels can calculate with."""

    def made(*args: Any, **kws: Any) -> Any:
        array = maker(*args, **kws)
        return exact(array) if is_changed(array.dtype) else array

    return made


def _plain_numpy() -> ModuleType:
    """Return NumPy for plain kernels: numbers and items of arrays are Python's."""
    module = ModuleType("numpy")
    makers = {name: _exact_maker(getattr(np, name)) for name in MAKERS}
    numbers = {name: _number_type(getattr(np, name)) for name in NUMBERS}
    vars(module).update({**vars(np), **makers, **numbers, "bool_": bool, "float64": float})
    return module


MAKERS = ("empty", "zeros", "ones", "full", "arange", "empty_like", "zeros_like")
"""Functions by which kernels make arrays."""

NUMBERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
"""Types of whole numbers."""

PLAIN_NUMPY = _plain_numpy()
"""NumPy as plain kernels have it."""
