"""Reductions that every processor learns: sum and minimum. Both orders of dimensions do."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from mpinet.programs.operators.operator import Array, Numbers, Operator, drawn


class Sum(Operator):
    """Every element becomes the sum of all.

    Parameters
    ----------
    dtype : dtype
        Of the numbers. Floating-point sums are right within `tolerance`, integers wrap around.
    """

    name = "sum"

    def __init__(self, dtype: DTypeLike = np.int64):
        self.dtype = np.dtype(dtype)

    def oper(self, j: int, i: Numbers, low: Array, high: Array) -> tuple[Array, Array]:
        """Both become the sum."""
        total = low + high
        return total, total

    def expected(self, values: Array) -> Array:
        """One pass of NumPy's sum."""
        return np.broadcast_to(values.sum(dtype=self.dtype), len(values))


class Minimum(Operator):
    """Every element becomes the least of all.

    Parameters
    ----------
    dtype : dtype
        Of the numbers.
    """

    name = "min"

    def __init__(self, dtype: DTypeLike = np.int64):
        self.dtype = np.dtype(dtype)

    def oper(self, j: int, i: Numbers, low: Array, high: Array) -> tuple[Array, Array]:
        """Both become the lesser one."""
        least = np.minimum(low, high)
        return least, least

    def draw(self, seed: int, q: int, index: Numbers) -> Array:
        """Numbers far enough apart for one to be the least."""
        return drawn(seed, index)

    def expected(self, values: Array) -> Array:
        """One pass of NumPy's minimum."""
        return np.broadcast_to(values.astype(self.dtype).min(), len(values))
