"""Buffers: scripts' memory, which message bodies are packed from and unpacked into.

A buffer is memory as a specification describes it (`specifications`): elements of an MPI datatype.
Blocks are several ranks' parts of one, as in a gather: equal, of different counts at different
displacements (the calls with ``v``), or of different datatypes (those with ``w``). A body is the
packed elements, one after another. Elements without gaps are copied; all others are packed and
unpacked by the real MPI.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import index
from typing import Any

import numpy as np

from mpinet.mpi.messages.specifications import (
    KNOWN_ARRAYS,
    gapless_size,
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
"""Memory that datatypes with displacements from nowhere are placed relative to."""


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
        The specification is malformed, as mpi4py has it.
    """

    __slots__ = ("_memory", "_offset", "_whole", "count", "datatype", "nbytes")

    count: int
    """Elements."""
    datatype: Any
    """Their type. Type: Datatype."""
    nbytes: int
    """Bytes of a body that fills it."""
    _memory: Any
    offset_of: int
    _whole: bool

    def __init__(self, spec: Any, writable: bool = False, blocks: int = 1):
        self._whole = False
        if type(spec) is np.ndarray and blocks == 1:
            datatype = KNOWN_ARRAYS.get(spec.dtype)
            if datatype is not None:
                self._whole = True  # no count or place that might not fit
                self._memory = memory = REAL.buffer.frombuffer(spec, not writable)
                self._offset = 0
                self.nbytes = memory.nbytes
                self.count = spec.size
                self.datatype = datatype
                return
        found, count, displacement, self.datatype = parse(spec, writable)
        self._memory = found
        self._place(count, displacement, blocks)
        self.nbytes = self.count * self.datatype.size

    @classmethod
    def at(cls, memory: Any, offset: int, count: int, datatype: Any) -> Buffer:
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
        """
        buffer = cls.__new__(cls)
        buffer._memory = memory
        buffer._offset = offset
        buffer._whole = False
        buffer.count = count
        buffer.datatype = datatype
        buffer.nbytes = count * datatype.size
        return buffer

    def kept(self) -> Buffer:
        """Return the same memory, which outlives the datatype that the caller may free."""
        (datatype,) = with_own_datatypes(self.datatype)
        return Buffer.at(self._memory, self._offset, self.count, datatype)

    def after(self, elements: int) -> Buffer:
        """Return as many elements again, so many elements further on."""
        offset = self._offset + elements * self.datatype.extent
        return Buffer.at(self._memory, offset, self.count, self.datatype)

    def read(self) -> bytes:
        """The body of a message that is sent from here."""
        if self._whole or self._copies:
            memory = self._memory
            if self.nbytes < memory.nbytes:
                memory = memory[self._offset : self._offset + self.nbytes]
            body: bytes = memory.tobytes()
            return body
        return _pack(self.address, self.count, self.datatype) if self.nbytes else b""

    def write(self, data: bytes) -> None:
        """Put a received body here.

        Raises
        ------
        Exception
            ``ERR_TRUNCATE``: it is too long.
        """
        if len(data) > self.nbytes:
            raise REAL.Exception(REAL.ERR_TRUNCATE)
        if self._whole or self._copies:
            self._memory[self._offset : self._offset + len(data)] = data
        elif data:
            _unpack(self.address, data, self.datatype)

    @property
    def _copies(self) -> bool:
        """True if a body is a copy of the memory.

        Raises
        ------
        ValueError
            It would be, but the memory ends before.
        """
        if not _accessible(self._memory) or not gapless_size(self.datatype):
            return False
        if self._offset + self.nbytes > self._memory.nbytes or self._offset < 0:
            raise ValueError(
                f"message: {self.count} elements of {self.datatype.size} bytes exceed the buffer"
            )
        return True

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

    def block(self, rank: int) -> Buffer:
        """The block of a rank."""
        return self._first.after(rank * self._first.count) if rank else self._first

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

    def block(self, rank: int) -> Buffer:
        """The block of a rank."""
        offset = self.displacements[rank] * self.datatype.extent
        return Buffer.at(self._memory, offset, self.counts[rank], self.datatype)


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


@contextmanager
def _elements(address: int, count: int, datatype: Any) -> Iterator[tuple[Any, Any]]:
    """A datatype and memory, as mpi4py's packing takes them, of elements at an address."""
    extent = datatype.extent
    if address > 0 and extent > 0:
        yield datatype, REAL.buffer.fromaddress(address, count * extent)
        return
    placed = datatype.Create_hindexed([count], [address - REAL.Get_address(ANCHOR)])
    single = placed.Create_resized(0, len(ANCHOR)).Commit()
    try:
        yield single, ANCHOR
    finally:
        placed.Free()
        single.Free()


def _pack(address: int, count: int, datatype: Any) -> bytes:
    """The body of elements at an address."""
    body = bytearray(count * datatype.size)
    with _elements(address, count, datatype) as (kind, memory):
        kind.Pack(memory, body, 0, SELF)
    return bytes(body)


def _unpack(address: int, data: bytes, datatype: Any) -> None:
    """Put a body into elements at an address; the last one may be there in part."""
    whole, rest = divmod(len(data), datatype.size)
    if whole:
        with _elements(address, whole, datatype) as (kind, memory):
            kind.Unpack(data, 0, memory, SELF)
    if rest:
        address += whole * datatype.extent
        last = _pack(address, 1, datatype)
        _unpack(address, data[-rest:] + last[rest:], datatype)
