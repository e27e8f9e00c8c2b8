"""Buffers: scripts' memory, which message bodies are packed from and unpacked into.

A buffer is memory as a specification describes it (`specifications`): elements of an MPI datatype.
Blocks are several ranks' parts of one, as in a gather: equal, of different counts at different
displacements (the calls with ``v``), or of different datatypes (those with ``w``). A body is the
packed elements, one after another. Their layout says where their bytes are, and the memory's owner
which bytes there are. The real MPI packs and unpacks memory of devices alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from operator import index
from typing import Any

import numpy as np

from mpinet.mpi.messages.layouts import Layout, layout_of
from mpinet.mpi.messages.specifications import (
    KNOWN_ARRAYS,
    inferred_count,
    integers,
    is_integral,
    offset_of,
    parse,
)
from mpinet.mpi.real import REAL

SELF = REAL.COMM_SELF
"""Communicator in which the real MPI packs and unpacks."""

ANCHOR = bytearray(1)
"""Memory that datatypes of devices' memory are placed relative to."""


class Buffer:
    """Memory as one specification describes it.

    Parameters
    ----------
    spec : buffer or sequence
        As mpi4py takes it.
    writable : bool
        Whether bodies are put into it.
    blocks : int
        Of how many equal ones it is the first, where no count is given.

    Raises
    ------
    TypeError, ValueError, KeyError, BufferError
        The specification is malformed, as mpi4py has it, or the elements exceed the memory.
    """

    __slots__ = ("_layout", "_memory", "_offset", "_whole", "count", "datatype", "nbytes")

    count: int
    """Elements."""
    datatype: Any
    """Their type. Type: Datatype."""
    nbytes: int
    """Bytes of a body that fills it."""
    _layout: Layout | None
    _memory: Any
    _offset: int
    _whole: bool

    def __init__(self, spec: Any, writable: bool = False, blocks: int = 1):
        self._whole = False
        if type(spec) is np.ndarray and blocks == 1:
            # Whole arrays of known types are the usual argument. Parsing would cost more than all
            # the rest of a small send.
            datatype = KNOWN_ARRAYS.get(spec.dtype)
            if datatype is not None:
                self._whole = True  # no count or place that might not fit
                self._layout = None
                self._memory = memory = REAL.buffer.frombuffer(spec, not writable)
                self._offset = 0
                self.nbytes = memory.nbytes
                self.count = spec.size
                self.datatype = datatype
                return
        found, count, displacement, self.datatype = parse(spec, writable)
        self._memory = found
        self._place(count, displacement, blocks)
        self._layout = layout_of(self.datatype)
        self.nbytes = self.count * self._layout.size
        self._require_room()

    @classmethod
    def at(
        cls, memory: Any, offset: int, count: int, datatype: Any, layout: Layout | None = None
    ) -> Buffer:
        """Elements from a place in memory on.

        Parameters
        ----------
        memory : buffer or None
            The memory; None: offsets are addresses.
        offset : int
            Bytes before the first element.
        count : int
            Elements.
        datatype : Datatype
            Their type.
        layout : Layout, optional
            The type's layout, where it is known.

        Raises
        ------
        ValueError
            The elements exceed the memory.
        """
        buffer = cls.__new__(cls)
        buffer._layout = layout = layout or layout_of(datatype)
        buffer._memory = memory
        buffer._offset = offset
        buffer._whole = False
        buffer.count = count
        buffer.datatype = datatype
        buffer.nbytes = count * layout.size
        buffer._require_room()
        return buffer

    @property
    def layout(self) -> Layout:
        """The places of the elements' bytes, which outlive the script's datatype."""
        if self._layout is None:
            self._layout = layout_of(self.datatype)
        return self._layout

    def after(self, elements: int) -> Buffer:
        """Return as many elements again, so many elements further on."""
        layout = self.layout
        offset = self._offset + elements * layout.extent
        return Buffer.at(self._memory, offset, self.count, self.datatype, layout)

    def read(self) -> bytes:
        """The body of a message that is sent from here."""
        if self._whole:
            body: bytes = self._memory.tobytes()
            return body
        if not self.nbytes:
            return b""
        layout, memory = self.layout, self._memory
        if memory is None:
            return layout.read(self.address, self.count)
        # Memory of a device cannot be touched from here. The real MPI knows how to copy it, if it
        # was built for that.
        if not _accessible(memory):
            return _read_elsewhere(self.address, layout, self.nbytes)
        if not layout.gapless:
            return layout.read(self.address, self.count)
        # Slicing makes an object. It is worth it only where the elements are a part of the memory.
        if self.nbytes < memory.nbytes:
            memory = memory[self._offset : self._offset + self.nbytes]
        body = memory.tobytes()
        return body

    def write(self, data: bytes) -> None:
        """Put a received body here.

        Raises
        ------
        Exception
            ``ERR_TRUNCATE``: it is too long.
        """
        # Checked before anything is written: MPI leaves the buffer of a truncated receive
        # undefined, but never what lies behind it.
        if len(data) > self.nbytes:
            raise REAL.Exception(REAL.ERR_TRUNCATE)
        if self._whole:
            self._memory[: len(data)] = data
            return
        if not data:
            return
        memory = self._memory
        if memory is not None and not _accessible(memory):
            _write_elsewhere(self.address, self.layout, data)
        elif memory is not None and self.layout.gapless:
            memory[self._offset : self._offset + len(data)] = data
        else:
            self.layout.write(self.address, data)

    def _require_room(self) -> None:
        """Raise an error if the elements exceed the memory.

        Elements with gaps may end behind the memory, as a column that begins in an array's row
        does. They have to begin in the memory, and to end in that of its owner.
        """
        layout, memory, first = self.layout, self._memory, self._offset
        if memory is None or not self.nbytes:
            return
        if layout.gapless and 0 <= first <= memory.nbytes - self.nbytes:
            return
        reach = layout.reach(self.count)
        low, high = first + reach.low, first + reach.high
        if low >= 0 and high <= memory.nbytes:
            return
        last = first + (self.count - 1) * layout.extent
        # A column of an array ends behind its row, in memory of the same owner. That is legal,
        # while a wrong count is not.
        begins_inside = min(first, last) >= 0 and max(first, last) < memory.nbytes
        if begins_inside and not layout.gapless:
            begin, end = _owned(memory)
            if begin <= low and high <= end:
                return
        raise ValueError(
            f"message: {self.count} elements of {layout.size} bytes exceed the buffer: they take "
            f"bytes {low} to {high}, and it has {memory.nbytes}"
        )

    @property
    def address(self) -> int:
        """Address of the first element."""
        return self._offset + (0 if self._memory is None else self._memory.address)

    def _place(self, count: Any, displacement: Any, blocks: int) -> None:
        """Find the first element and the number of elements."""
        length = 0 if self._memory is None else self._memory.nbytes
        self._offset = offset_of(displacement, self.datatype, length)
        if count is None:
            self.count = inferred_count(length - self._offset, self.datatype, blocks)
            return
        self.count = index(count)
        if self.count < 0:
            raise ValueError(f"message: negative count {self.count}")


class KeptDatatype(REAL.Datatype):  # type: ignore[misc]
    """Duplicate of a datatype that is freed with the last who uses it."""

    def __new__(cls, datatype: Any = None) -> KeptDatatype:
        """Duplicate a datatype; those that mpi4py derives from one begin without any."""
        own = None if datatype is None else datatype.Dup()
        made: KeptDatatype = REAL.Datatype.__new__(cls, own)
        return made

    def __del__(self) -> None:
        if self and not REAL.Is_finalized():
            self.Free()


def with_own_datatypes(*arguments: Any) -> list[Any]:
    """Return a call's arguments with duplicates of the datatypes in their specifications.

    MPI lets a script free a datatype as soon as a nonblocking or persistent call returns.
    """
    duplicates: dict[int, KeptDatatype] = {}  # a datatype's duplicate equals itself alone

    def owned(given: Any) -> Any:
        if type(given) in (list, tuple):
            return type(given)(map(owned, given))
        if not isinstance(given, REAL.Datatype) or given.is_predefined:
            return given
        # One duplicate per datatype and call: arguments that were equal have to stay equal, as
        # reductions compare them.
        if given.handle not in duplicates:
            duplicates[given.handle] = KeptDatatype(given)
        return duplicates[given.handle]

    return [owned(each) for each in arguments]


class Blocks:
    """Memory that is divided into one block per rank.

    Parameters
    ----------
    spec : buffer or sequence
        As mpi4py takes it: a count is that of every block; without one the memory is divided into
        equal blocks.
    size : int
        Ranks.
    writable : bool
        Whether bodies are put into it.

    Raises
    ------
    TypeError, ValueError, KeyError, BufferError
        The specification is malformed, as mpi4py has it.
    """

    def __init__(self, spec: Any, size: int, writable: bool = False):
        self._first = Buffer(spec, writable, size)
        # Equal blocks ascend, so that only the last one can exceed the memory.
        self._require_room(range(size)[-1:])

    def block(self, rank: int) -> Buffer:
        """The block of a rank."""
        return self._first.after(rank * self._first.count) if rank else self._first

    def _require_room(self, ranks: Iterable[int]) -> None:
        """Raise an error if the block of a rank exceeds the memory, before any message is sent."""
        for rank in ranks:
            self.block(rank)

    def read(self, rank: int) -> bytes:
        """The body of a message that is sent from the block of a rank."""
        return self.block(rank).read()

    def write(self, rank: int, data: bytes) -> None:
        """Put a received body into the block of a rank.

        Raises
        ------
        Exception
            ``ERR_TRUNCATE``: it is too long.
        """
        self.block(rank).write(data)


class VectorBlocks(Blocks):
    """Memory that is divided into blocks of various lengths.

    Parameters
    ----------
    spec : buffer or sequence
        As mpi4py takes it: buffer, counts, displacements in elements, datatype.
    size : int
        Ranks.
    writable : bool
        Whether bodies are put into it.
    """

    datatype: Any
    """Datatype of the elements. Type: Datatype."""

    def __init__(self, spec: Any, size: int, writable: bool = False):
        memory, counts, displacements, self.datatype = parse(spec, writable, vector=True)
        self._memory = memory
        if counts is None:
            length = 0 if memory is None else memory.nbytes
            each, more = divmod(inferred_count(length, self.datatype, 1), size or 1)
            counts = [each + (rank < more) for rank in range(size)]
        self.counts: list[int] = integers(counts, size)
        """Number of elements of each block."""
        if displacements is None:
            ends = np.cumsum(self.counts, dtype=np.int64)
            displacements = (ends - self.counts).tolist() if size else []
        elif is_integral(displacements):
            displacements = [rank * index(displacements) for rank in range(size)]
        self.displacements: list[int] = integers(displacements, size)
        """Number of elements before each block."""
        self._layout = layout_of(self.datatype)
        self._require_room(range(size))

    def block(self, rank: int) -> Buffer:
        """The block of a rank."""
        layout = self._layout
        offset = self.displacements[rank] * layout.extent
        return Buffer.at(self._memory, offset, self.counts[rank], self.datatype, layout)


class TypedBlocks(Blocks):
    """Memory that is divided into blocks of various lengths and datatypes.

    Parameters
    ----------
    spec : sequence
        As mpi4py takes it: buffer, counts, displacements in bytes, datatypes.
    size : int
        Ranks.
    writable : bool
        Whether bodies are put into it.
    """

    def __init__(self, spec: Any, size: int, writable: bool = False):
        counts: Any = None
        displacements: Any = None
        if len(spec) == 2:
            found, datatypes = spec
        elif len(spec) == 3:
            found, (counts, displacements), datatypes = spec
        elif len(spec) == 4:
            found, counts, displacements, datatypes = spec
        else:
            raise ValueError("message: expecting 2 to 4 items")
        nowhere = found is None or found is REAL.BOTTOM
        if nowhere and (counts is None or displacements is None):
            raise ValueError("message: BOTTOM requires counts and displs")
        if counts is None and displacements is None:
            counts, displacements = [1] * size, [0] * size
        self._memory = None if nowhere else REAL.buffer.frombuffer(found, not writable)
        self.counts: list[int] = integers(list(counts), size)
        """Number of elements of each block."""
        self.displacements: list[int] = integers(list(displacements), size)
        """Number of bytes before each block."""
        self.datatypes: Sequence[Any] = list(datatypes)
        """The type of each block's elements. Type: sequence of Datatype."""
        if len(self.datatypes) != size:
            raise ValueError(f"expecting {size} items, got {len(self.datatypes)}")
        self._require_room(range(size))

    def block(self, rank: int) -> Buffer:
        """The block of a rank."""
        return Buffer.at(
            self._memory, self.displacements[rank], self.counts[rank], self.datatypes[rank]
        )


def _accessible(memory: Any) -> bool:
    """Tell if memory may be touched without the real MPI, which knows devices."""
    try:
        return memory is not None and memory[0:0].nbytes == 0
    except BufferError:
        return False


def _owned(memory: Any) -> tuple[int, int]:
    """The bytes that a buffer's owner has, counted from the buffer's first byte.

    The owner is the array of which the buffer shows a part, or the object that this one shows.
    """
    begin, end = memory.address, memory.address + memory.nbytes
    found = memory
    # A view of a view: the owner of the memory is at the end of the chain, and knows how long it
    # is.
    while (found := _shown(found)) is not None:
        try:
            whole = REAL.buffer.frombuffer(found, True)
        except (BufferError, TypeError, ValueError):
            continue
        if whole.address <= begin and end <= whole.address + whole.nbytes:
            begin, end = whole.address, whole.address + whole.nbytes
    return begin - memory.address, end - memory.address


def _shown(found: Any) -> Any:
    """The object whose memory another one shows; None if there is none."""
    if isinstance(found, (memoryview, REAL.buffer)):
        return found.obj
    return getattr(found, "base", None) if hasattr(found, "__array_interface__") else None


@contextmanager
def _placed(address: int, layout: Layout, nbytes: int) -> Iterator[Any]:
    """A datatype of the bytes of a body, which are elements at an address on a device."""
    begins, lengths = layout.pieces(0, nbytes)
    begins += address - REAL.Get_address(ANCHOR)
    placed = REAL.BYTE.Create_hindexed(lengths.tolist(), begins.tolist())
    single = placed.Create_resized(0, len(ANCHOR)).Commit()
    try:
        yield single
    finally:
        placed.Free()
        single.Free()


def _read_elsewhere(address: int, layout: Layout, nbytes: int) -> bytes:
    """The body of elements at an address on a device."""
    body = bytearray(nbytes)
    with _placed(address, layout, nbytes) as kind:
        kind.Pack(ANCHOR, body, 0, SELF)
    return bytes(body)


def _write_elsewhere(address: int, layout: Layout, data: bytes) -> None:
    """Put a body into elements at an address on a device."""
    with _placed(address, layout, len(data)) as kind:
        kind.Unpack(data, 0, ANCHOR, SELF)
