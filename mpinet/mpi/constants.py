"""What objects of MPI have in common: constants of their kind, and numbers that stand for them."""

from __future__ import annotations

import sys
from typing import Any

from mpinet.mpi.real import REAL


class Numbered:
    """Something that numbers stand for, by all the names that mpi4py has for that."""

    __slots__ = ()

    @property
    def handle(self) -> int:
        """A number that stands for it on this processor; 0 for the null one."""
        raise NotImplementedError

    @classmethod
    def fromhandle(cls, handle: int) -> Any:
        """What a number stands for."""
        raise NotImplementedError

    def toint(self) -> int:
        """A number that stands for it on this processor; 0 for the null one."""
        return self.handle

    py2f = toint

    @classmethod
    def fromint(cls, arg: int, /) -> Any:
        """What a number stands for."""
        return cls.fromhandle(arg)

    f2py = fromint


def instance_of(cls: type[Any], one: Any) -> Any:
    """An argument that is to be an object of a class.

    Raises
    ------
    TypeError
        It is none.
    """
    if not isinstance(one, cls):
        raise TypeError(
            f"Argument has incorrect type (expected {REAL.__name__}.{cls.__name__}, got "
            f"{type(one).__name__})"
        )
    return one


def serialized(one: Any, constant: str) -> Any:
    """What pickle keeps of an object that is equal to one of MPI's constants.

    Parameters
    ----------
    one : object
        The object.
    constant : str
        The constant's name; "" if it is equal to none.

    Raises
    ------
    ValueError
        It is equal to none: another process could not tell what it is.
    """
    if not constant:
        raise ValueError(f"cannot serialize '{type(one).__module__}.{type(one).__name__}' instance")
    own = getattr(sys.modules[REAL.__name__], constant)
    return constant if one is own else (type(one), (own,))
