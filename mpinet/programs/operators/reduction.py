"""Reductions to all processors: sum and minimum. Both orders of dimensions are possible."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from mpinet.base.arrays import Array, Ints
from mpinet.compiled import kernel
from mpinet.programs.operators.operator import Operator, drawn, looped


@kernel
def sum_runs(j: int, low: Ints, high: Ints, first: int, groups: int, pitch: int, run: int) -> None:
    """Replace both elements of every pair in the runs by their sum."""
    for group in range(groups):
        for k in range(group * pitch, group * pitch + run):
            low[k] = high[k] = low[k] + high[k]


@kernel
def least_of_runs(
    j: int, low: Ints, high: Ints, first: int, groups: int, pitch: int, run: int
) -> None:
    """Replace both elements of every pair in the runs by the smaller one."""
    for group in range(groups):
        for k in range(group * pitch, group * pitch + run):
            low[k] = high[k] = min(low[k], high[k])


class Reduction(Operator):
    """Operator that reduces all elements to one number; parts may be reduced first."""

    def reduced(self, values: Array) -> Array:
        """Return the reduction of values, or of results of parts.

        Parameters
        ----------
        values : ndarray, shape (k,)
            One or more numbers.

        Returns
        -------
        ndarray, shape ()
            One number.
        """
        raise NotImplementedError

    def expected(self, values: Array) -> Array:
        """Return the reduced number for every element."""
        return np.broadcast_to(self.reduced(values), len(values))


class Sum(Reduction):
    """Sum: every element becomes the sum of all.

    Parameters
    ----------
    dtype : dtype
        Type of the numbers. Floating-point sums are right within `tolerance`, integers wrap around.
    """

    name = "sum"

    def __init__(self, dtype: DTypeLike = np.int64):
        self.dtype = np.dtype(dtype)

    @looped(np.int64, sum_runs)
    def oper(self, j: int, i: Ints, low: Array, high: Array) -> tuple[Array, Array]:
        """Replace both elements by the sum."""
        total = low + high
        return total, total

    def reduced(self, values: Array) -> Array:
        """Return NumPy's sum."""
        return np.asarray(values.sum(dtype=self.dtype))


class Minimum(Reduction):
    """Minimum: every element becomes the smallest of all.

    Parameters
    ----------
    dtype : dtype
        Type of the numbers.
    """

    name = "min"

    def __init__(self, dtype: DTypeLike = np.int64):
        self.dtype = np.dtype(dtype)

    @looped(np.int64, least_of_runs)
    def oper(self, j: int, i: Ints, low: Array, high: Array) -> tuple[Array, Array]:
        """Replace both elements by the smaller one."""
        least = np.minimum(low, high)
        return least, least

    def draw(self, seed: int, q: int, index: Ints) -> Array:
        """Return random numbers far enough apart to have a single minimum."""
        return drawn(seed, index)

    def reduced(self, values: Array) -> Array:
        """Return NumPy's minimum."""
        return np.asarray(values.astype(self.dtype).min())
