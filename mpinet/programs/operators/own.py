"""User-defined operators, named by module (or file) and class."""

from __future__ import annotations

import inspect

import numpy as np

from mpinet.base.blame import blaming, describe
from mpinet.errors import FileError, MpinetError, RuleError, TopologyFileError, UsageError
from mpinet.networks.own import import_from
from mpinet.programs.operators.operator import KINDS, Operator


def open_own_operator(name: str) -> Operator:
    """Return an operator of a user-defined class.

    Parameters
    ----------
    name : str
        ``module.path:Class`` or ``path/file.py:Class``, and ``:PARAMETERS`` for `Operator.read`.

    Raises
    ------
    UsageError
        The module, the file or the class does not exist, or the class is not an operator.
    RuleError
        The class raises an error.
    """
    place, _, rest = name.partition(":")
    class_name, _, text = rest.partition(":")
    try:
        module = import_from(place)
    except TopologyFileError as error:
        raise FileError(f"There is no operator {name!r}: {error}") from None
    cls = getattr(module, class_name, None)
    where = f"{place}:{class_name}"
    if cls is None:
        raise UsageError(f"{place} has no class {class_name!r}.")
    # A missing rule is found before the machine is made. During a run the rule would fail on every
    # rank with a traceback.
    require_operator(cls, where)
    try:
        inspect.signature(cls.read).bind(text)
        operator: Operator = cls.read(text)
    except MpinetError:
        raise
    except (TypeError, ValueError) as error:
        raise UsageError(f"{where} could not be made: {error}.") from error
    except BaseException as error:  # a class may raise anything, even KeyboardInterrupt
        raise RuleError(f"{where} could not be made: {describe(error)}.") from error
    if not operator.name:
        operator.name = class_name
    with blaming(cls, where):
        if not isinstance(operator.dtype, np.dtype):
            operator.dtype = np.dtype(operator.dtype)
        if not set(operator.kinds) <= set(KINDS):
            raise RuleError(f"{where}: kinds are {' and '.join(KINDS)}, not {operator.kinds!r}.")
    return operator


def require_operator(cls: object, where: str) -> None:
    """Raise `UsageError` unless this is a class of complete operators."""
    if not (isinstance(cls, type) and issubclass(cls, Operator)):
        raise UsageError(f"{where} must be a subclass of mpinet.programs.operators.Operator.")
    if cls.oper is Operator.oper and cls.passes is Operator.passes:
        raise UsageError(f"{where} lacks the rule 'oper'.")
    if cls.expected is Operator.expected:
        raise UsageError(f"{where} lacks the serial computation 'expected'.")
