"""Conflicting accesses: to the same bytes in one epoch, in an order undefined by MPI.

Accesses are compared at the target, as long as their completion is unknown. Two gets do not
conflict. Accumulates with the same operator do not conflict. All other overlapping accesses
conflict. Loads and stores by the target itself are not detected.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.mpi.messages.layouts import layout_of, spread
from mpinet.mpi.windows.accesses import COMBINE, FETCH, GET, LOCKED, NAMES, SWAP, Access
from mpinet.mpi.world.onesided import Conflict

READING = "NO_OP"
"""The operator without effect, compatible with all operators."""


class Touched(NamedTuple):
    """A completed access that may still conflict with later accesses."""

    origin: int
    """Origin of the access."""
    account: int
    """Number of the charged account."""
    epoch: int
    """Epoch of the origin at the access."""
    kind: int
    """Kind of the access, as in `Access`."""
    op: str
    """The operator."""

    def goes_with(self, other: Touched) -> bool:
        """Return whether the access is compatible with an earlier access to the same bytes."""
        if self.epoch != other.epoch or (self.kind == GET and other.kind == GET):
            return True
        if self.epoch == LOCKED and other.kind == GET and other.origin == self.origin:
            return True  # its request may be complete, which only the origin knows
        if self.kind < COMBINE or other.kind < COMBINE:
            return False
        return READING in (self.op, other.op) or self.op == other.op

    @property
    def changes(self) -> bool:
        """True if the access may change the target's memory."""
        return self.kind != GET and self.op != READING


class Touches:
    """The accesses to a target's memory that may conflict with later accesses.

    A table contains the number of the last access for each byte; 0 stands for no access.

    Parameters
    ----------
    target : int
        Number of the target processor.
    nbytes : int
        Size of the memory in bytes.
    """

    def __init__(self, target: int, nbytes: int):
        self._target = target
        self._nbytes = nbytes
        self._last: Ints | None = None
        self._open: dict[int, Touched] = {}
        self._made = 0

    def note(self, origin: int, access: Access, offset: int, datatype: Any) -> Conflict | None:
        """Record an access; return a conflict with an earlier access, or None.

        Parameters
        ----------
        origin : int
            Rank of the origin.
        access : Access
            The access.
        offset : int
            Offset of its first element in bytes.
        datatype : Datatype
            Datatype of the elements.
        """
        if not access.count:
            return None
        # Created at the first access. Most members of large windows are never accessed.
        if self._last is None:
            self._last = np.zeros(self._nbytes, np.int32)
        # MPI calls all of these accumulates: they are atomic with respect to each other, with or
        # without fetching.
        kind = COMBINE if access.kind in (FETCH, SWAP) else access.kind
        op = "REPLACE" if access.kind == SWAP else access.op
        touched = Touched(origin, access.account, access.epoch, kind, op)
        places = bytes_of(offset, access.count, datatype)
        found = self._found(touched, access.kind, places)
        self._made += 1
        self._open[self._made] = touched
        self._last[places] = self._kept(places) if not touched.changes else self._made
        return found

    def _kept(self, places: Any) -> Ints:
        """Return the table entries after a read: writes stay, therefore later reads find them."""
        assert self._last is not None
        mine = self._last[places]
        # A read must not hide a write. Otherwise the next read would seem to follow a read, and the
        # conflict would be lost.
        writes = [number for number in np.unique(mine).tolist() if self._writes(number)]
        return np.where(np.isin(mine, writes), mine, self._made)

    def _writes(self, number: int) -> bool:
        touched = self._open.get(number)
        return touched is not None and touched.changes

    def _found(self, touched: Touched, kind: int, places: Any) -> Conflict | None:
        """Return a conflict with an earlier access, or None."""
        assert self._last is not None
        mine = self._last[places]
        for number in np.unique(mine).tolist():
            earlier = self._open.get(number)
            if earlier is None or touched.goes_with(earlier):
                continue
            where = np.flatnonzero(mine == number)
            where = where + places.start if isinstance(places, slice) else places[where]
            said = f"{NAMES[earlier.kind]} and {NAMES[kind]}"
            begin, end = int(where.min()), int(where.max()) + 1
            return Conflict(self._target, earlier.account, touched.account, begin, end, said)
        return None

    def close(self, origin: int) -> None:
        """Forget an origin's accesses under locks, because they are complete."""
        for number, touched in list(self._open.items()):
            if touched.origin == origin and touched.epoch == LOCKED:
                del self._open[number]

    def close_all(self, epoch: int) -> None:
        """Forget all accesses of an epoch and of earlier epochs."""
        # A fence orders all accesses before it, including accesses left by earlier fences. Lock
        # epochs have negative numbers and are included.
        for number in [key for key, touched in self._open.items() if touched.epoch <= epoch]:
            del self._open[number]


def bytes_of(offset: int, count: int, datatype: Any) -> slice | Ints:
    """Return the bytes of elements at an offset.

    Parameters
    ----------
    offset : int
        Offset of the first element in bytes.
    count : int
        Number of elements.
    datatype : Datatype
        Datatype of the elements.

    Returns
    -------
    slice or ndarray of int64
        Positions of the bytes.
    """
    layout = layout_of(datatype)
    if layout.gapless:
        return slice(offset, offset + count * layout.size)
    begins, lengths = layout.pieces(0, count * layout.size)
    return spread(begins + offset, lengths)
