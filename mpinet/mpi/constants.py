"""Common base of MPI objects: null constants, equality, handles and pickling."""

from __future__ import annotations

import sys
from typing import Any, ClassVar

from mpinet.mpi.real import REAL
from mpinet.mpi.world.handles import handle_of, thing_of


class NamedNumber:
    """An MPI object: truth value, equality, handle and pickle are derived from its meaning."""

    __slots__ = ()

    _null: ClassVar[str]
    """Name of the null constant; identifies the kind of object."""
    _unknown: ClassVar[int]
    """Error class for an unknown handle."""

    @property
    def _meaning(self) -> Any:
        """The value shared by all Python objects of one MPI object; None for the null object."""
        raise NotImplementedError

    @classmethod
    def _of(cls, meaning: Any) -> Any:
        """Return an object for an MPI object, given their common meaning."""
        raise NotImplementedError

    def __bool__(self) -> bool:
        return self._meaning is not None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NamedNumber) or other._null != self._null:
            return NotImplemented
        return bool(self._meaning == other._meaning)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return serialized(self, "" if self else self._null)

    # The real base classes define their own comparison, which would be used without this.
    def __ne__(self, other: object) -> bool:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    @property
    def handle(self) -> int:
        """Number of the object on this processor; 0 for the null object."""
        return handle_of(self._null, self._meaning) if self else 0

    @classmethod
    def fromhandle(cls, handle: int) -> Any:
        """Return the object with a handle.

        Raises
        ------
        Exception
            The error class of its kind: the handle is unknown.
        """
        if not handle:
            return cls()
        meaning = thing_of(cls._null, handle)
        if meaning is None:
            raise REAL.Exception(cls._unknown)
        return cls._of(meaning)

    def toint(self) -> int:
        """Return the object's number on this processor; 0 for the null object."""
        return self.handle

    py2f = toint

    @classmethod
    def fromint(cls, arg: int, /) -> Any:
        """Return the object with a number."""
        return cls.fromhandle(arg)

    f2py = fromint


def instance_of(cls: type[Any], value: Any) -> Any:
    """Return an argument after checking its class.

    Raises
    ------
    TypeError
        The argument is not an object of the class.
    """
    if not isinstance(value, cls):
        raise TypeError(
            f"Argument has incorrect type (expected {REAL.__name__}.{cls.__name__}, got "
            f"{type(value).__name__})"
        )
    return value


def serialized(value: Any, constant: str) -> Any:
    """Return the pickle representation of an object equal to a predefined constant.

    Parameters
    ----------
    value : object
        The object.
    constant : str
        Name of the constant; empty if the object equals none.

    Raises
    ------
    ValueError
        The object equals no constant, and another process could not identify it.
    """
    if not constant:
        cls = type(value)
        raise ValueError(f"cannot serialize '{cls.__module__}.{cls.__name__}' instance")
    own = getattr(sys.modules[REAL.__name__], constant)
    return constant if value is own else (type(value), (own,))
