"""Operators of ASCEND and DESCEND: the table by name. An operator, or close relatives, a file."""

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
"""Operator name -> module and class."""

PARAMETERS = {"shift": "C", "transpose": "ROWSxCOLUMNS"}
"""Operator name -> parameters that may follow it on the command line, as in ``shift:C``."""


def open_operator(name: str) -> Operator:
    """The operator that a string names.

    Parameters
    ----------
    name : str
        ``NAME`` or ``NAME:PARAMETERS`` for one of `OPERATORS`; ``module.path:Class`` or
        ``path/file.py:Class``, with ``:PARAMETERS`` for its `Operator.read`, for a user's own.

    Raises
    ------
    UsageError
        There is none, or it has not these parameters.
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
    """The class of one of `OPERATORS`."""
    module, _, cls = OPERATORS[name].partition(":")
    found: type[Operator] = getattr(import_module(module), cls)
    return found


def listed() -> list[str]:
    """The names of `OPERATORS`, with what may follow in brackets."""
    return [f"{name}[:{PARAMETERS[name]}]" if name in PARAMETERS else name for name in OPERATORS]


__all__ = ["OPERATORS", "Operator", "Pass", "bits_above", "bits_below", "open_operator"]

if not TYPE_CHECKING:  # help lists the names, and needs no NumPy

    def __getattr__(name: str) -> object:
        """Load a name of the module on operators where it is first used."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module("mpinet.programs.operators.operator"), name)
