"""The messages between the members of a window: accesses, wishes and answers, and their datatypes.

Bodies of messages: the ``len()`` of each is its size in bytes, that of the data that it brings.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from mpinet.mpi.real import REAL

PUT, GET, COMBINE, FETCH, SWAP = range(5)
"""Kinds of accesses at a target: write, read, combine with what is there, the same and give what
was there before, and write if what is there is as expected.
"""

LOCK, UNLOCK, FLUSH, COMPLETE = range(5, 9)
"""Kinds of an origin's wishes beside accesses: to have the target's lock, to give it back, to know
that all accesses have been done, and to tell that there will be no more.
"""

READS = (GET, FETCH, SWAP)
"""Accesses that give what they find."""

LOCKED, STARTED = -1, -2
"""Epochs of accesses under a lock, and between `Start` and `Complete`; others are numbered by the
fences that the origin has passed."""

NAMES = {PUT: "a put", GET: "a get", COMBINE: "an accumulate", FETCH: "an accumulate"} | {
    SWAP: "a compare-and-swap"
}
"""Accesses, for people."""


@dataclass(slots=True)
class Access:
    """An access to a target's memory."""

    order: int
    """Number of this body among the origin's bodies to this target."""
    kind: int
    """`PUT`, `GET`, `COMBINE`, `FETCH` or `SWAP`."""
    key: int
    """Names the answer to the origin; 0: none is wanted."""
    account: int
    """The number of the account that pays."""
    epoch: int
    """`LOCKED`, `STARTED`, or how many fences the origin has passed."""
    displacement: int
    """First element, in the target's units."""
    count: int
    """Number of elements."""
    datatype: str | bytes
    """The elements' type (`told`)."""
    op: str
    """The name of the operator that combines."""
    data: bytes
    """Bytes to write or combine."""
    expected: bytes = b""
    """Bytes that a swap compares with."""

    def __len__(self) -> int:
        return len(self.data) + len(self.expected)


@dataclass(slots=True)
class Wish:
    """Wish of an origin beside its accesses."""

    order: int
    """Number of this body among the origin's bodies to this target."""
    kind: int
    """`LOCK`, `UNLOCK`, `FLUSH` or `COMPLETE`."""
    key: int
    """Number of the answer to the origin; 0: none is wanted."""
    account: int
    """Number of the account that pays."""
    exclusive: bool = False
    """True if no other origin may hold the lock."""
    place: str = ""
    """The line that wants it."""

    def __len__(self) -> int:
        return 0


@dataclass(slots=True)
class Answer:
    """Answer of a target to its origin."""

    key: int
    """Number of the access or wish that is answered."""
    data: bytes = b""
    """Bytes that were read."""
    error: int = 0
    """Error of an access since the last answer; 0 if no access has failed."""

    def __len__(self) -> int:
        return len(self.data)


@dataclass(slots=True)
class Exposed:
    """A target lets the receiver begin to access its memory."""

    def __len__(self) -> int:
        return 0


# ---- datatypes, which have other handles on other ranks


_PREDEFINED = {
    value.handle: name
    for name, value in vars(REAL).items()
    if isinstance(value, REAL.Datatype) and value != REAL.DATATYPE_NULL
}


def told(datatype: Any) -> str | bytes:
    """Return what tells another processor of a datatype: its name, or how it is made."""
    name = _PREDEFINED.get(datatype.handle)
    return pickle.dumps(datatype) if name is None else name


@lru_cache(256)
def known(datatype: str | bytes) -> Any:
    """The datatype that another processor has told of."""
    if isinstance(datatype, str):
        return getattr(REAL, datatype)
    return pickle.loads(datatype).Commit()


def element(datatype: Any) -> Any:
    """The predefined datatype that all elements of a datatype have; they are combined as such.

    Raises
    ------
    Exception
        ``ERR_TYPE``: they differ.
    """
    if datatype.is_predefined:
        return datatype
    parts = datatype.Get_contents()[-1]
    found = {part.handle: part for part in map(element, parts)}
    if len(found) != 1:
        raise REAL.Exception(REAL.ERR_TYPE)
    return next(iter(found.values()))
