"""The operators of ASCEND and DESCEND: a program of passes, and its serial counterpart.

A user's own operator is a subclass of `Operator` with a `name`, the rule `oper` and the serial
computation `expected`; the other methods are for those whose elements are more than a number.
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
        """The dimensions in the order of the pass."""
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
    """An `Operator.oper` as a compiled loop over runs of pairs, in place: the same, bit by bit."""

    dtype: np.dtype[Any]
    """The states that it is for; states of another type go to the `oper`."""
    body: Callable[[int, Array, Array, int, int, int, int], None]
    """``body(j, low, high, first, groups, pitch, run)`` replaces, for g < groups and k < run, the
    states at place g * pitch + k of `low` and `high`: those of the elements i = first + g * pitch +
    k and i + 2^j."""


def looped(dtype: DTypeLike, body: Callable[..., None]) -> Callable[[T], T]:
    """Give an `Operator.oper` a loop; one that overrides it has none."""

    def with_loop(oper: T) -> T:
        vars(oper)["loop"] = Loop(np.dtype(dtype), body)
        return oper

    return with_loop


def loop_of(oper: Oper, state: Array) -> Loop | None:
    """The loop of an operator for such states, if it has one."""
    loop: Loop | None = getattr(oper, "loop", None)
    if loop is None or loop.dtype != state.dtype or not state.flags.c_contiguous:
        return None
    return loop


class Operator:
    """An operator on 2^q elements, element i at address i.

    Element states are all of one fixed-size dtype. A pass replaces, dimension after dimension, the
    states (a_i, a_(i + 2^j)) by ``oper(j, i, a_i, a_(i + 2^j))`` for all i whose bit j is 0
    (Preparata and Vuillemin 1981).

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
    """The elements' states."""
    kinds: ClassVar[tuple[str, ...]] = KINDS
    """The forms that it has: ``"ascend"``, ``"descend"``."""
    tolerance: float = 1e-10
    """Largest error of a floating-point result, relative to the largest expected magnitude. Results
    of all other types have to be exact."""

    @classmethod
    def read(cls, text: str) -> Operator:
        """The operator with the parameters that follow its name on the command line.

        Parameters
        ----------
        text : str
            What is typed after ``NAME:``; '' = nothing.

        Raises
        ------
        UsageError
            These are no parameters of the operator.
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
            The lower element of each pair: bit j is 0. In the second shape a row holds all pairs
            that agree in the bits above j (see `bits_below` and `bits_above`).
        low, high : ndarray of the operator's dtype, shape of `i`
            States of the elements i and i + 2^j.

        Returns
        -------
        low, high : ndarray, shape of `i`
            The new states. They must depend on each pair alone: both of its processors work them
            out, and either keeps its own.
        """
        raise NotImplementedError

    def expected(self, values: Array) -> Array:
        """Do the same serially, by an algorithm that has nothing to do with dimensions.

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
        """The operator's program: by default one pass over all dimensions with `oper`.

        Parameters
        ----------
        kind : str
            ``"ascend"`` or ``"descend"``: the form.
        q : int
            There are 2^q elements.

        Raises
        ------
        UsageError
            The operator has no such form.
        """
        self.require_form(kind)
        return [Pass(kind, 0, q, self.oper)]

    def draw(self, seed: int, q: int, index: Ints) -> Array:
        """Input values where the user gives none: a function of the seed and the number.

        Parameters
        ----------
        seed : int
            The run's seed.
        q : int
            There are 2^q values.
        index : ndarray of int64, shape (k,)
            The numbers of the values that are wanted.

        Returns
        -------
        ndarray, shape (k, ..)
            By default numbers 0..2^20-1.
        """
        return drawn(seed, index) & 0xFFFFF

    def prepare(self, values: Array) -> Array:
        """The elements' states at the start, from their input values.

        Raises
        ------
        UsageError
            The values do not fit the operator's dtype.
        """
        return fitted(self.name, values, self.dtype)

    def finish(self, state: Array) -> Array:
        """The elements' results, from their states at the end."""
        return state

    def reads(self, kind: str, q: int, index: Ints) -> Ints:
        """The numbers of the input values that stand at the addresses `index` at the start."""
        return index

    def holds(self, kind: str, q: int, index: Ints) -> Ints:
        """The numbers of the results that stand at the addresses `index` at the end."""
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
    """Exchange the pairs for which ``swaps(j, i)`` holds: an `Operator.oper` by `partial`."""
    swap = swaps(j, i)
    return np.where(swap, high, low), np.where(swap, low, high)


def bits_below(j: int, i: Ints) -> Ints:
    """The bits of `i` below bit j, in a shape that broadcasts against that of `i`."""
    return (i[:1] if i.ndim == 2 else i) & ((1 << j) - 1)


def bits_above(j: int, i: Ints) -> Ints:
    """``i >> (j + 1)``, in a shape that broadcasts against that of `i`."""
    return (i[:, :1] if i.ndim == 2 else i) >> (j + 1)


def fitted(name: str, values: Array, dtype: DTypeLike) -> Array:
    """A fresh array of the values as `dtype`.

    Raises
    ------
    UsageError
        They would lose more than digits; `name` says which operator does not take them.
    """
    values = np.asarray(values)
    if not np.can_cast(values.dtype, dtype, "same_kind"):
        raise UsageError(
            f"The operator {name} works on {np.dtype(dtype)}; values of type {values.dtype} do "
            "not fit into it."
        )
    return values.astype(dtype)


def reversed_bits(index: Ints, q: int) -> Ints:
    """The numbers whose q bits are those of `index` in reverse."""
    result = np.zeros_like(index)
    for bit in range(q):
        result = (result << 1) | ((index >> bit) & 1)
    return result


def drawn(seed: int, index: Ints, column: int = 0) -> Ints:
    """62 random bits each for the numbers `index`: a function of seed, number and column."""
    values = np.empty(len(index), np.int64)
    draw_numbers(seed, np.ascontiguousarray(index, np.int64), column, values)
    return values


@kernel
def draw_numbers(seed: int, index: Ints, column: int, values: Ints) -> None:
    """Draw a number for each index."""
    for k in range(index.size):
        values[k] = draw(seed, int(index[k]), column)
