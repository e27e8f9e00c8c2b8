"""Array types used throughout the package, for annotations.

Types that also name a Numba type are allowed for kernel parameters, where the array must match the
layout of that type.
"""

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
"""Array of any numbers, or of records."""

Ints = Annotated[NDArray[np.int64], "int64[::1]"]
"""Whole numbers: processors, ports, steps, counts; words of headers and records."""

Table = Annotated[NDArray[np.int64], "int64[:, ::1]"]
"""Rows of whole numbers, all of one length: messages, pairs."""

Flags = Annotated[NDArray[np.bool_], "boolean[::1]"]
"""Flags, one per item."""

FlagRows = Annotated[NDArray[np.bool_], "boolean[:, ::1]"]
"""Rows of flags, all of one length."""

Counts = Annotated[NDArray[np.uint32], "uint32[::1]"]
"""Array of small counts, or of words of 32 mark bits for processors and channels."""

Shorts = Annotated[NDArray[np.int32], "int32[::1]"]
"""Array of small whole numbers, for example ranks."""

ShortRows = Annotated[NDArray[np.int32], "int32[:, ::1]"]
"""Rows of small whole numbers, for example lanes."""

Halves = Annotated[NDArray[np.uint16], "uint16[::1]"]
"""Numbers of 16 bits each, for example distances in small networks."""

HalfRows = Annotated[NDArray[np.uint16], "uint16[:, ::1]"]
"""Rows of numbers of 16 bits each."""

Bytes = Annotated[NDArray[np.uint8], "uint8[::1]"]
"""Numbers of one byte each."""

ByteRows = Annotated[NDArray[np.uint8], "uint8[:, ::1]"]
"""Rows of bytes, all of one length."""

ByteTables = Annotated[NDArray[np.uint8], "uint8[:, :, ::1]"]
"""Table of bytes with three indices."""

Tables = Annotated[NDArray[np.int64], "int64[:, :, ::1]"]
"""Table of whole numbers with three indices."""

RowViews = Annotated[NDArray[np.int64], "int64[:, :]"]
"""Whole numbers by row and column; the rows may lie anywhere in memory (part of a larger array)."""

Words = Annotated[NDArray[np.uint64], "uint64[::1]"]
"""Sets of up to 64 items each, one bit per item."""

WordRows = Annotated[NDArray[np.uint64], "uint64[:, ::1]"]
"""Rows of sets, each row several words."""

WordTables = Annotated[NDArray[np.uint64], "uint64[:, :, ::1]"]
"""Table of sets with three indices."""

Reals = Annotated[NDArray[np.float64], "float64[::1]"]
"""Array of real numbers."""

RealRows = Annotated[NDArray[np.float64], "float64[:, ::1]"]
"""Rows of real numbers, all of one length."""

Complexes = Annotated[NDArray[np.complex128], "complex128[::1]"]
"""Array of complex numbers."""

ComplexRows = Annotated[NDArray[np.complex128], "complex128[:, ::1]"]
"""Rows of complex numbers, all of one length."""

ComplexViews = Annotated[NDArray[np.complex128], "complex128[:, :]"]
"""Complex numbers by row and column; the rows may lie anywhere in memory."""

Matrix = NDArray[Any]
"""Whole numbers by row and column: distances, or counts, of all pairs."""
