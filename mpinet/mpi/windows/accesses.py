"""Messages between the members of a window: accesses, requests and answers, and their datatypes.

Each class is a message body: its ``len()`` is its size in bytes, the size of the contained data.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from mpinet.mpi.real import REAL

PUT, GET, COMBINE, FETCH, SWAP = range(5)
"""Kinds of accesses: write, read, combine with the target's elements, combine and return the
previous elements, and write if the target's element has an expected value.
"""

LOCK, UNLOCK, FLUSH, COMPLETE = range(5, 9)
"""Kinds of requests of an origin besides accesses: get the target's lock, release it, get an answer
when all accesses are done, and announce the end of accesses.
"""

READS = (GET, FETCH, SWAP)
"""Accesses that return data."""

LOCKED, STARTED = -1, -2
"""Epochs of accesses under a lock, and between `Start` and `Complete`. Fence epochs have the number
of fences passed by the origin.
"""

NAMES = {PUT: "a put", GET: "a get", COMBINE: "an accumulate", FETCH: "an accumulate"} | {
    SWAP: "a compare-and-swap"
}
"""Names of the kinds of accesses in reports."""


@dataclass(slots=True)
class Access:
    """A put, get, accumulate or compare-and-swap sent to a target."""

    order: int
    """Sequence number among the origin's bodies to this target."""
    kind: int
    """`PUT`, `GET`, `COMBINE`, `FETCH` or `SWAP`."""
    key: int
    """Key of the answer to the origin; 0 for no answer."""
    account: int
    """Number of the charged account."""
    epoch: int
    """`LOCKED`, `STARTED`, or the number of fences passed by the origin."""
    displacement: int
    """Displacement of the first element, in the target's units."""
    count: int
    """Number of elements."""
    datatype: str | bytes
    """Datatype of the elements, encoded by `told`."""
    op: str
    """Name of the operator."""
    data: bytes
    """Bytes to write or to combine."""
    expected: bytes = b""
    """Expected bytes for a compare-and-swap."""

    def __len__(self) -> int:
        return len(self.data) + len(self.expected)


@dataclass(slots=True)
class Wish:
    """A request of an origin besides its accesses."""

    order: int
    """Sequence number among the origin's bodies to this target."""
    kind: int
    """`LOCK`, `UNLOCK`, `FLUSH` or `COMPLETE`."""
    key: int
    """Key of the answer to the origin; 0 for no answer."""
    account: int
    """Number of the charged account."""
    exclusive: bool = False
    """True for an exclusive lock."""
    place: str = ""
    """Source line of the request."""

    def __len__(self) -> int:
        return 0


@dataclass(slots=True)
class Answer:
    """Answer of a target to an origin."""

    key: int
    """Key of the answered access or request."""
    data: bytes = b""
    """Bytes read by the access."""
    error: int = 0
    """Error of an access since the previous answer; 0 without an error."""

    def __len__(self) -> int:
        return len(self.data)


@dataclass(slots=True)
class Exposed:
    """A target allows the receiver to begin accesses to its memory."""

    def __len__(self) -> int:
        return 0


# ---- datatypes; their handles differ between ranks


_PREDEFINED = {
    value.handle: name
    for name, value in vars(REAL).items()
    if isinstance(value, REAL.Datatype) and value != REAL.DATATYPE_NULL
}


def told(datatype: Any) -> str | bytes:
    """Return an encoding of a datatype for another processor: its name, or its pickle."""
    name = _PREDEFINED.get(datatype.handle)
    return pickle.dumps(datatype) if name is None else name


@lru_cache(256)
def known(datatype: str | bytes) -> Any:
    """Return the datatype encoded by another processor."""
    if isinstance(datatype, str):
        return getattr(REAL, datatype)
    return pickle.loads(datatype).Commit()


def element(datatype: Any) -> Any:
    """Return the predefined datatype of all elements of a datatype, used to combine them.

    Raises
    ------
    Exception
        ``ERR_TYPE``: the elements have different datatypes.
    """
    if datatype.is_predefined:
        return datatype
    parts = datatype.Get_contents()[-1]
    found = {part.handle: part for part in map(element, parts)}
    if len(found) != 1:
        raise REAL.Exception(REAL.ERR_TYPE)
    return next(iter(found.values()))
