"""Buffers: memory of scripts, the source and target of packed message bodies.

A buffer is memory described by a specification (`specifications`): elements of an MPI datatype.
Blocks divide a buffer between several ranks, for example in a gather. Blocks are equal, or have
different counts and displacements (calls with suffix ``v``), or also different datatypes (suffix
``w``). A body consists of the packed elements in order. The layout gives the positions of the
elements' bytes, and the memory's owner limits the valid bytes. Only device memory is packed and
unpacked by the real MPI.
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
from mpinet.mpi.world.calls import running

SELF = REAL.COMM_SELF
"""Communicator for packing and unpacking by the real MPI."""

ANCHOR = bytearray(1)
"""Reference address for datatypes of device memory."""


class Buffer:
    """A buffer of a message: memory described by a specification.

    Parameters
    ----------
    spec : buffer or sequence
        Specification in mpi4py's form.
    writable : bool
        Whether bodies are unpacked into it.
    blocks : int
        Number of equal blocks if no count is given; the buffer is the first block.

    Raises
    ------
    TypeError, ValueError, KeyError, BufferError
        The specification is malformed, as in mpi4py, or the elements exceed the memory.
    """

    __slots__ = ("_layout", "_memory", "_offset", "_whole", "count", "datatype", "nbytes")

    count: int
    """Number of elements."""
    datatype: Any
    """Datatype of the elements. Type: Datatype."""
    nbytes: int
    """Size of a body that fills the buffer, in bytes."""
    _layout: Layout | None
    _memory: Any
    _offset: int
    _whole: bool

    def __init__(self, spec: Any, writable: bool = False, blocks: int = 1):
        self._whole = False
        if type(spec) is np.ndarray and blocks == 1:
            # Whole arrays of known types are the usual argument. Parsing would cost more than the
            # rest of a small send.
            datatype = KNOWN_ARRAYS.get(spec.dtype)
            if datatype is not None:
                self._whole = True  # no count or displacement to check
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
        """Return a buffer of elements at an offset in memory.

        Parameters
        ----------
        memory : buffer or None
            The memory; with None, offsets are addresses.
        offset : int
            Offset of the first element in bytes.
        count : int
            Number of elements.
        datatype : Datatype
            Datatype of the elements.
        layout : Layout, optional
            Layout of the datatype, if known.

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
        """Layout of the elements; remains valid after the script has freed its datatype."""
        if self._layout is None:
            self._layout = layout_of(self.datatype)
        return self._layout

    def after(self, elements: int) -> Buffer:
        """Return a buffer of the same size that begins `elements` elements later."""
        layout = self.layout
        offset = self._offset + elements * layout.extent
        return Buffer.at(self._memory, offset, self.count, self.datatype, layout)

    def read(self) -> bytes:
        """Pack the elements into a message body and return it."""
        if self._whole:
            body: bytes = self._memory.tobytes()
            return body
        if not self.nbytes:
            return b""
        layout, memory = self.layout, self._memory
        if memory is None:
            return layout.read(self.address, self.count)
        # Memory of a device cannot be accessed here. The real MPI can copy it, if built with device
        # support.
        if not _accessible(memory):
            return _read_elsewhere(self.address, layout, self.nbytes)
        if not layout.gapless:
            return layout.read(self.address, self.count)
        # Slicing creates an object, which is needed only if the elements are a part of the memory.
        if self.nbytes < memory.nbytes:
            memory = memory[self._offset : self._offset + self.nbytes]
        body = memory.tobytes()
        return body

    def write(self, data: bytes) -> None:
        """Unpack a received body into the buffer.

        Raises
        ------
        Exception
            ``ERR_TRUNCATE``: the body is too long.
        """
        # Checked before any byte is written: after truncation MPI leaves the buffer undefined, but
        # never the memory behind it.
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

        Elements with gaps may end behind the memory, for example a column that begins in a row of
        an array. They must begin in the memory and end in its owner's memory.
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
        # A column of an array ends behind its row, in memory of the same owner. This is legal, a
        # wrong count is not.
        begins_inside = min(first, last) >= 0 and max(first, last) < memory.nbytes
        if begins_inside and not layout.gapless:
            begin, end = _owned(memory)
            if begin <= low and high <= end:
                return
        raise ValueError(
            f"message: {self.count} elements of {layout.size} bytes exceed the buffer: they take "
            f"bytes {low} to {high}, but the buffer has {memory.nbytes} bytes"
        )

    @property
    def address(self) -> int:
        """Memory address of the first element."""
        return self._offset + (0 if self._memory is None else self._memory.address)

    def _place(self, count: Any, displacement: Any, blocks: int) -> None:
        """Set the offset of the first element and the number of elements."""
        length = 0 if self._memory is None else self._memory.nbytes
        self._offset = offset_of(displacement, self.datatype, length)
        if count is None:
            self.count = inferred_count(length - self._offset, self.datatype, blocks)
            return
        self.count = index(count)
        if self.count < 0:
            raise ValueError(f"message: negative count {self.count}")


class KeptDatatype(REAL.Datatype):  # type: ignore[misc]
    """Duplicate of a datatype, freed together with its last user."""

    def __new__(cls, datatype: Any = None) -> KeptDatatype:
        """Duplicate a datatype; mpi4py creates derived datatypes without an argument."""
        own = None if datatype is None else datatype.Dup()
        made: KeptDatatype = REAL.Datatype.__new__(cls, own)
        return made

    def __del__(self) -> None:
        if self and not REAL.Is_finalized():
            self.Free()


def with_own_datatypes(*arguments: Any) -> list[Any]:
    """Return a call's arguments with duplicates of the datatypes in their specifications.

    A script may free a datatype as soon as a nonblocking or persistent call returns.
    """
    duplicates: dict[int, KeptDatatype] = {}  # a duplicate compares equal only to itself

    def owned(given: Any) -> Any:
        if type(given) in (list, tuple):
            return type(given)(map(owned, given))
        if not isinstance(given, REAL.Datatype) or given.is_predefined:
            return given
        # One duplicate per datatype and call, because reductions compare arguments: equal datatypes
        # must stay equal.
        if given.handle not in duplicates:
            duplicates[given.handle] = KeptDatatype(given)
        return duplicates[given.handle]

    return [owned(each) for each in arguments]


class Blocks:
    """Memory divided into one block per rank.

    Parameters
    ----------
    spec : buffer or sequence
        Specification in mpi4py's form. A count applies to every block. Without a count the memory
        is divided into equal blocks.
    size : int
        Number of ranks.
    writable : bool
        Whether bodies are unpacked into it.

    Raises
    ------
    TypeError, ValueError, KeyError, BufferError
        The specification is malformed, as in mpi4py.
    """

    def __init__(self, spec: Any, size: int, writable: bool = False):
        self._first = Buffer(spec, writable, size)
        # Equal blocks ascend, therefore only the last block can exceed the memory.
        self._require_room(range(size)[-1:])

    def block(self, rank: int) -> Buffer:
        """Return the buffer of one rank's block."""
        return self._first.after(rank * self._first.count) if rank else self._first

    def _require_room(self, ranks: Iterable[int]) -> None:
        """Raise an error if the block of a rank exceeds the memory, before any message is sent."""
        for rank in ranks:
            self.block(rank)

    def read(self, size: int) -> list[bytes]:
        """Return the packed body of every rank's block."""
        whole = self._adjacent(size)
        if whole is None:
            return [self.block(rank).read() for rank in range(size)]
        body, nbytes = whole.tobytes(), self._first.nbytes
        return [body[begin : begin + nbytes] for begin in range(0, size * nbytes, nbytes)]

    def write(self, rank: int, data: bytes) -> None:
        """Unpack a received body into the block of a rank.

        Raises
        ------
        Exception
            ``ERR_TRUNCATE``: the body is too long.
        """
        self.block(rank).write(data)

    def fill(self, bodies: Sequence[bytes]) -> None:
        """Unpack one body per rank into the blocks; raises as `write` does."""
        whole = self._adjacent(len(bodies))
        if whole is None or any(len(body) != self._first.nbytes for body in bodies):
            for rank, body in enumerate(bodies):
                self.write(rank, body)
        else:
            whole[:] = b"".join(bodies)

    def _adjacent(self, size: int) -> Any:
        """Return the memory of all blocks; None if the blocks must be copied one by one."""
        # A checked run reads and writes each block, and compares its datatype with the sender's.
        if type(self) is not Blocks or running.checks is not None:
            return None
        first = self._first
        if not first.nbytes or not first.layout.gapless or not _accessible(first._memory):
            return None
        return first._memory[first._offset : first._offset + size * first.nbytes]


class VectorBlocks(Blocks):
    """Memory divided into blocks of different lengths.

    Parameters
    ----------
    spec : buffer or sequence
        Specification in mpi4py's form: buffer, counts, displacements in elements, datatype.
    size : int
        Number of ranks.
    writable : bool
        Whether bodies are unpacked into it.
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
        """Displacement of each block, in elements."""
        self._layout = layout_of(self.datatype)
        self._require_room(range(size))

    def block(self, rank: int) -> Buffer:
        """Return the buffer of one rank's block."""
        layout = self._layout
        offset = self.displacements[rank] * layout.extent
        return Buffer.at(self._memory, offset, self.counts[rank], self.datatype, layout)


class TypedBlocks(Blocks):
    """Memory divided into blocks of different lengths and datatypes.

    Parameters
    ----------
    spec : sequence
        Specification in mpi4py's form: buffer, counts, displacements in bytes, datatypes.
    size : int
        Number of ranks.
    writable : bool
        Whether bodies are unpacked into it.
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
        """Displacement of each block, in bytes."""
        self.datatypes: Sequence[Any] = list(datatypes)
        """Datatype of each block's elements. Type: sequence of Datatype."""
        if len(self.datatypes) != size:
            raise ValueError(f"expecting {size} items, got {len(self.datatypes)}")
        self._require_room(range(size))

    def block(self, rank: int) -> Buffer:
        """Return the buffer of one rank's block."""
        return Buffer.at(
            self._memory, self.displacements[rank], self.counts[rank], self.datatypes[rank]
        )


def _accessible(memory: Any) -> bool:
    """Return whether memory is accessible from Python; device memory is not."""
    try:
        return memory is not None and memory[0:0].nbytes == 0
    except BufferError:
        return False


def _owned(memory: Any) -> tuple[int, int]:
    """Return the range of bytes owned by a buffer's owner, relative to the buffer's first byte.

    The owner is the array or object whose memory the buffer shows.
    """
    begin, end = memory.address, memory.address + memory.nbytes
    found = memory
    # For a view of a view, the owner of the memory is at the end of the chain and has the full
    # length.
    while (found := _shown(found)) is not None:
        try:
            whole = REAL.buffer.frombuffer(found, True)
        except (BufferError, TypeError, ValueError):
            continue
        if whole.address <= begin and end <= whole.address + whole.nbytes:
            begin, end = whole.address, whole.address + whole.nbytes
    return begin - memory.address, end - memory.address


def _shown(found: Any) -> Any:
    """Return the object whose memory another object shows; None without such an object."""
    if isinstance(found, (memoryview, REAL.buffer)):
        return found.obj
    return getattr(found, "base", None) if hasattr(found, "__array_interface__") else None


@contextmanager
def _placed(address: int, layout: Layout, nbytes: int) -> Iterator[Any]:
    """Context manager: a datatype for the bytes of a body in elements at a device address."""
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
    """Pack elements at a device address into a body."""
    body = bytearray(nbytes)
    with _placed(address, layout, nbytes) as kind:
        kind.Pack(ANCHOR, body, 0, SELF)
    return bytes(body)


def _write_elsewhere(address: int, layout: Layout, data: bytes) -> None:
    """Unpack a body into elements at a device address."""
    with _placed(address, layout, len(data)) as kind:
        kind.Unpack(data, 0, ANCHOR, SELF)
