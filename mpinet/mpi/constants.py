"""The common part of MPI's objects: constants of their kind, and numbers that stand for them."""

from __future__ import annotations

import sys
from typing import Any

from mpinet.mpi.real import REAL


class Numbered:
    """Something that numbers stand for, by all the names that mpi4py has for that."""

    __slots__ = ()

    # The real classes behind have an order of comparison of their own, which would be asked.
    def __ne__(self, other: object) -> bool:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    @property
    def handle(self) -> int:
        """A number that stands for it on this processor; 0 for the null one."""
        raise NotImplementedError

    @classmethod
    def fromhandle(cls, handle: int) -> Any:
        """Return the object that a number stands for."""
        raise NotImplementedError

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
