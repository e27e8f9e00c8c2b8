"""Layouts: the places of a datatype's bytes, and how bodies are copied from and to these places.

A layout is a list of runs, which are bytes without gaps, in the order of the datatype's type map.
Runs come from the description that the real MPI keeps of each datatype. Each datatype carries its
layout as an attribute of the real MPI, which deletes the attribute when the datatype is freed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from math import gcd
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.errors import UsageError
from mpinet.mpi.real import REAL

MOST_RUNS = 1 << 25
"""Most runs of one datatype: two integers are kept for each."""

MOST_UNIT = 1 << 30
"""Most bytes that are copied as one unit: NumPy's elements have 31 bits for their bytes."""

AT_ONCE = 1 << 16
"""Units whose places are computed at a time, so that they stay in the cache."""

Runs: TypeAlias = tuple[Ints, Ints]
"""The first byte of each run, and the bytes in it."""


class ReachedMemory(NamedTuple):
    """The memory that some elements of a datatype reach, and the places of their bytes in it."""

    elements: int
    low: int
    """The first byte, counted from the first element's place."""
    nbytes: int
    first: int
    """The place of the first run in there."""
    shape: tuple[int, int, int]
    """Elements, runs of each, and units of each run, if the runs are regular."""
    places: Ints | None
    """The places of all units; None if they are regular, or too many."""

    @property
    def high(self) -> int:
        """The end of the last byte."""
        return self.low + self.nbytes


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
        *("_ends", "_kind", "_last", "_low", "_high", "_steps"),
        *("begins", "extent", "gapless", "lengths", "size"),
    )

    def __init__(self, begins: Ints, lengths: Ints, extent: int):
        self.begins, self.lengths, self.extent = begins, lengths, extent
        self._ends = np.cumsum(lengths)
        self.size = int(lengths.sum())
        """Bytes of an element's body."""
        self._low = int(begins.min()) if len(begins) else 0
        self._high = int((begins + lengths).max()) if len(begins) else 0
        self.gapless = len(begins) == 1 and self._low == 0 and self.size == extent
        """True if a body is a copy of the elements, which have no gaps and are in its order."""
        steps, unit = np.diff(begins), int(np.gcd.reduce(lengths))
        step = int(steps[0]) if len(steps) else 0
        # Vectors and sub-arrays are regular: three strides describe them, and NumPy copies them
        # without a list of places.
        regular = bool((lengths == unit).all() and (steps == step).all())
        if not regular:
            unit = gcd(unit, extent, int(np.gcd.reduce(begins - self._low)))
        unit = unit if unit <= MOST_UNIT else gcd(unit, MOST_UNIT)
        self._kind = np.dtype((np.void, max(unit, 1)))
        self._steps = (extent, step, unit) if regular else None
        """Bytes between elements, runs and units; None if the runs differ in lengths or steps."""
        self._last = self._reach(1)

    def reach(self, count: int) -> ReachedMemory:
        """The memory that so many elements reach; at least one."""
        last = self._last  # threads may ask at the same time
        if last.elements != count:
            last = self._last = self._reach(count)
        return last

    def _reach(self, count: int) -> ReachedMemory:
        stride, unit = (count - 1) * self.extent, self._kind.itemsize
        low = self._low + min(0, stride)
        nbytes = self._high + max(0, stride) - low
        if self._steps is not None and self.size:
            shape = count, len(self.begins), int(self.lengths[0]) // unit
            return ReachedMemory(count, low, nbytes, int(self.begins[0]) - low, shape, None)
        places = None
        if 0 < count * self.size <= AT_ONCE * unit:
            begins, lengths = self.pieces(0, count * self.size)
            places = spread(begins - low, lengths, unit)
        return ReachedMemory(count, low, nbytes, 0, (0, 0, 0), places)

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
        reach = self.reach(count)
        memory = REAL.buffer.fromaddress(address + reach.low, reach.nbytes, True)
        if self._steps is not None:
            return np.ndarray(reach.shape, self._kind, memory, reach.first, self._steps).tobytes()
        units = np.frombuffer(memory, self._kind)
        return b"".join([units[places].tobytes() for places in self._places(reach)])

    def write(self, address: int, body: bytes) -> None:
        """Put a body into elements at an address; the last element may be there in part."""
        count, rest = divmod(len(body), self.size)
        # A shorter message than the receive allows is legal. Its last element may then be there in
        # part.
        if rest:
            begins, lengths = self.pieces(count * self.size, rest)
            Layout(begins, lengths, self.extent).write(address, body[-rest:])
        if not count:
            return
        reach = self.reach(count)
        memory = REAL.buffer.fromaddress(address + reach.low, reach.nbytes)
        if self._steps is not None:
            into = np.ndarray(reach.shape, self._kind, memory, reach.first, self._steps)
            into[...] = np.ndarray(reach.shape, self._kind, body)
            return
        units, done = np.frombuffer(memory, self._kind), 0
        for places in self._places(reach):
            units[places] = np.frombuffer(body, self._kind, len(places), done)
            done += len(places) * self._kind.itemsize

    def _places(self, reach: ReachedMemory) -> Iterable[Ints]:
        """The places of elements' units in the memory that they reach, in parts."""
        return self._parts(reach) if reach.places is None else (reach.places,)

    def _parts(self, reach: ReachedMemory) -> Iterator[Ints]:
        unit, nbytes = self._kind.itemsize, reach.elements * self.size
        for first in range(0, nbytes, AT_ONCE * unit):
            begins, lengths = self.pieces(first, min(AT_ONCE * unit, nbytes - first))
            yield spread(begins - reach.low, lengths, unit)


# ---- a datatype's layout


_predefined: dict[int, Layout] = {}


@cache
def _keyval() -> int:
    """The key of layouts among datatypes' attributes; MPI makes none before it is initialised."""
    return int(REAL.Datatype.Create_keyval(copy_fn=True))


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
    # The attribute dies with the datatype. A table by handle would answer for another datatype that
    # got the same handle later.
    layout = datatype.Get_attr(_keyval())
    if layout is None and datatype.is_predefined:
        layout = _predefined[datatype.handle] = flattened(datatype)
    if layout is None:
        # The real MPI refuses to send nothing of a datatype that is not committed.
        REAL.COMM_SELF.Sendrecv([None, 0, datatype], 0, 0, [None, 0, REAL.BYTE], 0, 0)
        layout = flattened(datatype)
        datatype.Set_attr(_keyval(), layout)
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
            # `decode` gives new references to derived parts, which have to be freed. Predefined
            # ones must not be.
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
        _require_few(given["count"])
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
    # Asked before the arrays are made: a typing error in a count could ask for more memory than
    # there is.
    _require_few(int(lengths.sum()) * len(begins))
    places = np.repeat(starts, lengths) + spread(np.zeros_like(lengths), lengths) * extent
    return merged((places[:, None] + begins).ravel(), np.tile(sizes, len(places)))


def _require_few(runs: int) -> None:
    """Raise an error if there are too many runs, before they are made."""
    if runs > MOST_RUNS:
        raise UsageError(
            f"A datatype has {runs:,} runs of bytes without gaps, and mpinet takes {MOST_RUNS:,} "
            "at most. Send it in parts."
        )


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
