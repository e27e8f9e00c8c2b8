"""Digest of a run's outcome, and values in JSON."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from mpinet.base.plain import plain
from mpinet.errors import ProgramError

MOST_BITS = 14_000
"""Most bits of a number that is written in decimal: Python writes and reads no longer ones."""


def digest(*parts: Any) -> str:
    """sha256 of a run's outcome in canonical JSON."""
    text = json.dumps(legible(parts), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return sha256(text.encode()).hexdigest()


def legible(value: Any) -> Any:
    """Convert a value for JSON; values that JSON does not have become their text.

    The text does not depend on where an object lies or how a set is ordered.

    Raises
    ------
    ProgramError
        The value contains itself, or an object in it cannot be told.
    """
    try:
        return _legible(value)
    except RecursionError:
        reason = "it contains itself, or its parts lie too deep in one another"
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
    raise ProgramError(f"What a program has returned cannot be told: {reason}.")


def _legible(value: Any) -> Any:
    """Convert a value as `legible` does, but let errors of users' objects through."""
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
