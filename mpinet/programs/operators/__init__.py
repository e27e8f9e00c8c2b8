"""Operators of ASCEND and DESCEND, by name. Each file has one operator, or several related ones."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from mpinet.base.meant import hint
from mpinet.errors import UsageError

if TYPE_CHECKING:
    from mpinet.programs.operators.operator import Operator as Operator
    from mpinet.programs.operators.operator import Pass as Pass
    from mpinet.programs.operators.operator import bits_above as bits_above
    from mpinet.programs.operators.operator import bits_below as bits_below

OPERATORS = {
    "sum": "mpinet.programs.operators.reduction:Sum",
    "min": "mpinet.programs.operators.reduction:Minimum",
    "prefix": "mpinet.programs.operators.prefix:AffinePrefix",
    "prefix-sum": "mpinet.programs.operators.prefix:SumPrefix",
    "fft": "mpinet.programs.operators.fourier:FourierTransform",
    "bitonic-merge": "mpinet.programs.operators.bitonic:BitonicMerge",
    "bitonic-sort": "mpinet.programs.operators.bitonic:BitonicSort",
    "odd-even-merge": "mpinet.programs.operators.oddeven:OddEvenMerge",
    "shift": "mpinet.programs.operators.permuting:CyclicShift",
    "shuffle": "mpinet.programs.operators.permuting:Shuffle",
    "unshuffle": "mpinet.programs.operators.permuting:Unshuffle",
    "transpose": "mpinet.programs.operators.permuting:Transposition",
}
"""Module and class of each operator, by name."""

PARAMETERS = {"shift": "C", "transpose": "ROWSxCOLUMNS"}
"""Parameters after an operator's name on the command line, by name, as in ``shift:C``."""


def open_operator(name: str) -> Operator:
    """Return the operator named by a string.

    Parameters
    ----------
    name : str
        ``NAME`` or ``NAME:PARAMETERS`` for one of `OPERATORS`. For a user-defined operator:
        ``module.path:Class`` or ``path/file.py:Class``, optionally with ``:PARAMETERS`` for its
        `Operator.read`.

    Raises
    ------
    UsageError
        The operator does not exist, or does not accept these parameters.
    """
    known, _, text = name.partition(":")
    if known in OPERATORS:
        return operator_class(known).read(text)
    if ":" in name:
        from mpinet.programs.operators.own import open_own_operator

        return open_own_operator(name)
    own = "and your own as path/file.py:Class or module:Class."
    there_are = f"The operators are {', '.join(listed())}, {own}"
    raise UsageError(f"There is no operator {name!r}: {hint(name, OPERATORS, 2, after=there_are)}")


def operator_class(name: str) -> type[Operator]:
    """Return the class of one of `OPERATORS`."""
    module, _, cls = OPERATORS[name].partition(":")
    found: type[Operator] = getattr(import_module(module), cls)
    return found


def listed() -> list[str]:
    """Return the names of `OPERATORS`, with optional parameters in brackets."""
    return [f"{name}[:{PARAMETERS[name]}]" if name in PARAMETERS else name for name in OPERATORS]


__all__ = ["OPERATORS", "Operator", "Pass", "bits_above", "bits_below", "open_operator"]

if not TYPE_CHECKING:  # help lists the names without NumPy

    def __getattr__(name: str) -> object:
        """Load a name of the operators' module at its first use."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module("mpinet.programs.operators.operator"), name)
