"""Layouts: the places of a datatype's bytes, and how bodies are copied from and to these places.

A layout is a list of runs, which are bytes without gaps, in the order of the datatype's type map.
Runs come from the description that the real MPI keeps of each datatype. Each datatype carries its
layout as an attribute of the real MPI, which deletes the attribute when the datatype is freed.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import Any, TypeAlias

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.errors import UsageError
from mpinet.mpi.real import PROC_NULL, REAL

MOST_RUNS = 1 << 25
"""Most runs of one datatype: two integers are kept for each."""

MOST_UNIT = 1 << 30
"""Most bytes that are copied as one unit: NumPy's elements have 31 bits for their bytes."""

AT_ONCE = 1 << 16
"""Units whose places are computed at a time, so that they stay in the cache."""

Runs: TypeAlias = tuple[Ints, Ints]
"""The first byte of each run, and the bytes in it."""


class Layout:
    """Places of the bytes of a datatype.

    Parameters
    ----------
    begins, lengths : ndarray of int64
        The runs in the order of the type map.
    extent : int
        Bytes from one element to the next.
    """

    __slots__ = (
        *("_ends", "_kind", "_places", "_step"),
        *("begins", "extent", "high", "lengths", "low", "size"),
    )

    def __init__(self, begins: Ints, lengths: Ints, extent: int):
        self.begins, self.lengths, self.extent = begins, lengths, extent
        self._ends = np.cumsum(lengths)
        self.size = int(lengths.sum())
        """Bytes of an element's body."""
        self.low = int(begins.min()) if len(begins) else 0
        """First byte of an element, counted from the element's place."""
        self.high = int((begins + lengths).max()) if len(begins) else 0
        """End of an element's last byte."""
        steps, unit = np.diff(begins), int(np.gcd.reduce(lengths))
        self._step: int | None = int(steps[0]) if len(steps) else 0
        """Bytes between the runs, which have one length; None if steps or lengths differ."""
        if (lengths != unit).any() or (steps != self._step).any():
            self._step = None
            unit = gcd(unit, extent, int(np.gcd.reduce(begins - self.low)))
        unit = unit if unit <= MOST_UNIT else gcd(unit, MOST_UNIT)
        self._kind = np.dtype((np.void, max(unit, 1)))
        small = self._step is None and self.size <= AT_ONCE * unit
        self._places = spread(begins - self.low, lengths, unit) if small else None

    @property
    def gapless(self) -> bool:
        """True if a body is a copy of the elements, which have no gaps and are in its order."""
        return len(self.begins) == 1 and self.low == 0 and self.size == self.extent

    def reach(self, count: int) -> tuple[int, int]:
        """The first byte of so many elements, and the end of their last one."""
        stride = (count - 1) * self.extent
        return self.low + min(0, stride), self.high + max(0, stride)

    def pieces(self, skipped: int, nbytes: int) -> Runs:
        """The runs of some bytes of a body.

        Parameters
        ----------
        skipped : int
            Bytes of the body before them.
        nbytes : int
            How many they are; at least one.
        """
        runs = len(self.begins)
        first, behind = self._place(skipped)
        last, within = self._place(skipped + nbytes - 1)
        copies, which = np.divmod(np.arange(first, last + 1, dtype=np.int64), runs)
        begins = copies * self.extent + self.begins[which]
        lengths = self.lengths[which]
        lengths[-1] = within + 1
        lengths[0] -= behind
        begins[0] += behind
        return begins, lengths

    def _place(self, place: int) -> tuple[int, int]:
        """The run of a body's byte, counted over all elements, and the bytes before it in there."""
        element, within = divmod(place, self.size)
        run = int(np.searchsorted(self._ends, within, "right"))
        before = int(self._ends[run] - self.lengths[run])
        return element * len(self.begins) + run, within - before

    def read(self, address: int, count: int) -> bytes:
        """The body of elements at an address, all of which is memory that may be read."""
        low, high = self.reach(count)
        memory = REAL.buffer.fromaddress(address + low, high - low, True)
        if self._step is not None:
            return self._regular(memory, count, self._step).tobytes()
        units = np.frombuffer(memory, self._kind)
        body = np.empty(count * self.size // self._kind.itemsize, self._kind)
        for part, places in self._parts(count):
            body[part] = units[places]
        return body.tobytes()

    def write(self, address: int, body: bytes) -> None:
        """Put a body into elements at an address; the last element may be there in part."""
        count, rest = divmod(len(body), self.size)
        if rest:
            begins, lengths = self.pieces(count * self.size, rest)
            Layout(begins, lengths, self.extent).write(address, body[-rest:])
        if not count:
            return
        low, high = self.reach(count)
        memory = REAL.buffer.fromaddress(address + low, high - low)
        found = np.frombuffer(body, self._kind, count * self.size // self._kind.itemsize)
        if self._step is not None:
            into = self._regular(memory, count, self._step)
            into[...] = found.reshape(into.shape)
            return
        units = np.frombuffer(memory, self._kind)
        for part, places in self._parts(count):
            units[places] = found[part]

    def _regular(self, memory: Any, count: int, step: int) -> Any:
        """The units of elements in memory whose runs have one length and equal steps."""
        low, _ = self.reach(count)
        unit = self._kind.itemsize
        shape = count, len(self.begins), int(self.lengths[0]) // unit
        steps = self.extent, step, unit
        return np.ndarray(shape, self._kind, memory, int(self.begins[0]) - low, steps)

    def _parts(self, count: int) -> Iterator[tuple[slice, Ints]]:
        """Parts of a body, and the places of their units in the memory of its elements."""
        unit, (low, _) = self._kind.itemsize, self.reach(count)
        if self._places is None:
            nbytes = count * self.size
            for first in range(0, nbytes, AT_ONCE * unit):
                begins, lengths = self.pieces(first, min(AT_ONCE * unit, nbytes - first))
                places = spread(begins - low, lengths, unit)
                yield slice(first // unit, first // unit + len(places)), places
            return
        each = len(self._places)
        at_once = max(AT_ONCE // each, 1)
        for first in range(0, count, at_once):
            elements = np.arange(first, min(first + at_once, count), dtype=np.int64)
            begins = (elements * self.extent + self.low - low) // unit
            places = (begins[:, None] + self._places).ravel()
            yield slice(first * each, first * each + len(places)), places


# ---- a datatype's layout


_predefined: dict[int, Layout] = {}

_keyval = REAL.Datatype.Create_keyval(copy_fn=True)


def layout_of(datatype: Any) -> Layout:
    """The layout of a datatype that messages may have.

    Raises
    ------
    Exception
        ``ERR_TYPE``: the datatype is null or not committed.
    UsageError
        The datatype has too many runs.
    """
    layout: Layout | None = _predefined.get(datatype.handle)
    if layout is not None:
        return layout
    if datatype.is_predefined:
        layout = _predefined[datatype.handle] = flattened(datatype)
        return layout
    layout = datatype.Get_attr(_keyval)
    if layout is None:
        # The real MPI refuses to send nothing of a datatype that is not committed.
        REAL.COMM_SELF.Send([None, 0, datatype], PROC_NULL)
        layout = flattened(datatype)
        datatype.Set_attr(_keyval, layout)
    return layout


def flattened(datatype: Any) -> Layout:
    """Make the layout of a datatype, which need not be committed."""
    return Layout(*_runs(datatype), datatype.extent)


def spread(begins: Ints, lengths: Ints, unit: int = 1) -> Ints:
    """The places of runs' units, one after another."""
    numbers = lengths // unit
    before = np.cumsum(numbers) - numbers
    return np.repeat(begins // unit - before, numbers) + np.arange(numbers.sum())


def _runs(datatype: Any) -> Runs:
    """The runs of a datatype."""
    if datatype.is_predefined:
        return merged(*_element(datatype))
    inner, combiner, given = datatype.decode()
    parts = given.get("datatypes", [inner])
    try:
        if combiner in ("SUBARRAY", "DARRAY"):
            return _grid(inner, combiner, given)
        starts, lengths = _placed(inner.extent if len(parts) == 1 else 0, combiner, given)
        if combiner != "STRUCT":
            return _blocks(_runs(inner), inner.extent, starts, lengths)
        found = [
            _blocks(_runs(part), part.extent, starts[place : place + 1], lengths[place : place + 1])
            for place, part in enumerate(parts)
        ]
        begins, sizes = zip(*found, strict=True) if found else ((), ())
        return merged(np.concatenate([_ints([]), *begins]), np.concatenate([_ints([]), *sizes]))
    finally:
        for part in parts:
            if not part.is_predefined:
                part.Free()


def _element(datatype: Any) -> Runs:
    """The runs of a predefined datatype: one, or a value and the index behind it."""
    size, extent = datatype.size, datatype.extent
    if size == extent:
        return _ints([0]), _ints([size])
    index = REAL.INT.size
    return _ints([0, max(size - index, index)]), _ints([size - index, index])


def _placed(extent: int, combiner: str, given: dict[str, Any]) -> Runs:
    """The starts of blocks of elements, and the elements in each block."""
    starts = given.get("displacements", [0])
    lengths = given.get("blocklengths", given.get("blocklength", 1))
    if combiner == "CONTIGUOUS":
        lengths = given["count"]
    elif combiner in ("VECTOR", "HVECTOR"):
        starts = np.arange(given["count"], dtype=np.int64) * given["stride"]
    if combiner in ("VECTOR", "INDEXED", "INDEXED_BLOCK"):
        starts = _ints(starts) * extent
    starts = _ints(starts)
    return starts, np.broadcast_to(_ints(lengths), starts.shape)


def _grid(inner: Any, combiner: str, given: dict[str, Any]) -> Runs:
    """The runs of a part of an array, from the dimension that varies fastest outwards."""
    extent = inner.extent
    runs = _runs(inner)
    if combiner == "SUBARRAY":
        sizes = given["sizes"]
        chosen = [
            (_ints([start]), _ints([length]))
            for start, length in zip(given["starts"], given["subsizes"], strict=True)
        ]
    else:
        sizes, chosen = given["gsizes"], _dealt(given)
    dimensions = range(len(sizes))
    for dimension in dimensions if given["order"] == REAL.ORDER_F else reversed(dimensions):
        starts, lengths = chosen[dimension]
        runs = _blocks(runs, extent, starts * extent, lengths)
        extent *= sizes[dimension]
    return runs


def _dealt(given: dict[str, Any]) -> list[Runs]:
    """The blocks of each dimension of a distributed array that a process has."""
    coordinates = np.unravel_index(given["rank"], given["psizes"])
    chosen = []
    for dimension, coordinate in enumerate(map(int, coordinates)):
        size, processes = given["gsizes"][dimension], given["psizes"][dimension]
        block, kind = given["dargs"][dimension], given["distribs"][dimension]
        if kind == REAL.DISTRIBUTE_NONE:
            block = size
        elif block == REAL.DISTRIBUTE_DFLT_DARG:
            block = 1 if kind == REAL.DISTRIBUTE_CYCLIC else -(-size // processes)
        starts = np.arange(coordinate * block, size, block * processes, dtype=np.int64)
        chosen.append((starts, np.minimum(block, size - starts)))
    return chosen


def _blocks(runs: Runs, extent: int, starts: Ints, lengths: Ints) -> Runs:
    """The runs of blocks of elements, each of which has runs."""
    begins, sizes = runs
    if len(begins) == 1 and sizes[0] == extent:
        return merged(starts + begins[0], lengths * extent)
    total = int(lengths.sum()) * len(begins)
    if total > MOST_RUNS:
        raise UsageError(
            f"A datatype has {total:,} runs of bytes without gaps, and mpinet takes {MOST_RUNS:,} "
            "at most. Send it in parts."
        )
    places = np.repeat(starts, lengths) + spread(np.zeros_like(lengths), lengths) * extent
    return merged((places[:, None] + begins).ravel(), np.tile(sizes, len(places)))


def merged(begins: Ints, lengths: Ints) -> Runs:
    """Runs of which those that follow one another without a gap are one."""
    some = lengths > 0
    begins, lengths = begins[some], lengths[some]
    first = np.ones(len(begins), np.bool_)
    first[1:] = begins[1:] != (begins + lengths)[:-1]
    number = np.flatnonzero(first)
    return begins[first], np.add.reduceat(lengths, number) if len(number) else lengths


def _ints(given: Any) -> Ints:
    return np.asarray(given, np.int64)
