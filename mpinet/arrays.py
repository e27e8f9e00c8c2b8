"""The kinds of arrays that go through the package, for annotations."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
"""Of any numbers, or records of them."""

Ints = NDArray[np.int64]
"""Whole numbers: processors, ports, steps, counts; words of headers and records."""

Flags = NDArray[np.bool_]
"""A yes or no each."""

Words = NDArray[np.uint64]
"""Sets of up to 64 things each, a bit a thing."""

Matrix = NDArray[Any]
"""Whole numbers by row and column: distances, or counts, of all pairs."""
