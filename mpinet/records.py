"""Records: numbers with names that lie side by side in memory, for kernels and for Python alike.

A subclass of `Record` says once which fields there are, of how many bits, and what a checkpoint
keeps of them. Kernels are annotated by it; what they get is NumPy's records of that layout, in
which ``lane.sent += 1`` writes into the array that the lane is in.
"""

from __future__ import annotations

from array import array
from operator import itemgetter, setitem
from typing import Annotated, Any, ClassVar, Self, get_args, get_origin, get_type_hints

import numpy as np

from mpinet.arrays import Array

Short = Annotated[int, np.int32]
"""A field of 32 bits."""

Word32 = Annotated[int, np.uint32]
"""A field of 32 bits without a sign."""


class Record:
    """Named numbers; subclasses annotate their fields.

    A field is an ``int`` (64 bits), a ``bool``, or one of `Short` and `Word32`. ``Annotated[..,
    Total]`` and the like say whose the number is in a checkpoint; what is not marked is not kept.

    Attributes
    ----------
    dtype : dtype
        The layout, as NumPy knows it.
    kept : dict
        The mark of every field that has one, by name.

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
    kept: ClassVar[dict[str, Any]]

    def __init_subclass__(cls) -> None:
        # A mark is known when the class is made: fields are never forward references.
        hints = {
            name: hint
            for name, hint in get_type_hints(cls, include_extras=True).items()
            if get_origin(hint) is not ClassVar
        }
        marks = {name: _marks(hint) for name, hint in hints.items()}
        layout = [(name, bits) for name, (bits, _) in marks.items()]
        # The elements of such an array are records with attributes also in plain Python.
        cls.dtype = np.dtype((np.record, np.dtype(layout, align=True)))
        cls.kept = {name: mark for name, (_, mark) in marks.items() if mark is not None}

    @classmethod
    def array(cls, *shape: int) -> Array:
        """Records of zeros, in an array of this shape."""
        return np.zeros(shape, cls.dtype)

    @classmethod
    def one(cls) -> Self:
        """One record of zeros."""
        record: Self = cls.array(1)[0]
        return record

    @classmethod
    def counted(cls) -> Any:
        """One record of zeros that Python reads and writes quickly, too, in every step.

        Its fields are attributes; `record` is the same memory as kernels take it. All are 64 bits.
        """
        return type(cls.__name__, (Counted,), {
            name: _number(place) for place, name in enumerate(cls.dtype.names or ())
        })(cls.dtype)  # fmt: skip


class Counted(array):  # type: ignore[type-arg]
    """Numbers of 64 bits in memory that a record shares (see `Record.counted`)."""

    def __new__(cls, dtype: np.dtype[Any]) -> Any:
        """Make zeros of them."""
        return super().__new__(cls, "q", bytes(dtype.itemsize))

    def __init__(self, dtype: np.dtype[Any]):
        self.record = np.frombuffer(self, dtype)[0]


def _number(place: int) -> Any:
    """The number at a place, as an attribute that costs no Python call: a step reads ten."""
    return property(itemgetter(place), lambda numbers, value: setitem(numbers, place, value))


def _marks(hint: Any) -> tuple[Any, Any]:
    """The bits of a field, and its mark (None: it has none)."""
    kind, *marks = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    sizes = [mark for mark in marks if isinstance(mark, type) and issubclass(mark, np.generic)]
    others = [mark for mark in marks if mark not in sizes]
    default = np.bool_ if kind is bool else np.int64
    return (sizes or [default])[0], (others or [None])[0]
