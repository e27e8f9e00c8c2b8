"""Values of messages: picklable Python objects, which sender and receiver never share.

A message of plain immutable values is passed unchanged. Every other value is pickled when the
action is created and unpickled by each receiver, even between processors of one rank. A program
therefore cannot detect which processors share a rank.
"""

from __future__ import annotations

import pickle
from typing import Any

from mpinet.errors import UsageError

PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})
"""Immutable types whose values are passed unchanged."""


class Packed(bytes):
    """A pickled value in transfer."""


def pack(value: Any) -> Any:
    """Pickle a value unless it is plain.

    Raises
    ------
    UsageError
        The value cannot be pickled.
    """
    kind = type(value)
    # Exact types only: a subclass may hold mutable state.
    if kind in PLAIN or (kind is tuple and all(type(part) in PLAIN for part in value)):
        return value
    try:
        return Packed(pickle.dumps(value, pickle.HIGHEST_PROTOCOL))
    except Exception as error:
        raise UsageError(
            f"A value of type {kind.__qualname__} cannot be sent, because it cannot be "
            f"pickled: {error}."
        ) from None


def contents_of(value: Any) -> Any:
    """Return a key that is equal for equal packed values and distinguishes 1, 1.0 and True."""
    if type(value) is tuple:
        return tuple(map(contents_of, value))
    return type(value), pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def unpack(value: Any) -> Any:
    """Unpickle a packed value into a new object for the receiver."""
    return pickle.loads(value) if type(value) is Packed else value


def to_bytes(value: Any) -> bytes:
    """Encode users' values as bytes for another rank."""
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def from_bytes(text: bytes) -> Any:
    """Decode users' values from another rank of this job."""
    return pickle.loads(text)
