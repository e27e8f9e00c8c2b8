"""Parameters of topology strings: their names, their notation, their readers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mpinet.base.numerals import whole
from mpinet.errors import TopologyError

REQUIRED: Any = object()
"""Marks a parameter without a default."""


@dataclass(frozen=True)
class Parameter:
    """Description of a family's parameter."""

    name: str
    """Name of the parameter: before ``=`` in a topology string, and as the class's argument."""
    allowed: str
    """Allowed values, in words: ``">= 3"``."""
    read: Callable[[str], Any]
    """Turns the text into the value; raises `ValueError` with what is wrong."""
    default: Any = REQUIRED
    """Default value; `REQUIRED` if the parameter must be given."""
    whole: bool = False
    """True if the parameter is the only one and takes all of the text, commas included, such as a
    file name."""
    least: int | None = None
    """Least value of a whole number that depends on no other parameter: see `whole_number`."""
    most: int | None = None
    """Largest value of a whole number that depends on no other parameter: see `whole_number`."""


def whole_number(
    name: str, least: int, most: int | None = None, default: Any = REQUIRED
) -> Parameter:
    """A parameter that is a whole number in a fixed range; `Topology.checked` enforces it."""
    return Parameter(name, _range(least, most), integer, default, least=least, most=most)


integer = whole
"""Reads a whole number."""


def sizes(text: str) -> tuple[int, ...]:
    """Read sizes joined by ``x``: ``8x8x8``."""
    return tuple(integer(part) for part in text.split("x"))


def dashed(text: str) -> tuple[int, ...]:
    """Read whole numbers joined by ``-``: ``1-4``."""
    return tuple(integer(part) for part in text.split("-"))


def require_integer(family: str, name: str, value: Any, least: int, most: int | None = None) -> int:
    """Return `value` if it is a whole number in its range.

    Raises
    ------
    TopologyError
        It is not; the sentence names the parameter and what is allowed.
    """
    allowed = _range(least, most)
    if isinstance(value, bool) or not isinstance(value, int):
        raise TopologyError(f"{family}: {name} must be a whole number {allowed}, not {value!r}.")
    if value < least or (most is not None and value > most):
        raise TopologyError(f"{family}: {name} must be {allowed}, not {value}.")
    return value


def _range(least: int, most: int | None) -> str:
    """The range in words; large powers of two as such: ``2..2^57``."""
    if most is None:
        return f">= {least}"
    large = most >= 2**20 and most.bit_count() == 1
    return f"{least}..2^{most.bit_length() - 1}" if large else f"{least}..{most}"
