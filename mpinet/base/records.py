"""Records: named numbers, adjacent in memory, shared by kernels and Python code.

A subclass of `Record` declares the fields once: their names, sizes in bits, and whether a
checkpoint keeps them. Kernels use the subclass as an annotation and receive NumPy records of its
layout; ``lane.sent += 1`` writes into the lane's array.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection
from math import prod
from operator import itemgetter, setitem
from typing import Annotated, Any, ClassVar, Self, get_args, get_origin, get_type_hints

import numpy as np

from mpinet.base.arrays import Array

Short = Annotated[int, np.int32]
"""A field of 32 bits."""

Word32 = Annotated[int, np.uint32]
"""An unsigned field of 32 bits."""


LINE = 64
"""Bytes of a cache line on most processors."""


def lined(count: int, dtype: Any) -> Array:
    """Return an array of zeros aligned to a cache line, so few items straddle two lines.

    Examples
    --------
    >>> [lined(size, np.int32).ctypes.data % LINE for size in (3, 1000, 10**6)]
    [0, 0, 0]
    """
    size = count * np.dtype(dtype).itemsize
    # The system maps zeroed pages only when they are touched, so alignment costs no memory.
    room = np.zeros(size + LINE, np.uint8)
    begin = -room.__array_interface__["data"][0] % LINE
    return room[begin : begin + size].view(dtype)


def longer(array: Array, rows: int) -> Array:
    """Return a copy of an array with `rows` rows; the added rows are zeros."""
    shape = (rows, *array.shape[1:])
    found = lined(prod(shape), array.dtype).reshape(shape)
    found[: len(array)] = array
    return found


def with_room(array: Array, rows: int) -> Array:
    """Return the array if it has at least `rows` rows, otherwise a longer copy.

    A copy has half as many rows again in reserve: untouched pages take no memory.
    """
    # Geometric growth makes appends constant on average.
    return array if len(array) >= rows else longer(array, rows + rows // 2)


def columns(rows: Any, names: Collection[str], dtype: Any = None) -> Array:
    """Return some fields of records as an array, with the fields along a new last axis.

    Examples
    --------
    >>> rows = np.array([(1, 2), (3, 4)], [("load", np.int64), ("high", np.int32)])
    >>> columns(rows, ("high", "load")).tolist()
    [[2, 1], [4, 3]]
    """
    return np.stack([rows[name] for name in names], axis=-1, dtype=dtype)


def put_columns(rows: Any, names: Collection[str], found: Array) -> None:
    """Write an array returned by `columns` back into the fields of records."""
    found = found.reshape(*rows.shape, len(names))
    for column, name in enumerate(names):
        rows[name] = found[..., column]


class Record:
    """Named numbers; subclasses annotate their fields.

    A field is an ``int`` (64 bits), a ``bool``, a `Short` or a `Word32`. A mark such as
    ``Annotated[.., Total]`` states how a checkpoint keeps the field; a field without a mark is not
    kept.

    Examples
    --------
    >>> class Meter(Record):
    ...     load: int
    ...     high: Annotated[Short, "kept"]
    >>> meters = Meter.array(2)
    >>> meters[1].high += 3  # as in a kernel
    >>> meters["high"].tolist(), Meter.kept, Meter.dtype.itemsize
    ([0, 3], {'high': 'kept'}, 16)
    """

    dtype: ClassVar[np.dtype[Any]]
    """The NumPy dtype of a record."""
    kept: ClassVar[dict[str, Any]]
    """Marks of the marked fields, by field name."""

    def __init_subclass__(cls) -> None:
        # Fields are never forward references, so their marks are known here.
        hints = {
            name: hint
            for name, hint in get_type_hints(cls, include_extras=True).items()
            if get_origin(hint) is not ClassVar
        }
        marks = {name: _marks(hint) for name, hint in hints.items()}
        layout = [(name, bits) for name, (bits, _) in marks.items()]
        # With np.record, array elements have attributes in plain Python as well.
        cls.dtype = np.dtype((np.record, np.dtype(layout, align=True)))
        cls.kept = {name: mark for name, (_, mark) in marks.items() if mark is not None}

    @classmethod
    def array(cls, *shape: int) -> Array:
        """Return an array of zeroed records with this shape."""
        return lined(prod(shape), cls.dtype).reshape(shape)

    @classmethod
    def one(cls) -> Self:
        """Return one zeroed record."""
        record: Self = cls.array(1)[0]
        return record

    @classmethod
    def counted(cls) -> Any:
        """Return one zeroed record with fast attribute access in Python, for use in every step.

        All fields have 64 bits. The attribute `record` is the same memory, for kernels.
        """
        # Attribute access on a NumPy record takes a microsecond; a step reads a dozen of these
        # numbers.
        return type(cls.__name__, (SharedNumbers,), {
            name: _number(place) for place, name in enumerate(cls.dtype.names or ())
        })(cls.dtype)  # fmt: skip


class SharedNumbers(array):  # type: ignore[type-arg]
    """Array of 64-bit numbers that shares its memory with a record (see `Record.counted`)."""

    def __new__(cls, dtype: np.dtype[Any]) -> Any:
        """Make an array of zeros with the size of a record of `dtype`."""
        return super().__new__(cls, "q", bytes(dtype.itemsize))

    def __init__(self, dtype: np.dtype[Any]):
        self.record = np.frombuffer(self, dtype)[0]


def _number(place: int) -> Any:
    """Return a property for the number at an index; fast, because each step reads ten numbers."""
    return property(itemgetter(place), lambda numbers, value: setitem(numbers, place, value))


def _marks(hint: Any) -> tuple[Any, Any]:
    """Return the NumPy type of a field, and its mark or None."""
    kind, *marks = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    sizes = [mark for mark in marks if isinstance(mark, type) and issubclass(mark, np.generic)]
    others = [mark for mark in marks if mark not in sizes]
    default = np.bool_ if kind is bool else np.int64
    return (sizes or [default])[0], (others or [None])[0]
