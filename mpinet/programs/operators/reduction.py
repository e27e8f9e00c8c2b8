"""Reductions that every processor learns: sum and minimum. Both orders of dimensions do."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from mpinet.base.arrays import Array, Ints
from mpinet.compiled import kernel
from mpinet.programs.operators.operator import Operator, drawn, looped


@kernel
def sum_runs(j: int, low: Ints, high: Ints, first: int, groups: int, pitch: int, run: int) -> None:
    """Both elements of every pair in the runs become the sum."""
    for group in range(groups):
        for k in range(group * pitch, group * pitch + run):
            low[k] = high[k] = low[k] + high[k]


@kernel
def least_of_runs(
    j: int, low: Ints, high: Ints, first: int, groups: int, pitch: int, run: int
) -> None:
    """Both elements of every pair in the runs become the lesser one."""
    for group in range(groups):
        for k in range(group * pitch, group * pitch + run):
            low[k] = high[k] = min(low[k], high[k])


class Reduction(Operator):
    """Every element becomes one number, which parts of the elements can be reduced to in turn."""

    def reduced(self, values: Array) -> Array:
        """Return what some values, or what became of parts of them, reduce to.

        Parameters
        ----------
        values : ndarray, shape (k,)
            One or more.

        Returns
        -------
        ndarray, shape ()
            One number.
        """
        raise NotImplementedError

    def expected(self, values: Array) -> Array:
        """The number, everywhere."""
        return np.broadcast_to(self.reduced(values), len(values))


class Sum(Reduction):
    """Every element becomes the sum of all.

    Parameters
    ----------
    dtype : dtype
        Of the numbers. Floating-point sums are right within `tolerance`, integers wrap around.
    """

    name = "sum"

    def __init__(self, dtype: DTypeLike = np.int64):
        self.dtype = np.dtype(dtype)

    @looped(np.int64, sum_runs)
    def oper(self, j: int, i: Ints, low: Array, high: Array) -> tuple[Array, Array]:
        """Both become the sum."""
        total = low + high
        return total, total

    def reduced(self, values: Array) -> Array:
        """One pass of NumPy's sum."""
        return np.asarray(values.sum(dtype=self.dtype))


class Minimum(Reduction):
    """Every element becomes the least of all.

    Parameters
    ----------
    dtype : dtype
        Of the numbers.
    """

    name = "min"

    def __init__(self, dtype: DTypeLike = np.int64):
        self.dtype = np.dtype(dtype)

    @looped(np.int64, least_of_runs)
    def oper(self, j: int, i: Ints, low: Array, high: Array) -> tuple[Array, Array]:
        """Both become the lesser one."""
        least = np.minimum(low, high)
        return least, least

    def draw(self, seed: int, q: int, index: Ints) -> Array:
        """Numbers far enough apart for one to be the least."""
        return drawn(seed, index)

    def reduced(self, values: Array) -> Array:
        """One pass of NumPy's minimum."""
        return np.asarray(values.astype(self.dtype).min())
