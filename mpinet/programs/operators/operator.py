"""Operators of ASCEND and DESCEND: a program of passes, and its serial counterpart.

A user-defined operator is a subclass of `Operator` with a `name`, the rule `oper` and the serial
computation `expected`. The other methods are needed if elements are more than a number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from mpinet.base.arrays import Array, Flags, Ints
from mpinet.compiled import kernel
from mpinet.draws import draw
from mpinet.errors import UsageError

Oper = Callable[[int, Ints, Array, Array], tuple[Array, Array]]
Swaps = Callable[[int, Ints], Flags]
T = TypeVar("T")

ASCEND, DESCEND = "ascend", "descend"
KINDS = (ASCEND, DESCEND)


@dataclass(frozen=True, eq=False)
class Pass:
    """One sweep over a range of dimensions."""

    kind: str
    """``"ascend"``: dimensions low, .., high-1; ``"descend"``: high-1, .., low."""
    low: int
    """Lowest dimension of the sweep, 0 <= low <= high."""
    high: int
    """First dimension above the sweep, low <= high <= q."""
    oper: Oper
    """Function that computes the new states, see `Operator.oper`."""

    @property
    def dimensions(self) -> range:
        """Dimensions in the order of the pass."""
        upwards = range(self.low, self.high)
        return upwards if self.kind == ASCEND else upwards[::-1]

    @property
    def name(self) -> str:
        """Kind, and first and last dimension."""
        if not self.dimensions:
            return self.kind
        return f"{self.kind} {self.dimensions[0]}..{self.dimensions[-1]}"


@dataclass(frozen=True, eq=False)
class Loop:
    """An `Operator.oper` as a compiled, in-place loop over runs of pairs, same results."""

    dtype: np.dtype[Any]
    """Type of the states; states of other types use `oper`."""
    body: Callable[[int, Array, Array, int, int, int, int], None]
    """``body(j, low, high, first, groups, pitch, run)`` replaces states in place. For g < groups
    and k < run, these are the entries g * pitch + k of `low` and `high`. They belong to the
    elements i = first + g * pitch + k and i + 2^j.
    """


def looped(dtype: DTypeLike, body: Callable[..., None]) -> Callable[[T], T]:
    """Return a decorator that attaches a loop to an `Operator.oper`.

    A method that overrides the `oper` has no loop.
    """

    def with_loop(oper: T) -> T:
        vars(oper)["loop"] = Loop(np.dtype(dtype), body)
        return oper

    return with_loop


def loop_of(oper: Oper, state: Array) -> Loop | None:
    """Return the loop of an operator for states of this type, or None."""
    loop: Loop | None = getattr(oper, "loop", None)
    if loop is None or loop.dtype != state.dtype or not state.flags.c_contiguous:
        return None
    return loop


class Operator:
    """An operator on 2^q elements, element i at address i.

    All element states have one fixed-size dtype. In each of its dimensions j, a pass replaces the
    states (a_i, a_(i + 2^j)) by ``oper(j, i, a_i, a_(i + 2^j))``, for all i with bit j = 0. The
    definition follows Preparata and Vuillemin (1981).

    Examples
    --------
    >>> class Product(Operator):
    ...     name = "product"
    ...     def oper(self, j, i, low, high):
    ...         product = low * high % 97
    ...         return product, product
    ...     def expected(self, values):
    ...         result = 1
    ...         for value in values.tolist():
    ...             result = result * value % 97
    ...         return np.full(len(values), result)
    """

    name: str = ""
    """Name of the operator in results."""
    dtype: np.dtype[Any] = np.dtype(np.int64)
    """Type of the elements' states."""
    kinds: ClassVar[tuple[str, ...]] = KINDS
    """Forms of the operator: ``"ascend"``, ``"descend"``."""
    tolerance: float = 1e-10
    """Largest error of a floating-point result, relative to the largest expected magnitude. Results
    of all other types must be exact.
    """

    @classmethod
    def read(cls, text: str) -> Operator:
        """Return the operator for the parameters that follow its name on the command line.

        Parameters
        ----------
        text : str
            Text after ``NAME:``, possibly empty.

        Raises
        ------
        UsageError
            The parameters are invalid for the operator.
        """
        if text:
            raise UsageError(
                f"The operator {cls.name or cls.__name__} takes no parameters: {text!r} is given."
            )
        return cls()

    def oper(self, j: int, i: Ints, low: Array, high: Array) -> tuple[Array, Array]:
        """Combine pairs of elements of dimension j.

        Parameters
        ----------
        j : int
            The dimension.
        i : ndarray of int64, shape (k,) or (g, 2^j)
            Lower element of each pair: bit j is 0. In the second shape a row holds all pairs with
            equal bits above j (see `bits_below` and `bits_above`).
        low, high : ndarray of the operator's dtype, shape of `i`
            States of the elements i and i + 2^j.

        Returns
        -------
        low, high : ndarray, shape of `i`
            The new states. They must depend on each pair alone: both of its processors compute both
            states, and each keeps its own.
        """
        raise NotImplementedError

    def expected(self, values: Array) -> Array:
        """Return the results of a serial algorithm that does not use dimensions.

        Parameters
        ----------
        values : ndarray, shape (2^q, ..)
            All input values.

        Returns
        -------
        ndarray, shape (2^q, ..)
            All results.
        """
        raise NotImplementedError

    def passes(self, kind: str, q: int) -> Sequence[Pass]:
        """Return the operator's program: by default one pass over all dimensions with `oper`.

        Parameters
        ----------
        kind : str
            Form of the program: ``"ascend"`` or ``"descend"``.
        q : int
            Number of dimensions, for 2^q elements.

        Raises
        ------
        UsageError
            The operator does not have this form.
        """
        self.require_form(kind)
        return [Pass(kind, 0, q, self.oper)]

    def draw(self, seed: int, q: int, index: Ints) -> Array:
        """Return default input values, which depend only on the seed and the number of the value.

        Parameters
        ----------
        seed : int
            Seed of the run.
        q : int
            Number of dimensions, for 2^q values.
        index : ndarray of int64, shape (k,)
            Numbers of the requested values.

        Returns
        -------
        ndarray, shape (k, ..)
            By default numbers 0..2^20-1.
        """
        return drawn(seed, index) & 0xFFFFF

    def prepare(self, values: Array) -> Array:
        """Return the elements' initial states for their input values.

        Raises
        ------
        UsageError
            The values do not fit the operator's dtype.
        """
        return fitted(self.name, values, self.dtype)

    def finish(self, state: Array) -> Array:
        """Return the elements' results for their final states."""
        return state

    def reads(self, kind: str, q: int, index: Ints) -> Ints:
        """Return the numbers of the input values at the addresses `index` before the first pass."""
        return index

    def holds(self, kind: str, q: int, index: Ints) -> Ints:
        """Return the numbers of the results at the addresses `index` after the last pass."""
        return index

    def require_form(self, kind: str) -> None:
        """Raise `UsageError` unless the operator has this form."""
        if kind not in KINDS:
            raise UsageError(f"There is no pass of kind {kind!r}: give {' or '.join(KINDS)}.")
        if kind not in self.kinds:
            raise UsageError(
                f"The operator {self.name} has no {kind} form; it has: {', '.join(self.kinds)}."
            )


def exchange_where(swaps: Swaps, j: int, i: Ints, low: Array, high: Array) -> tuple[Array, Array]:
    """Exchange the pairs with ``swaps(j, i)`` True; `partial` makes an `Operator.oper` of this."""
    swap = swaps(j, i)
    return np.where(swap, high, low), np.where(swap, low, high)


def bits_below(j: int, i: Ints) -> Ints:
    """Return the bits of `i` below bit j, in a shape that broadcasts to the shape of `i`."""
    return (i[:1] if i.ndim == 2 else i) & ((1 << j) - 1)


def bits_above(j: int, i: Ints) -> Ints:
    """Return ``i >> (j + 1)``, in a shape that broadcasts to the shape of `i`."""
    return (i[:, :1] if i.ndim == 2 else i) >> (j + 1)


def fitted(name: str, values: Array, dtype: DTypeLike) -> Array:
    """Return a new array of the values as `dtype`.

    Raises
    ------
    UsageError
        The conversion would lose more than precision; the error names the operator `name`.
    """
    values = np.asarray(values)
    if not np.can_cast(values.dtype, dtype, "same_kind"):
        raise UsageError(
            f"The operator {name} works on {np.dtype(dtype)}; values of type {values.dtype} do "
            "not fit into it."
        )
    return values.astype(dtype)


def reversed_bits(index: Ints, q: int) -> Ints:
    """Return the numbers with the q bits of `index` in reverse order."""
    result = np.zeros_like(index)
    for bit in range(q):
        result = (result << 1) | ((index >> bit) & 1)
    return result


def drawn(seed: int, index: Ints, column: int = 0) -> Ints:
    """Return 62 random bits for each number of `index`, from seed, number and column."""
    values = np.empty(len(index), np.int64)
    draw_numbers(seed, np.ascontiguousarray(index, np.int64), column, values)
    return values


@kernel
def draw_numbers(seed: int, index: Ints, column: int, values: Ints) -> None:
    """Write a random number for each index."""
    for k in range(index.size):
        values[k] = draw(seed, int(index[k]), column)
