"""Memory areas of buffers: which bytes a call reads or writes until its completion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mpinet.base.arrays import Flags, Ints
from mpinet.mpi.messages.buffers import Blocks, Buffer
from mpinet.mpi.messages.layouts import merged

MOST_BYTES = 1 << 24
"""Size of an area with gaps above which its gaps count as used."""


@dataclass(slots=True, eq=False)
class Area:
    """Bytes of a buffer."""

    begin: int
    """Address of the first byte."""
    end: int
    """Address behind the last byte."""
    gaps: tuple[Ints, Ints] | None
    """First byte and length of each run, ascending; None if the area has no gaps."""
    writable: bool
    """True if a call writes to the area."""
    buffer: Buffer | None
    """The buffer, if it is a single one."""
    overlaps_itself: bool = False
    """True if the area is written, and two of its blocks overlap."""

    def overlaps(self, other: Area) -> bool:
        """Return whether two areas have a byte in common."""
        if self.end <= other.begin or other.end <= self.begin:
            return False
        if self.gaps is None and other.gaps is None:
            return True
        begin, end = max(self.begin, other.begin), min(self.end, other.end)
        return bool((self._used(begin, end) & other._used(begin, end)).any())

    def conflicts(self, other: Area) -> bool:
        """Return whether two areas overlap and one of them is written."""
        return (self.writable or other.writable) and self.overlaps(other)

    def _used(self, begin: int, end: int) -> Flags:
        """Return the used bytes of a range of addresses."""
        if self.gaps is None:
            return np.ones(end - begin, np.bool_)
        begins, lengths = self.gaps
        marks = np.zeros(end - begin + 1, np.int64)
        np.add.at(marks, np.clip(begins - begin, 0, end - begin), 1)
        np.add.at(marks, np.clip(begins + lengths - begin, 0, end - begin), -1)
        return np.cumsum(marks)[:-1] > 0


def area_of(buffer: Buffer, writable: bool) -> Area | None:
    """Return the area of a buffer; None if it is empty."""
    if not buffer.nbytes:
        return None
    address = buffer.address
    if buffer._whole:
        return Area(address, address + buffer.nbytes, None, writable, buffer)
    layout = buffer.layout
    reach = layout.reach(buffer.count)
    begin, end = address + reach.low, address + reach.high
    if layout.gapless or end - begin > MOST_BYTES:
        return Area(begin, end, None, writable, buffer)
    begins, lengths, twice = _sorted(*layout.pieces(0, buffer.nbytes))
    gaps = None if len(begins) == 1 else (begins + address, lengths)
    return Area(begin, end, gaps, writable, buffer, twice and writable)


def _sorted(begins: Ints, lengths: Ints) -> tuple[Ints, Ints, bool]:
    """Return runs of bytes, sorted and merged, and whether two of them overlap."""
    order = np.argsort(begins, kind="stable")
    begins, lengths = begins[order], lengths[order]
    twice = bool((begins[1:] < (begins + lengths)[:-1]).any())
    return *merged(begins, lengths), twice


def area_of_blocks(blocks: Blocks, size: int, writable: bool) -> Area | None:
    """Return the area of the blocks of all ranks; None if they are empty."""
    areas = [area_of(blocks.block(rank), writable) for rank in range(size)]
    some = [area for area in areas if area is not None]
    if not some:
        return None
    runs: list[tuple[Any, Any]] = [
        ([area.begin], [area.end - area.begin]) if area.gaps is None else area.gaps for area in some
    ]
    begins, lengths = (
        np.concatenate([np.asarray(one) for one in part]) for part in zip(*runs, strict=True)
    )
    begins, lengths, twice = _sorted(begins, lengths)
    begin, end = int(begins[0]), int((begins + lengths).max())
    gaps = None if len(begins) == 1 else (begins, lengths)
    return Area(begin, end, gaps, writable, None, twice and writable)
