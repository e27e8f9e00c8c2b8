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

Counts = Annotated[NDArray[np.uint32], "uint32[::1]"]
"""How many of each, or 32 bits each: marks of processors and channels, of which there are many."""

Shorts = Annotated[NDArray[np.int32], "int32[::1]"]
"""Small whole numbers, of which there are many: ranks."""

ShortRows = Annotated[NDArray[np.int32], "int32[:, ::1]"]
"""Small whole numbers, so many a row, of which there are many: lanes."""

Words = NDArray[np.uint64]
"""Sets of up to 64 things each, a bit a thing."""

Matrix = NDArray[Any]
"""Whole numbers by row and column: distances, or counts, of all pairs."""
