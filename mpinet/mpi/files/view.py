"""Views: which bytes of a file a processor sees, as a datatype tells, again and again."""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.errors import UsageError
from mpinet.mpi.messages.buffers import SELF, with_own_datatypes
from mpinet.mpi.messages.specifications import gapless_size
from mpinet.mpi.real import REAL

MOST = 1 << 30
"""Most bytes that one copy of a view's datatype may span, as its places are found in memory."""


class View:
    """The bytes of a file that a processor sees.

    Parameters
    ----------
    displacement : int
        Bytes before the first copy of the file's type.
    etype : Datatype
        What positions count.
    filetype : Datatype
        Which bytes of each copy are seen.
    datarep : str
        How elements are represented.
    """

    def __init__(
        self,
        displacement: int = 0,
        etype: Any = REAL.BYTE,
        filetype: Any = REAL.BYTE,
        datarep: str = "native",
    ):
        self.displacement = displacement
        self.etype, self.filetype = with_own_datatypes(etype, filetype)
        self.datarep = datarep
        self.unit: int = etype.size
        """Bytes of what positions count."""
        self._size: int = filetype.size
        self._extent: int = filetype.extent
        if gapless_size(filetype):
            self._begins = np.zeros(1, np.int64)
            self._ends = np.array([self._size], np.int64)
        else:
            self._begins, self._ends = runs(filetype)
        self._before = np.cumsum(self._ends - self._begins) - (self._ends - self._begins)

    def at(self, position: int) -> int:
        """The byte of the file at a position."""
        copy, rest = divmod(position * self.unit, self._size)
        run = int(np.searchsorted(self._before, rest, "right")) - 1
        inside = int(self._begins[run]) + rest - int(self._before[run])
        return self.displacement + copy * self._extent + inside

    def pieces(self, position: int, nbytes: int) -> list[tuple[int, int]]:
        """Runs of bytes from a position on: where each begins in the file, and its bytes."""
        if not nbytes:
            return []
        first, skipped = divmod(position * self.unit, self._size)
        if len(self._begins) == 1 and self._size == self._extent:
            return [(self.displacement + position * self.unit + int(self._begins[0]), nbytes)]
        copies = -(-(skipped + nbytes) // self._size)
        offsets = self.displacement + (first + np.arange(copies, dtype=np.int64)) * self._extent
        begins = (offsets[:, None] + self._begins).ravel()
        lengths = np.tile(self._ends - self._begins, copies)
        ends = np.cumsum(lengths)
        low = np.maximum(ends - lengths, skipped)
        high = np.minimum(ends, skipped + nbytes)
        begins += low - (ends - lengths)
        seen = high > low
        return list(zip(begins[seen].tolist(), (high - low)[seen].tolist(), strict=True))

    def position_at(self, size: int) -> int:
        """The position behind the last byte that is seen of a file of so many bytes."""
        copies, rest = divmod(max(size - self.displacement, 0), self._extent or 1)
        inside = np.clip(rest - self._begins, 0, self._ends - self._begins)
        return -(-(copies * self._size + int(inside.sum())) // self.unit)


def runs(datatype: Any) -> tuple[Ints, Ints]:
    """Places of a datatype's bytes, in the order of its map, as runs without gaps.

    The real MPI unpacks numbers of bytes, a digit at a time, which then stand where the bytes are.

    Returns
    -------
    begins, ends : ndarray of int64
        The first byte of each run, and the one behind its last.

    Raises
    ------
    UsageError
        The datatype spans too much.
    """
    low, span = datatype.true_lb, datatype.true_extent
    if span > MOST:
        raise UsageError(
            f"A view's datatype spans {span:,} bytes; mpinet finds its places in memory, and takes "
            f"{MOST:,} at most."
        )
    numbers = np.arange(1, datatype.size + 1, dtype=np.int64)
    found = np.zeros(span, np.int64)
    moved = datatype.Create_hindexed([1], [-low])
    single = moved.Create_resized(0, max(span, 1)).Commit()
    try:
        for digit in range((int(datatype.size).bit_length() + 7) // 8):
            place = np.zeros(max(span, 1), np.uint8)
            digits = ((numbers >> 8 * digit) & 255).astype(np.uint8)
            single.Unpack(digits, 0, place, SELF)
            found |= place[:span].astype(np.int64) << 8 * digit
    finally:
        moved.Free()
        single.Free()
    where = np.empty(datatype.size, np.int64)
    seen = np.flatnonzero(found)
    where[found[seen] - 1] = seen + low
    # Padding, as of long double, is no part of what it unpacks: it goes on from the byte before.
    known = np.zeros(len(where), np.int64)
    known[found[seen] - 1] = found[seen] - 1
    known = np.maximum.accumulate(known)
    where = where[known] + np.arange(len(where)) - known
    cuts = np.flatnonzero(np.diff(where) != 1) + 1
    begins = where[np.concatenate(([0], cuts))] if len(where) else where
    ends = where[np.concatenate((cuts, [len(where)])) - 1] + 1 if len(where) else where
    return begins, ends
