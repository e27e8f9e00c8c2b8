"""What messages carry: any picklable Python objects, the receiver's never the sender's own.

A message of plain, unchangeable values travels as it is. Every other value is pickled when the
action is made and unpickled by each receiver, between processors of one rank, too: a program
cannot tell which processors share a rank.
"""

from __future__ import annotations

import pickle
from typing import Any

from mpinet.errors import UsageError

PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})
"""Types whose values nobody can change."""


class Packed(bytes):
    """A pickled value on its way."""


def pack(value: Any) -> Any:
    """A value as it travels.

    Raises
    ------
    UsageError
        The value cannot be pickled.
    """
    kind = type(value)
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
    """What is the same for values, as they travel, that are the same: 1 is neither 1.0 nor True."""
    if type(value) is tuple:
        return tuple(map(contents_of, value))
    return type(value), pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def unpack(value: Any) -> Any:
    """The receiver's value of what has travelled."""
    return pickle.loads(value) if type(value) is Packed else value


def to_bytes(value: Any) -> bytes:
    """Users' values as one rank gives them to another."""
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def from_bytes(text: bytes) -> Any:
    """Users' values as another rank of this job has given them."""
    return pickle.loads(text)
