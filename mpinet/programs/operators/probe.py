"""Test of an operator's independence: results of pairs alone and among other pairs must agree.

An operator gets many pairs at a time, depending on the number of processors per rank. The results
of an operator that uses other pairs would depend on the number of ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mpinet.base.arrays import Array, Flags, Ints
from mpinet.errors import UsageError
from mpinet.programs.operators.operator import Oper, Pass

PROBES = 64
"""Maximum number of dimensions of a program to test."""

SIDE = 32
"""Maximum number of rows, and of pairs per row, given to an operator in a test."""

SLACK = 2**16
"""Tolerance for equal floating-point results, in units in the last place."""


def require_pairwise(
    name: str, program: Sequence[Pass], q: int, states: Callable[[Ints], Array]
) -> None:
    """Test an operator, in the same way on all ranks, on pairs alone and among other pairs.

    Parameters
    ----------
    name : str
        Name of the operator.
    program : sequence of Pass
        Passes over 2^q elements; only some of very many dimensions are tested.
    states : callable
        ``states(index)`` returns states of the elements `index` for the test.

    Raises
    ------
    UsageError
        The result of a pair depends on other pairs.
    """
    trials = [(sweep.oper, j) for sweep in program for j in sweep.dimensions]
    chosen = np.linspace(0, len(trials) - 1, min(PROBES, len(trials))).astype(int)
    for oper, j in (trials[number] for number in chosen):
        i = _lower_elements(j, q)
        low = states(i.ravel()).reshape(i.shape)
        high = states(i.ravel() + (1 << j)).reshape(i.shape)
        wrong = _first_dependent(oper, j, i, low, high)
        if wrong is not None:
            raise UsageError(
                f"The operator {name} looks beyond its pair: its results for the elements {wrong} "
                f"and {wrong + (1 << j)} in dimension {j} depend on the other pairs of the call."
            )


def same_states(some: Array, others: Array) -> Flags:
    """Return True for equal states, apart from rounding; shape (k,)."""
    if some.dtype.names:
        parts = [same_states(some[name], others[name]) for name in some.dtype.names]
        return np.logical_and.reduce(parts)
    same = some == others
    # Vectorised code may round differently for one pair than for many. Such differences do not mean
    # that the operator uses other pairs.
    if np.issubdtype(some.dtype, np.inexact):
        margin = SLACK * np.finfo(some.dtype).eps * np.abs(others).max(initial=0)
        same = same | (np.abs(some - others) <= margin) | ((some != some) & (others != others))
    return same.reshape(len(same), -1).all(axis=1)


def _lower_elements(j: int, q: int) -> Ints:
    """Return lower elements of pairs in dimension j, in rows with equal bits above j."""
    rows, columns = 1 << (q - 1 - j), 1 << j
    above = np.arange(min(rows, SIDE)) * max(1, rows // SIDE)
    below = np.arange(min(columns, SIDE)) * max(1, columns // SIDE)
    return (above[:, np.newaxis] << (j + 1)) + below


def _first_dependent(oper: Oper, j: int, i: Ints, low: Array, high: Array) -> int | None:
    """Return the first tested pair whose result depends on other pairs, or None."""
    try:
        among = [_flat(oper(j, i, low.copy(), high.copy()), i.size)]
        i, low, high = i.ravel(), low.ravel(), high.ravel()
        among.append(_flat(oper(j, i, low.copy(), high.copy()), i.size))
        # An operator that uses its neighbours in the array differs at an end or in the middle. Four
        # positions find the difference cheaply.
        for at in sorted({0, i.size // 3, i.size // 2, i.size - 1}):
            pair = slice(at, at + 1)
            alone = _flat(oper(j, i[pair], low[pair].copy(), high[pair].copy()), 1)
            for results in among:
                pairs = zip(results, alone, strict=True)
                if not all(same_states(whole[pair], single).all() for whole, single in pairs):
                    return int(i[at])
    except Exception:  # the run itself will report the error
        return None
    return None


def _flat(results: tuple[Array, Array], count: int) -> list[Array]:
    """Return both results as arrays with one entry per pair."""
    return [np.asarray(result).reshape(count) for result in results]
