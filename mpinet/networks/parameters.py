"""Parameters of topology strings: names, notation and readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from mpinet.base.numerals import whole
from mpinet.errors import TopologyError

REQUIRED: Any = object()
"""Default of a parameter that must be given."""


class Limit(NamedTuple):
    """Largest value of a parameter that depends on other parameters."""

    text: str
    """Formula for display, in the names of parameters."""
    of: Callable[[Mapping[str, Any]], int]
    """Function that computes the limit from all values by name."""


class ParameterKind(NamedTuple):
    """Condition on a whole number beyond its range."""

    words: str
    """Adjective for the allowed numbers: ``even``."""
    holds: Callable[[int], bool]
    """Function that returns whether a number is allowed."""


EVEN = ParameterKind("even", lambda number: number % 2 == 0)
ODD = ParameterKind("odd", lambda number: number % 2 == 1)
POWER_OF_TWO = ParameterKind("a power of two", lambda number: number.bit_count() == 1)


@dataclass(frozen=True)
class Parameter:
    """Description of a family's parameter."""

    name: str
    """Name of the parameter: before ``=`` in a topology string, and as the class's argument."""
    allowed: str
    """Allowed values, in words: ``">= 3"``."""
    read: Callable[[str], Any]
    """Function from the text to the value; raises `ValueError` with a description of the error."""
    default: Any = REQUIRED
    """Default value; `REQUIRED` if the parameter must be given."""
    whole: bool = False
    """True if the parameter is the only one and takes the whole text with its commas, such as a
    file name.
    """
    least: int | None = None
    """Least value of a whole number that depends on no other parameter: see `whole_number`."""
    most: int | None = None
    """Largest value of a whole number that depends on no other parameter: see `whole_number`."""
    limit: Limit | None = None
    """Largest value that depends on other parameters: see `whole_number`."""
    kind: ParameterKind | None = None
    """Condition beyond the range: see `whole_number`."""


def whole_number(
    name: str,
    least: int,
    most: int | Limit | None = None,
    default: Any = REQUIRED,
    kind: ParameterKind | None = None,
) -> Parameter:
    """Return a parameter that is a whole number in a range, checked before `__init__`."""
    limit = most if isinstance(most, Limit) else None
    most = None if isinstance(most, Limit) else most
    allowed = _range(least, most) if limit is None else f"{least}..{limit.text}"
    if kind is not None:
        allowed = f"{kind.words}, {allowed}"
    return Parameter(
        name, allowed, integer, default, least=least, most=most, limit=limit, kind=kind
    )


integer = whole
"""Reader of a whole number."""


def sizes(text: str) -> tuple[int, ...]:
    """Read sizes joined by ``x``: ``8x8x8``."""
    return tuple(integer(part) for part in text.split("x"))


def dashed(text: str) -> tuple[int, ...]:
    """Read whole numbers joined by ``-``: ``1-4``."""
    return tuple(integer(part) for part in text.split("-"))


def require_ranges(family: str, parameters: Sequence[Parameter], given: Mapping[str, Any]) -> None:
    """Raise `TopologyError` unless whole numbers are in the ranges of their parameters.

    Parameters
    ----------
    family : str
        The family's name, for errors.
    parameters : sequence of Parameter
        The family's parameters.
    given : mapping
        Arguments by the parameters' names.
    """
    if any(
        parameter.default is REQUIRED and parameter.name not in given for parameter in parameters
    ):
        return  # Python names the missing argument.
    # Limits are formulas in other parameters, which are checked first.
    for parameter in sorted(parameters, key=lambda parameter: parameter.limit is not None):
        # A default may be None, which no range allows. Only arguments that a caller gives are
        # checked.
        value = given.get(parameter.name, parameter.default)
        if parameter.least is None or value is parameter.default:
            continue
        most = parameter.most if parameter.limit is None else parameter.limit.of(given)
        require_integer(family, parameter.name, value, parameter.least, most)
        if parameter.kind is not None and not parameter.kind.holds(value):
            raise TopologyError(
                f"{family}: {parameter.name} must be {parameter.kind.words}, not {value}."
            )


def require_integer(family: str, name: str, value: Any, least: int, most: int | None = None) -> int:
    """Return `value` if it is a whole number in its range.

    Raises
    ------
    TopologyError
        The value is not in the range. The message names the parameter and the allowed values.
    """
    allowed = _range(least, most)
    # Python's booleans are integers, and True would pass as a side of 1. Floats are rejected
    # because 3.0 and 3 would give networks of different names.
    if isinstance(value, bool) or not isinstance(value, int):
        raise TopologyError(f"{family}: {name} must be a whole number {allowed}, not {value!r}.")
    if value < least or (most is not None and value > most):
        raise TopologyError(f"{family}: {name} must be {allowed}, not {value}.")
    return value


def _range(least: int, most: int | None) -> str:
    """Return the range as text, with large powers of two as powers: ``2..2^57``."""
    if most is None:
        return f">= {least}"
    # Limits of 64-bit arithmetic are powers of two, which decimal digits would hide.
    large = most >= 2**20 and most.bit_count() == 1
    return f"{least}..2^{most.bit_length() - 1}" if large else f"{least}..{most}"
