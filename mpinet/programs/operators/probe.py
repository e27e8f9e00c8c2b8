"""The test whether an operator keeps to its pair: what it makes of pairs alone and among others.

An operator gets many pairs at a time, as many as a rank happens to host: one that looks at others
than its own would come to something else on another number of ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mpinet.base.arrays import Array, Flags, Ints
from mpinet.errors import UsageError
from mpinet.programs.operators.operator import Oper, Pass

PROBES = 64
"""Most dimensions of a program that are tried."""

SIDE = 32
"""Most rows, and most pairs in a row, that an operator is given in a trial."""

SLACK = 2**16
"""Units in the last place by which floating-point results may differ that should be the same."""


def require_pairwise(
    name: str, program: Sequence[Pass], q: int, states: Callable[[Ints], Array]
) -> None:
    """Try an operator, in the same way on all ranks, on pairs alone and among others.

    Parameters
    ----------
    name : str
        The operator's.
    program : sequence of Pass
        Its passes over 2^q elements; of very many dimensions some are tried.
    states : callable
        ``states(index)``: states of these elements to try it on.

    Raises
    ------
    UsageError
        What it makes of a pair depends on the others.
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
                f"The operator {name} looks beyond its pair: what it makes of the elements {wrong} "
                f"and {wrong + (1 << j)} in dimension {j} depends on the other pairs that it is "
                "given with them."
            )


def same_states(some: Array, others: Array) -> Flags:
    """Tell which states are the same, but for rounding; shape (k,)."""
    if some.dtype.names:
        parts = [same_states(some[name], others[name]) for name in some.dtype.names]
        return np.logical_and.reduce(parts)
    same = some == others
    # Vectorised code may round differently for one pair than for many. Such differences are no sign
    # of a look at other pairs.
    if np.issubdtype(some.dtype, np.inexact):
        margin = SLACK * np.finfo(some.dtype).eps * np.abs(others).max(initial=0)
        same = same | (np.abs(some - others) <= margin) | ((some != some) & (others != others))
    return same.reshape(len(same), -1).all(axis=1)


def _lower_elements(j: int, q: int) -> Ints:
    """Lower elements of pairs of dimension j, as rows that agree in the bits above j."""
    rows, columns = 1 << (q - 1 - j), 1 << j
    above = np.arange(min(rows, SIDE)) * max(1, rows // SIDE)
    below = np.arange(min(columns, SIDE)) * max(1, columns // SIDE)
    return (above[:, np.newaxis] << (j + 1)) + below


def _first_dependent(oper: Oper, j: int, i: Ints, low: Array, high: Array) -> int | None:
    """The first of some pairs whose results depend on the others; None = there is none."""
    try:
        among = [_flat(oper(j, i, low.copy(), high.copy()), i.size)]
        i, low, high = i.ravel(), low.ravel(), high.ravel()
        among.append(_flat(oper(j, i, low.copy(), high.copy()), i.size))
        # An operator that looks at its neighbours in the array differs at an end or in the middle.
        # Four places find it cheaply.
        for at in sorted({0, i.size // 3, i.size // 2, i.size - 1}):
            pair = slice(at, at + 1)
            alone = _flat(oper(j, i[pair], low[pair].copy(), high[pair].copy()), 1)
            for results in among:
                pairs = zip(results, alone, strict=True)
                if not all(same_states(whole[pair], single).all() for whole, single in pairs):
                    return int(i[at])
    except Exception:  # the run itself will tell, if it comes to this
        return None
    return None


def _flat(results: tuple[Array, Array], count: int) -> list[Array]:
    """Both results as rows, a pair each."""
    return [np.asarray(result).reshape(count) for result in results]
