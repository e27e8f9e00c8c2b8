"""Conversion of results, findings and file contents to JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np


def as_given(value: Fraction) -> Fraction:
    """Return a fraction unchanged."""
    return value


def nearest(value: Fraction) -> int | float:
    """Return a whole number as an integer, and any other fraction as the nearest 64-bit float."""
    return value.numerator if value.denominator == 1 else float(value)


def plain(value: Any, fraction: Callable[[Fraction], Any] = as_given) -> Any:
    """Convert a result for JSON: dataclasses become objects, NumPy numbers become plain numbers.

    JSON has no infinite numbers: they become the word ``infinite``.

    Parameters
    ----------
    value : object
        The result.
    fraction : callable
        Converts each fraction.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value), fraction)
    if isinstance(value, dict):
        return {str(key): plain(part, fraction) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part, fraction) for part in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist(), fraction)
    if isinstance(value, np.generic):
        return plain(value.item(), fraction)
    if isinstance(value, Fraction):
        return fraction(value)
    return "infinite" if isinstance(value, float) and value == inf else value
