"""The discrete Fourier transform: decimation in time ascends, decimation in frequency descends.

The butterflies are compiled without fused operations. NumPy's complex product rounds differently at
different positions of an array, so results would depend on the number of ranks. All ranks need the
roots of unity; they are stored as products of a few roots.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mpinet.base.arrays import Array, Complexes, ComplexRows, ComplexViews, Ints, RowViews
from mpinet.compiled import Kernel, inlined, kernel, open_part
from mpinet.programs.operators.operator import (
    ASCEND,
    DESCEND,
    Operator,
    Pass,
    drawn,
    looped,
    reversed_bits,
)

FINE = 2**10
"""Maximum number of individually computed roots per dimension: they fit into the first-level
cache.
"""


class Roots(NamedTuple):
    """The roots exp(-2 pi sqrt(-1) k / 2^(j+1)) for k = 0..2^j-1, see `root`."""

    fine: Array
    """Roots of k < f, for a power f of two. Type: ndarray of complex128, shape (f,)."""
    coarse: Array
    """Roots of the multiples of f. Type: ndarray of complex128, shape (2^j / f,)."""


def unit_roots(j: int) -> Roots:
    """Return the roots of dimension j."""
    fine = min(1 << j, FINE)
    turns = -2j * np.pi / (2 << j)
    return Roots(np.exp(turns * np.arange(fine)), np.exp(turns * np.arange(0, 1 << j, fine)))


@inlined
def root(fine, coarse, k):
    """Return the root of number k."""
    return coarse[k // fine.size] * fine[k & (fine.size - 1)]


class FourierTransform(Operator):
    """The transform y_k = sum over i of x_i exp(-2 pi sqrt(-1) i k / 2^q) (docs/papers/gmn, 8).

    The ascend form takes its input in bit-reversed order and gives the output in natural order, the
    descend form the reverse.
    """

    name = "fft"
    dtype = np.dtype(np.complex128)
    tolerance = 1e-12

    def __init__(self) -> None:
        self._roots: dict[int, Roots] = {}

    def passes(self, kind: str, q: int) -> Sequence[Pass]:
        """Return one pass over all dimensions, each form with its butterfly."""
        self.require_form(kind)
        butterfly, butterflies = {
            ASCEND: (rotate_then_cross, rotate_then_cross_runs),
            DESCEND: (cross_then_rotate, cross_then_rotate_runs),
        }[kind]

        def in_runs(j: int, *runs: Any) -> None:
            butterflies(*self._unit_roots(j), *runs)

        @looped(self.dtype, in_runs)
        def oper(j: int, i: Ints, low: Array, high: Array) -> tuple[Array, Array]:
            return _apply(butterfly, self._unit_roots(j), i, low, high)

        return [Pass(kind, 0, q, oper)]

    def draw(self, seed: int, q: int, index: Ints) -> Array:
        """Return random complex numbers, real and imaginary parts uniform in [-1, 1)."""
        real, imaginary = (drawn(seed, index, part) / 2.0**61 - 1 for part in (0, 1))
        return real + 1j * imaginary

    def reads(self, kind: str, q: int, index: Ints) -> Ints:
        """Return the input numbers, bit-reversed if the pass ascends."""
        return reversed_bits(index, q) if kind == ASCEND else index

    def holds(self, kind: str, q: int, index: Ints) -> Ints:
        """Return the output numbers, bit-reversed if the pass descends."""
        return reversed_bits(index, q) if kind == DESCEND else index

    def expected(self, values: Array) -> Array:
        """Return NumPy's transform."""
        return np.fft.fft(values)

    def _unit_roots(self, j: int) -> Roots:
        """Return the roots of dimension j, computed once."""
        # The same roots serve every pass and all pairs of a rank. Sines and cosines are expensive
        # compared with a butterfly.
        if j not in self._roots:
            self._roots[j] = unit_roots(j)
        return self._roots[j]


def _apply(
    butterfly: Kernel, roots: Roots, i: Ints, low: Array, high: Array
) -> tuple[Array, Array]:
    """Run a butterfly's loop over pairs in any shape."""
    rows = low.shape if low.ndim == 2 else (1, low.size)
    new_low, new_high = np.empty(rows, np.complex128), np.empty(rows, np.complex128)
    butterfly(*roots, i.reshape(rows), low.reshape(rows), high.reshape(rows), new_low, new_high)
    return new_low.reshape(low.shape), new_high.reshape(low.shape)


@inlined
def turned(root_of_pair, value):
    """Return a number multiplied by its pair's root of unity."""
    return root_of_pair * value


@inlined
def unturned(root_of_pair, value):
    """Return a number unchanged."""
    return value


# Functions applied to the high number first, and to the difference at the end; `bind` sets them.
before = after = open_part


@kernel
def cross_pairs(
    fine: Complexes,
    coarse: Complexes,
    i: RowViews,
    low: ComplexViews,
    high: ComplexViews,
    new_low: ComplexRows,
    new_high: ComplexRows,
) -> None:
    """Write the butterflies of all pairs (low, high) to `new_low` and `new_high`.

    `i` holds the number of each pair's root of unity, modulo the number of roots. `bind` decides
    whether the root multiplies the high value first, or the difference at the end.
    """
    mask = fine.size * coarse.size - 1
    for row in range(i.shape[0]):
        for k in range(i.shape[1]):
            turn = root(fine, coarse, i[row, k] & mask)
            u, v = low[row, k], before(turn, high[row, k])
            new_low[row, k] = u + v
            new_high[row, k] = after(turn, u - v)


@kernel
def cross_runs(
    fine: Complexes,
    coarse: Complexes,
    low: Complexes,
    high: Complexes,
    first: int,
    groups: int,
    pitch: int,
    run: int,
) -> None:
    """Replace runs of pairs by their butterflies; all runs begin with the same root."""
    # The roots of a piece are written once and used for all groups. Otherwise each group would
    # multiply them anew.
    roots = np.empty_like(fine)
    turn = first & (fine.size * coarse.size - 1)
    done = 0
    while done < run:
        piece = write_roots(fine, coarse, turn + done, run - done, roots)
        for group in range(groups):
            begin = group * pitch + done
            for k in range(piece):
                u, v = low[begin + k], before(roots[k], high[begin + k])
                low[begin + k] = u + v
                high[begin + k] = after(roots[k], u - v)
        done += piece


@inlined
def write_roots(fine, coarse, first, most, roots):
    """Write the roots from number `first` to the next multiple of `fine.size`.

    Return their count.
    """
    begin = first & (fine.size - 1)
    count = min(fine.size - begin, most)
    turn = coarse[first // fine.size]
    for k in range(count):
        roots[k] = turn * fine[begin + k]
    return count


IN_TIME = {"before": turned, "after": unturned}
"""Decimation in time, (u + w v, u - w v): v is multiplied by the root w of the pair."""

IN_FREQUENCY = {"before": unturned, "after": turned}
"""Decimation in frequency, (u + v, w (u - v)): the difference is multiplied."""

rotate_then_cross = cross_pairs.bind("rotate_then_cross", **IN_TIME)
rotate_then_cross_runs = cross_runs.bind("rotate_then_cross_runs", **IN_TIME)
cross_then_rotate = cross_pairs.bind("cross_then_rotate", **IN_FREQUENCY)
cross_then_rotate_runs = cross_runs.bind("cross_then_rotate_runs", **IN_FREQUENCY)
