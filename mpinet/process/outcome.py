"""Digest of a run's results, and conversion of values for JSON."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from mpinet.base.plain import plain
from mpinet.errors import ProgramError

MOST_BITS = 14_000
"""Maximum number of bits of an integer written in decimal: Python refuses to convert longer
ones.
"""


def digest(*parts: Any) -> str:
    """Return the SHA-256 digest of a run's results in canonical JSON."""
    text = json.dumps(legible(parts), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return sha256(text.encode()).hexdigest()


def legible(value: Any) -> Any:
    """Convert a value for JSON; a value without a JSON type becomes its text.

    The text does not depend on memory addresses or on the order of sets.

    Raises
    ------
    ProgramError
        The value contains itself, or an object in it has no text.
    """
    try:
        return _legible(value)
    except RecursionError:
        reason = "the value contains itself, or is nested too deeply"
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
    raise ProgramError(f"The return value of a program cannot be written as text: {reason}.")


def _legible(value: Any) -> Any:
    """Convert a value as `legible` does, without catching errors of users' objects."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if value.bit_length() <= MOST_BITS else hex(value)
    value = plain(value)
    if isinstance(value, float):
        return value if value - value == 0.0 else str(value)
    if isinstance(value, dict):
        return {str(key): _legible(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_legible(part) for part in value]
    if isinstance(value, set | frozenset):
        return sorted((_legible(part) for part in value), key=repr)
    nameless = type(value).__dict__.get("__repr__", object.__repr__) == object.__repr__
    return f"<{type(value).__qualname__}>" if nameless else repr(value)
