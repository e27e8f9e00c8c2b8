"""The real mpi4py: its datatypes, operators, statuses and packing serve the emulated processors."""

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
    """A number as mpi4py takes it for one of C: of a float what is before the point.

    Raises
    ------
    TypeError
        It is no real number.
    """
    if not hasattr(type(number), "__int__"):
        raise TypeError("an integer is required")
    return int(number)


def not_negative(number: Any, error: int) -> int:
    """A number, as `as_int` takes it, that is to be 0 or more.

    Raises
    ------
    Exception
        The given class of errors: it is below 0.
    """
    if as_int(number) < 0:
        raise REAL.Exception(error)
    return as_int(number)
