"""The common part of MPI's objects: constants of their kind, and numbers that stand for them."""

from __future__ import annotations

import sys
from typing import Any, ClassVar

from mpinet.mpi.real import REAL
from mpinet.mpi.world.handles import handle_of, thing_of


class NamedNumber:
    """An object of MPI: its truth, equality, number and pickle follow from its meaning."""

    __slots__ = ()

    _null: ClassVar[str]
    """Name of the null constant of its kind; objects of one kind have the same."""
    _unknown: ClassVar[int]
    """Error class of a number that stands for nothing."""

    @property
    def _meaning(self) -> Any:
        """The thing that all faces of an object share; None for the null object."""
        raise NotImplementedError

    @classmethod
    def _of(cls, meaning: Any) -> Any:
        """Make a face of the object with a meaning."""
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

    # The real classes behind have an order of comparison of their own, which would be asked.
    def __ne__(self, other: object) -> bool:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    @property
    def handle(self) -> int:
        """A number that stands for it on this processor; 0 for the null one."""
        return handle_of(self._null, self._meaning) if self else 0

    @classmethod
    def fromhandle(cls, handle: int) -> Any:
        """Return the object that a number stands for.

        Raises
        ------
        Exception
            The error of its kind: the number stands for nothing.
        """
        if not handle:
            return cls()
        meaning = thing_of(cls._null, handle)
        if meaning is None:
            raise REAL.Exception(cls._unknown)
        return cls._of(meaning)

    def toint(self) -> int:
        """A number that stands for it on this processor; 0 for the null one."""
        return self.handle

    py2f = toint

    @classmethod
    def fromint(cls, arg: int, /) -> Any:
        """Return the object that a number stands for."""
        return cls.fromhandle(arg)

    f2py = fromint


def instance_of(cls: type[Any], value: Any) -> Any:
    """An argument that is to be an object of a class.

    Raises
    ------
    TypeError
        It is none.
    """
    if not isinstance(value, cls):
        raise TypeError(
            f"Argument has incorrect type (expected {REAL.__name__}.{cls.__name__}, got "
            f"{type(value).__name__})"
        )
    return value


def serialized(value: Any, constant: str) -> Any:
    """Return what pickle keeps of an object that is equal to one of MPI's constants.

    Parameters
    ----------
    value : object
        The object.
    constant : str
        The constant's name; "" if it is equal to none.

    Raises
    ------
    ValueError
        It is equal to none: another process could not tell what it is.
    """
    if not constant:
        cls = type(value)
        raise ValueError(f"cannot serialize '{cls.__module__}.{cls.__name__}' instance")
    own = getattr(sys.modules[REAL.__name__], constant)
    return constant if value is own else (type(value), (own,))
