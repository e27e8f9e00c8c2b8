"""What objects of MPI have in common with MPI's own constants of their kind."""

from __future__ import annotations

import sys
from typing import Any

from mpinet.process.mpi.real import REAL


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
