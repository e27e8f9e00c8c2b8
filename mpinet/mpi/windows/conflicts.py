"""Conflicting accesses: to the same bytes in one epoch, in an order that MPI leaves open.

Only what happens at the target is looked at: accesses that were made before any of them was known
to be done. Two gets do not conflict, nor do accumulates by the same operator; all else does where
it overlaps. What a processor itself loads and stores is not seen.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.mpi.messages.layouts import layout_of, spread
from mpinet.mpi.windows.accesses import COMBINE, FETCH, GET, LOCKED, NAMES, SWAP, Access
from mpinet.mpi.world.onesided import Conflict

READING = "NO_OP"
"""The operator that changes nothing, which goes with all others."""


class Touched(NamedTuple):
    """An access that has been done, and may still conflict with others."""

    origin: int
    """Origin of the access."""
    account: int
    """Number of the account that pays for the access."""
    epoch: int
    """Epoch of the origin in which it made the access."""
    kind: int
    """Kind of the access, as in `Access`."""
    op: str
    """The operator."""

    def goes_with(self, other: Touched) -> bool:
        """Tell if it does not conflict with an earlier access to the same bytes."""
        if self.epoch != other.epoch or (self.kind == GET and other.kind == GET):
            return True
        if self.epoch == LOCKED and other.kind == GET and other.origin == self.origin:
            return True  # its request may be complete, which only the origin knows
        if self.kind < COMBINE or other.kind < COMBINE:
            return False
        return READING in (self.op, other.op) or self.op == other.op

    @property
    def changes(self) -> bool:
        """True if it may write."""
        return self.kind != GET and self.op != READING


class Touches:
    """The accesses to one target's memory that may conflict with later ones.

    A table has for every byte which access was the last; it is zero where there was none.

    Parameters
    ----------
    target : int
        The processor.
    nbytes : int
        Bytes of the memory.
    """

    def __init__(self, target: int, nbytes: int):
        self._target = target
        self._nbytes = nbytes
        self._last: Ints | None = None
        self._open: dict[int, Touched] = {}
        self._made = 0

    def note(self, origin: int, access: Access, offset: int, datatype: Any) -> Conflict | None:
        """Note an access; the conflict with an earlier one, if there is one.

        Parameters
        ----------
        origin : int
            Whose it is.
        access : Access
            The access.
        offset : int
            Bytes before its first element.
        datatype : Datatype
            The elements' type.
        """
        if not access.count:
            return None
        # Made with the first access. Most members of large windows are never accessed.
        if self._last is None:
            self._last = np.zeros(self._nbytes, np.int32)
        # MPI calls all of these accumulates: they are atomic against each other, whether or not
        # they fetch.
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
        """Return what a read leaves in the table: writes stay, so that later reads find them."""
        assert self._last is not None
        mine = self._last[places]
        # A read must not hide a write: the next read would then seem to follow a read, and the
        # conflict would be lost.
        writes = [number for number in np.unique(mine).tolist() if self._writes(number)]
        return np.where(np.isin(mine, writes), mine, self._made)

    def _writes(self, number: int) -> bool:
        touched = self._open.get(number)
        return touched is not None and touched.changes

    def _found(self, touched: Touched, kind: int, places: Any) -> Conflict | None:
        """The conflict with an earlier access."""
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
        """Forget an origin's accesses under locks, which are known to be done."""
        for number, touched in list(self._open.items()):
            if touched.origin == origin and touched.epoch == LOCKED:
                del self._open[number]

    def close_all(self, epoch: int) -> None:
        """Forget all accesses of an epoch, and of those before."""
        # A fence orders everything before it, also what earlier fences left. Epochs under locks
        # have negative numbers and are included.
        for number in [key for key, touched in self._open.items() if touched.epoch <= epoch]:
            del self._open[number]


def bytes_of(offset: int, count: int, datatype: Any) -> slice | Ints:
    """The bytes that elements take, from a place on.

    Parameters
    ----------
    offset : int
        Bytes before the first element.
    count : int
        Elements.
    datatype : Datatype
        Their type.

    Returns
    -------
    slice or ndarray of int64
        The bytes' places.
    """
    layout = layout_of(datatype)
    if layout.gapless:
        return slice(offset, offset + count * layout.size)
    begins, lengths = layout.pieces(0, count * layout.size)
    return spread(begins + offset, lengths)
