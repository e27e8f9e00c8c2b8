"""The real mpi4py: provides datatypes, operators, statuses and packing for emulated processors."""

from __future__ import annotations

from typing import Any

from mpinet.machine.transport import mpi

REAL: Any = mpi()
"""The module ``mpi4py.MPI``."""

ANY_SOURCE: int = REAL.ANY_SOURCE
ANY_TAG: int = REAL.ANY_TAG
PROC_NULL: int = REAL.PROC_NULL
UNDEFINED: int = REAL.UNDEFINED


def as_int(number: Any) -> int:
    """Convert a number as mpi4py converts it to a C integer; floats are truncated.

    Raises
    ------
    TypeError
        The argument is not a real number.
    """
    if not hasattr(type(number), "__int__"):
        raise TypeError("an integer is required")
    return int(number)


def not_negative(number: Any, error: int) -> int:
    """Convert a number as `as_int` does, and check that it is not negative.

    Raises
    ------
    Exception
        The given error class: the number is negative.
    """
    if as_int(number) < 0:
        raise REAL.Exception(error)
    return as_int(number)
