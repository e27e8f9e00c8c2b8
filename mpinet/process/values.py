"""Contents of messages: any picklable Python objects; a receiver never gets the sender's own.

A message of plain, unchangeable values travels as it is. Every other value is pickled when the
action is made and unpickled by each receiver, between processors of one rank, too: a program
cannot tell which processors share a rank.
"""

from __future__ import annotations

import pickle
from typing import Any

from mpinet.errors import UsageError

PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})
"""Types whose values cannot be changed."""


class Packed(bytes):
    """A pickled value on its way."""


def pack(value: Any) -> Any:
    """Pack a value for its way.

    Raises
    ------
    UsageError
        The value cannot be pickled.
    """
    kind = type(value)
    # Exact types: a subclass may hold state that a receiver could change.
    if kind in PLAIN or (kind is tuple and all(type(part) in PLAIN for part in value)):
        return value
    try:
        return Packed(pickle.dumps(value, pickle.HIGHEST_PROTOCOL))
    except Exception as error:
        raise UsageError(
            f"A value of type {kind.__qualname__} cannot leave its processor, since it cannot be "
            f"pickled: {error}."
        ) from None


def contents_of(value: Any) -> Any:
    """Key that is equal for packed values that are equal; it tells 1, 1.0 and True apart."""
    if type(value) is tuple:
        return tuple(map(contents_of, value))
    return type(value), pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def unpack(value: Any) -> Any:
    """Unpack the receiver's own value."""
    return pickle.loads(value) if type(value) is Packed else value


def to_bytes(value: Any) -> bytes:
    """Encode users' values for another rank."""
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def from_bytes(text: bytes) -> Any:
    """Decode users' values from another rank of this job."""
    return pickle.loads(text)
