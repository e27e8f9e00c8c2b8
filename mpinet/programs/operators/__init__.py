"""Operators of ASCEND and DESCEND: the table by name. An operator, or close relatives, a file."""

from __future__ import annotations

import difflib
from importlib import import_module

from mpinet.errors import UsageError
from mpinet.programs.operators.operator import Operator, Pass, bits_above, bits_below

OPERATORS = {
    "sum": "mpinet.programs.operators.reduction:Sum",
    "min": "mpinet.programs.operators.reduction:Minimum",
    "prefix": "mpinet.programs.operators.prefix:AffinePrefix",
    "prefix-sum": "mpinet.programs.operators.prefix:SumPrefix",
    "fft": "mpinet.programs.operators.fourier:FourierTransform",
    "bitonic-merge": "mpinet.programs.operators.bitonic:BitonicMerge",
    "bitonic-sort": "mpinet.programs.operators.bitonic:BitonicSort",
}
"""Operator name -> module and class."""


def open_operator(name: str) -> Operator:
    """The operator of this name.

    Raises
    ------
    UsageError
        There is none.
    """
    if name not in OPERATORS:
        close = difflib.get_close_matches(name.lower(), OPERATORS, n=2, cutoff=0.6)
        hint = f"did you mean {' or '.join(close)}? " if close else ""
        raise UsageError(
            f"There is no operator {name!r}: {hint}The operators are {', '.join(OPERATORS)}."
        )
    module, _, cls = OPERATORS[name].partition(":")
    operator: Operator = getattr(import_module(module), cls)()
    return operator


__all__ = ["OPERATORS", "Operator", "Pass", "bits_above", "bits_below", "open_operator"]
