"""The kinds of arrays that go through the package, for annotations.

Those with a name of Numba's beside them may be a kernel's parameters, and must be contiguous there.
"""

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
"""Of any numbers, or records of them."""

Ints = Annotated[NDArray[np.int64], "int64[::1]"]
"""Whole numbers: processors, ports, steps, counts; words of headers and records."""

Rows = Annotated[NDArray[np.int64], "int64[:, ::1]"]
"""Whole numbers, so many a row: messages, pairs."""

Flags = Annotated[NDArray[np.bool_], "boolean[::1]"]
"""A yes or no each."""

FlagRows = Annotated[NDArray[np.bool_], "boolean[:, ::1]"]
"""A yes or no each, so many a row."""

Counts = Annotated[NDArray[np.uint32], "uint32[::1]"]
"""How many of each, or 32 bits each: marks of processors and channels, of which there are many."""

Shorts = Annotated[NDArray[np.int32], "int32[::1]"]
"""Small whole numbers, of which there are many: ranks."""

ShortRows = Annotated[NDArray[np.int32], "int32[:, ::1]"]
"""Small whole numbers, so many a row, of which there are many: lanes."""

Halves = Annotated[NDArray[np.uint16], "uint16[::1]"]
"""16 bits each: distances in small networks."""

HalfRows = Annotated[NDArray[np.uint16], "uint16[:, ::1]"]
"""16 bits each, so many a row."""

Bytes = Annotated[NDArray[np.uint8], "uint8[::1]"]
"""A byte each."""

ByteRows = Annotated[NDArray[np.uint8], "uint8[:, ::1]"]
"""Bytes, so many a row."""

ByteTables = Annotated[NDArray[np.uint8], "uint8[:, :, ::1]"]
"""Bytes by three numbers."""

Tables = Annotated[NDArray[np.int64], "int64[:, :, ::1]"]
"""Whole numbers by three numbers."""

RowViews = Annotated[NDArray[np.int64], "int64[:, :]"]
"""Whole numbers by row and column, the rows anywhere in memory: a part of a larger array."""

Words = Annotated[NDArray[np.uint64], "uint64[::1]"]
"""Sets of up to 64 things each, a bit a thing."""

WordRows = Annotated[NDArray[np.uint64], "uint64[:, ::1]"]
"""Sets, so many words a row."""

WordTables = Annotated[NDArray[np.uint64], "uint64[:, :, ::1]"]
"""Sets by three numbers."""

Reals = Annotated[NDArray[np.float64], "float64[::1]"]
"""Real numbers."""

RealRows = Annotated[NDArray[np.float64], "float64[:, ::1]"]
"""Real numbers, so many a row."""

Complexes = Annotated[NDArray[np.complex128], "complex128[::1]"]
"""Complex numbers."""

ComplexRows = Annotated[NDArray[np.complex128], "complex128[:, ::1]"]
"""Complex numbers, so many a row."""

ComplexViews = Annotated[NDArray[np.complex128], "complex128[:, :]"]
"""Complex numbers by row and column, the rows anywhere in memory."""

Matrix = NDArray[Any]
"""Whole numbers by row and column: distances, or counts, of all pairs."""
