"""Prefixes of an associative, possibly non-commutative operation: a test of the order of operands.

An element carries the total of its subcube and the prefix within the subcube (docs/papers/gmn, 8).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import DTypeLike

from mpinet.base.arrays import Array, Ints, Table
from mpinet.compiled import kernel
from mpinet.programs.operators.operator import ASCEND, Operator, drawn, fitted

PRIME = 2**31 - 1
"""Modulus of the affine maps: products of two residues fit into 64 bits."""

AFFINE = np.dtype([("factor", np.int64), ("shift", np.int64)])
"""Type of the map x -> factor * x + shift modulo `PRIME`."""


class Prefix(Operator):
    """Prefix operator: element i becomes a_0 o a_1 o .. o a_i for an associative operation o.

    A subclass gives the operation as `combine` and the serial computation as `expected`.

    Parameters
    ----------
    item : dtype
        Type of the values.
    """

    kinds: ClassVar[tuple[str, ...]] = (ASCEND,)

    def __init__(self, item: DTypeLike):
        self.item = np.dtype(item)
        self.dtype = np.dtype([("total", self.item), ("prefix", self.item)])

    def combine(self, first: Array, second: Array) -> Array:
        """Return ``first o second`` for arrays of values of equal shape."""
        raise NotImplementedError

    def prepare(self, values: Array) -> Array:
        """Return the initial states: total and prefix of one element are its value."""
        state = np.empty(len(values), self.dtype)
        state["total"] = state["prefix"] = fitted(self.name, values, self.item)
        return state

    def oper(self, j: int, i: Ints, low: Array, high: Array) -> tuple[Array, Array]:
        """Combine the lower subcube, which comes first, with the upper one."""
        new_low, new_high = np.empty(low.shape, self.dtype), np.empty(low.shape, self.dtype)
        new_low["total"] = new_high["total"] = self.combine(low["total"], high["total"])
        new_low["prefix"] = low["prefix"]
        new_high["prefix"] = self.combine(low["total"], high["prefix"])
        return new_low, new_high

    def finish(self, state: Array) -> Array:
        """Return the prefixes."""
        return state["prefix"].copy()


class AffinePrefix(Prefix):
    """Prefixes of the composition of affine maps modulo 2^31 - 1, which does not commute.

    ``f o g`` is the map that applies f first: x -> g(f(x)).
    """

    name = "prefix"

    def __init__(self) -> None:
        super().__init__(AFFINE)

    def draw(self, seed: int, q: int, index: Ints) -> Array:
        """Return random maps, none of them constant."""
        maps = np.empty(len(index), AFFINE)
        maps["factor"] = drawn(seed, index, 0) % (PRIME - 1) + 1
        maps["shift"] = drawn(seed, index, 1) % PRIME
        return maps

    def combine(self, first: Array, second: Array) -> Array:
        """Return the map that applies `first` first."""
        both = np.empty(first.shape, AFFINE)
        both["factor"] = first["factor"] * second["factor"] % PRIME
        both["shift"] = (first["shift"] * second["factor"] + second["shift"]) % PRIME
        return both

    def expected(self, values: Array) -> Array:
        """Return the prefixes, computed one map after the other."""
        results = np.ascontiguousarray(values).view(np.int64).reshape(-1, 2).copy()
        compose_in_order(results)
        return results.view(AFFINE).reshape(-1)


class SumPrefix(Prefix):
    """Prefix sums.

    Parameters
    ----------
    item : dtype
        Type of the numbers.
    """

    name = "prefix-sum"

    def __init__(self, item: DTypeLike = np.int64):
        super().__init__(item)

    def combine(self, first: Array, second: Array) -> Array:
        """Return the sum."""
        return first + second

    def expected(self, values: Array) -> Array:
        """Return NumPy's cumulative sum."""
        return np.cumsum(values, dtype=self.item)


@kernel
def compose_in_order(maps: Table) -> None:
    """Replace every map by its composition with all earlier maps, from its values at 0 and 1."""
    # The values at 0 and 1 determine an affine map. This computes prefixes without `combine`, which
    # is under test.
    at_zero, at_one = 0, 1
    for k in range(maps.shape[0]):
        factor, shift = maps[k, 0], maps[k, 1]
        at_zero = (factor * at_zero + shift) % PRIME
        at_one = (factor * at_one + shift) % PRIME
        maps[k, 0] = (at_one - at_zero) % PRIME
        maps[k, 1] = at_zero
