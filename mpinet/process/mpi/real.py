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
