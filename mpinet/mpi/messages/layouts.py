"""Layouts: the byte positions of a datatype, and the copying of bodies from and to these positions.

A layout is a list of runs. A run is a range of bytes without gaps. Runs are in the order of the
datatype's type map and derived from the real MPI's description of the datatype. Each datatype
carries its layout as an attribute of the real MPI, which deletes the attribute when the datatype is
freed.
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
"""Maximum number of runs of a datatype; each takes two integers."""

MOST_UNIT = 1 << 30
"""Maximum size of a copied unit in bytes, because NumPy stores an element's size in 31 bits."""

AT_ONCE = 1 << 16
"""Number of units with positions computed at a time, to stay in the cache."""

Runs: TypeAlias = tuple[Ints, Ints]
"""First byte and length of each run."""


class ReachedMemory(NamedTuple):
    """The memory reached by some elements of a datatype, and the positions of their bytes in it."""

    elements: int
    low: int
    """The first byte, relative to the first element's position."""
    nbytes: int
    first: int
    """Position of the first run in this memory."""
    shape: tuple[int, int, int]
    """Number of elements, runs per element and units per run, if the runs are regular."""
    places: Ints | None
    """Positions of all units; None if regular or too many."""

    @property
    def high(self) -> int:
        """End of the last reached byte, relative to the first element's position."""
        return self.low + self.nbytes


class Layout:
    """Byte positions of a datatype's elements.

    Parameters
    ----------
    begins, lengths : ndarray of int64
        The runs in the order of the type map.
    extent : int
        Distance between elements in bytes.
    """

    __slots__ = (
        *("_ends", "_kind", "_last", "_low", "_high", "_steps"),
        *("begins", "extent", "gapless", "lengths", "size"),
    )

    def __init__(self, begins: Ints, lengths: Ints, extent: int):
        self.begins, self.lengths, self.extent = begins, lengths, extent
        self._ends = np.cumsum(lengths)
        self.size = int(lengths.sum())
        """Size of an element's body in bytes."""
        self._low = int(begins.min()) if len(begins) else 0
        self._high = int((begins + lengths).max()) if len(begins) else 0
        self.gapless = len(begins) == 1 and self._low == 0 and self.size == extent
        """True if elements have no gaps and their bytes are in the order of the body."""
        steps, unit = np.diff(begins), int(np.gcd.reduce(lengths))
        step = int(steps[0]) if len(steps) else 0
        # Vectors and sub-arrays are regular: three strides describe them, and NumPy copies them
        # without a list of positions.
        regular = bool((lengths == unit).all() and (steps == step).all())
        if not regular:
            unit = gcd(unit, extent, int(np.gcd.reduce(begins - self._low)))
        unit = unit if unit <= MOST_UNIT else gcd(unit, MOST_UNIT)
        self._kind = np.dtype((np.void, max(unit, 1)))
        self._steps = (extent, step, unit) if regular else None
        """Distances between elements, runs and units in bytes; None if the runs are irregular."""
        self._last = self._reach(1)

    def reach(self, count: int) -> ReachedMemory:
        """Return the memory reached by `count` elements; at least one."""
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
        """Return the runs of a range of bytes of a body.

        Parameters
        ----------
        skipped : int
            Number of bytes of the body before the range.
        nbytes : int
            Length of the range; at least 1.
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
        """Return the run of a body's byte, counted over all elements, and its offset in the run."""
        element, within = divmod(place, self.size)
        run = int(np.searchsorted(self._ends, within, "right"))
        before = int(self._ends[run] - self.lengths[run])
        return element * len(self.begins) + run, within - before

    def read(self, address: int, count: int) -> bytes:
        """Return the body of elements at an address; all their memory must be readable."""
        reach = self.reach(count)
        memory = REAL.buffer.fromaddress(address + reach.low, reach.nbytes, True)
        if self._steps is not None:
            return np.ndarray(reach.shape, self._kind, memory, reach.first, self._steps).tobytes()
        units = np.frombuffer(memory, self._kind)
        return b"".join([units[places].tobytes() for places in self._places(reach)])

    def write(self, address: int, body: bytes) -> None:
        """Unpack a body into elements at an address; the last element may be incomplete."""
        count, rest = divmod(len(body), self.size)
        # A message shorter than the receive allows is legal. Its last element may be incomplete.
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
        """Return the positions of the elements' units in their memory, in parts."""
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
    """Return the attribute key of layouts; MPI creates no keys before its initialization."""
    return int(REAL.Datatype.Create_keyval(copy_fn=True))


def layout_of(datatype: Any) -> Layout:
    """Return the layout of a datatype, for use in messages.

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
    # later gets the same handle.
    layout = datatype.Get_attr(_keyval())
    if layout is None and datatype.is_predefined:
        layout = _predefined[datatype.handle] = flattened(datatype)
    if layout is None:
        # The real MPI refuses an empty send with an uncommitted datatype.
        REAL.COMM_SELF.Sendrecv([None, 0, datatype], 0, 0, [None, 0, REAL.BYTE], 0, 0)
        layout = flattened(datatype)
        datatype.Set_attr(_keyval(), layout)
    return layout


def flattened(datatype: Any) -> Layout:
    """Create the layout of a datatype, committed or not."""
    return Layout(*_runs(datatype), datatype.extent)


def spread(begins: Ints, lengths: Ints, unit: int = 1) -> Ints:
    """Return the positions of the runs' units, one after another."""
    numbers = lengths // unit
    before = np.cumsum(numbers) - numbers
    return np.repeat(begins // unit - before, numbers) + np.arange(numbers.sum())


def _runs(datatype: Any) -> Runs:
    """Return the runs of contiguous bytes of a datatype."""
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
            # `decode` returns new references to derived datatypes, which must be freed. Predefined
            # datatypes must not be freed.
            if not part.is_predefined:
                part.Free()


def _element(datatype: Any) -> Runs:
    """Return the runs of a predefined datatype: one run, or two for a value with an index."""
    size, extent = datatype.size, datatype.extent
    if size == extent:
        return _ints([0]), _ints([size])
    index = REAL.INT.size
    return _ints([0, max(size - index, index)]), _ints([size - index, index])


def _placed(extent: int, combiner: str, given: dict[str, Any]) -> Runs:
    """Return the starts of blocks of elements, and the number of elements of each block."""
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
    """Return the runs of a part of an array, starting with the fastest varying dimension."""
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
    """Return the blocks of a distributed array owned by a process, by dimension."""
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
    """Return the runs of blocks of elements, where each element has runs."""
    begins, sizes = runs
    if len(begins) == 1 and sizes[0] == extent:
        return merged(starts + begins[0], lengths * extent)
    # Checked before the arrays are created, because a typing error in a count could request more
    # memory than available.
    _require_few(int(lengths.sum()) * len(begins))
    places = np.repeat(starts, lengths) + spread(np.zeros_like(lengths), lengths) * extent
    return merged((places[:, None] + begins).ravel(), np.tile(sizes, len(places)))


def _require_few(runs: int) -> None:
    """Raise an error before too many runs are created."""
    if runs > MOST_RUNS:
        raise UsageError(
            f"A datatype has {runs:,} separate runs of bytes, but mpinet allows at most "
            f"{MOST_RUNS:,}. Send the data in parts."
        )


def merged(begins: Ints, lengths: Ints) -> Runs:
    """Merge adjacent runs of bytes."""
    some = lengths > 0
    begins, lengths = begins[some], lengths[some]
    first = np.ones(len(begins), np.bool_)
    first[1:] = begins[1:] != (begins + lengths)[:-1]
    number = np.flatnonzero(first)
    return begins[first], np.add.reduceat(lengths, number) if len(number) else lengths


def _ints(given: Any) -> Ints:
    return np.asarray(given, np.int64)
