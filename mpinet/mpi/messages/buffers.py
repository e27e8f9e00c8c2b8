"""Scripts' memory: message bodies are taken from it, and put into it, as MPI's datatypes say.

A specification is what mpi4py's upper-case calls take: a buffer, or a list of a buffer, a count, a
displacement and a datatype. A body is the packed elements, one after another. Elements without
gaps are copied; all others are packed and unpacked by the real MPI.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import index
from typing import Any

import numpy as np

from mpinet.mpi.messages import dlpack
from mpinet.mpi.real import REAL

SELF = REAL.COMM_SELF
"""Where the real MPI packs and unpacks."""

ANCHOR = bytearray(1)
"""Memory that datatypes with displacements from nowhere are placed relative to."""

_of_arrays: dict[np.dtype[Any], Any] = {}
_gapless: dict[int, int] = {}


def read(spec: Any) -> bytes:
    """The body of a message that is sent from a specification."""
    return Buffer(spec).read()


def write(spec: Any, data: bytes) -> None:
    """Put a received body into a specification.

    Raises
    ------
    Exception
        ``ERR_TRUNCATE``: the body is longer than the specification.
    """
    Buffer(spec, writable=True).write(data)


def typed(spec: Any) -> tuple[int, Any]:
    """Number of elements and datatype of a specification."""
    buffer = Buffer(spec)
    return buffer.count, buffer.datatype


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

    Attributes
    ----------
    count : int
        Elements.
    datatype : Datatype
        Their type.
    nbytes : int
        Bytes of a body that fills it.

    Raises
    ------
    TypeError, ValueError, KeyError, BufferError
        The specification is malformed, as mpi4py has it.
    """

    __slots__ = ("_memory", "_offset", "_whole", "count", "datatype", "nbytes")

    count: int
    datatype: Any
    nbytes: int
    _memory: Any
    _offset: int
    _whole: bool

    def __init__(self, spec: Any, writable: bool = False, blocks: int = 1):
        self._whole = False
        if type(spec) is np.ndarray and blocks == 1:
            datatype = _of_arrays.get(spec.dtype)
            if datatype is not None:
                self._whole = True  # no count or place that might not fit
                self._memory = memory = REAL.buffer.frombuffer(spec, not writable)
                self._offset = 0
                self.nbytes = memory.nbytes
                self.count = spec.size
                self.datatype = datatype
                return
        found, count, displacement, self.datatype = _parts(spec, writable)
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
        one = cls.__new__(cls)
        one._memory = memory
        one._offset = offset
        one._whole = False
        one.count = count
        one.datatype = datatype
        one.nbytes = count * datatype.size
        return one

    def kept(self) -> Buffer:
        """The same memory, also when the caller has freed its datatype."""
        if self.datatype.is_predefined:
            return self
        return KeptBuffer.at(self._memory, self._offset, self.count, self.datatype.Dup())

    def after(self, elements: int) -> Buffer:
        """As many elements again, so many elements further on."""
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
        return _pack(self._address, self.count, self.datatype) if self.nbytes else b""

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
            _unpack(self._address, data, self.datatype)

    @property
    def _copies(self) -> bool:
        """Whether a body is a copy of the memory.

        Raises
        ------
        ValueError
            It would be, but the memory ends before.
        """
        if not _accessible(self._memory) or not _gapless_size(self.datatype):
            return False
        if self._offset + self.nbytes > self._memory.nbytes or self._offset < 0:
            raise ValueError(
                f"message: {self.count} elements of {self.datatype.size} bytes exceed the buffer"
            )
        return True

    @property
    def _address(self) -> int:
        """Where the first element is."""
        return self._offset + (0 if self._memory is None else self._memory.address)

    def _place(self, count: Any, displacement: Any, blocks: int) -> None:
        """Find the first element and the number of elements."""
        length = 0 if self._memory is None else self._memory.nbytes
        self._offset = _offset(displacement, self.datatype, length)
        if count is None:
            self.count = _inferred(length - self._offset, self.datatype, blocks)
            return
        self.count = index(count)
        if self.count < 0:
            raise ValueError(f"message: negative count {self.count}")


class KeptBuffer(Buffer):
    """Memory with a datatype of its own."""

    __slots__ = ()

    def __del__(self) -> None:
        if not REAL.Is_finalized():
            self.datatype.Free()


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

    @staticmethod
    def v(spec: Any, size: int, writable: bool = False) -> Blocks:
        """Blocks of various lengths and places, as ``Alltoallv`` takes them."""
        return VectorBlocks(spec, size, writable)

    @staticmethod
    def w(spec: Any, size: int, writable: bool = False) -> Blocks:
        """Blocks of various lengths, places and datatypes, as ``Alltoallw`` takes them."""
        return TypedBlocks(spec, size, writable)

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

    Attributes
    ----------
    counts, displacements : sequence of int
        Elements of each block, and before it.
    datatype : Datatype
        The elements' type.
    """

    def __init__(self, spec: Any, size: int, writable: bool = False):
        memory, counts, displacements, self.datatype = _parts(spec, writable, vector=True)
        self._memory = memory
        if counts is None:
            length = 0 if memory is None else memory.nbytes
            each, more = divmod(_inferred(length, self.datatype, 1), size or 1)
            counts = [each + (rank < more) for rank in range(size)]
        self.counts = _integers(counts, size)
        if displacements is None:
            ends = np.cumsum(self.counts, dtype=np.int64)
            displacements = (ends - self.counts).tolist() if size else []
        elif _integral(displacements):
            displacements = [rank * index(displacements) for rank in range(size)]
        self.displacements = _integers(displacements, size)

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

    Attributes
    ----------
    counts, displacements : sequence of int
        Elements of each block, and bytes before it.
    datatypes : sequence of Datatype
        The type of each block's elements.
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
        self.counts = _integers(list(counts), size)
        self.displacements = _integers(list(displacements), size)
        self.datatypes: Sequence[Any] = list(datatypes)
        if len(self.datatypes) != size:
            raise ValueError(f"expecting {size} items, got {len(self.datatypes)}")

    def block(self, rank: int) -> Buffer:
        """The block of a rank."""
        return Buffer.at(
            self._memory, self.displacements[rank], self.counts[rank], self.datatypes[rank]
        )


# ---- specifications


def _parts(spec: Any, writable: bool, vector: bool = False) -> tuple[Any, Any, Any, Any]:
    """A specification's memory, count, displacement and datatype; what is not given is None."""
    found = spec
    count: Any = None
    displacement: Any = None
    datatype: Any = None
    if isinstance(spec, (list, tuple)):
        if len(spec) == 2:
            found, count = spec
            if isinstance(count, (REAL.Datatype, str)):
                count, datatype = None, count
        elif len(spec) == 3:
            found, count, datatype = spec
        elif len(spec) == 4:
            found, count, displacement, datatype = spec
        else:
            raise ValueError("message: expecting 2 to 4 items")
        pair = isinstance(count, tuple) or (isinstance(count, list) and not vector)
        if pair and len(spec) < 4:
            count, displacement = count
    elif not _is_buffer(spec):
        raise TypeError("message: expecting buffer or list/tuple")
    if found is None or found is REAL.BOTTOM:
        if found is None and not vector and count is not None and index(count) > 0:
            raise ValueError(f"message: buffer is None but count is {count}")
        return None, count, displacement, _datatype(datatype)
    memory = REAL.buffer.frombuffer(found, not writable)
    if datatype is not None:
        return memory, count, displacement, _datatype(datatype)
    return memory, count, displacement, _datatype_of(found)


def _is_buffer(found: Any) -> bool:
    """Whether something has memory that mpi4py can find."""
    if hasattr(found, "__dlpack__") or hasattr(found, "__cuda_array_interface__"):
        return True
    try:
        memoryview(found)
    except TypeError:
        return False
    except (BufferError, ValueError):
        return True
    return True


def _datatype(named: Any) -> Any:
    """A datatype that is given as such or by its code."""
    if isinstance(named, REAL.Datatype):
        return named
    try:
        return REAL._typedict[named]
    except KeyError:
        raise KeyError(f"cannot map {named!r} to MPI datatype") from None


def _datatype_of(found: Any) -> Any:
    """The datatype of a buffer's own elements."""
    code = _code(found)
    if code == "B":
        return REAL.BYTE
    if code[0] == ">":
        raise BufferError(f"format string {code!r} with non-native byte order")
    datatype = _datatype(code[1:] if code[0] in "@<" else code)
    if type(found) is np.ndarray and _gapless_size(datatype) == found.itemsize:
        _of_arrays[found.dtype] = datatype
    return datatype


def _code(found: Any) -> str:
    """The code of a buffer's elements."""
    try:
        return memoryview(found).format
    except TypeError:
        pass
    if hasattr(found, "__dlpack__"):
        return dlpack.code_of(found)
    kind: str = found.__cuda_array_interface__["typestr"]
    if kind[0] not in "<>|":
        raise BufferError(f"typestr {kind!r} with unrecognized byte order")
    return kind.lstrip("|") if kind[1:] in REAL._typedict else "B"


def _offset(displacement: Any, datatype: Any, length: int) -> int:
    """The bytes before a displacement in elements."""
    elements = 0 if displacement is None else index(displacement)
    if elements < 0:
        raise ValueError(f"message: negative displacement {elements}")
    if elements == 0:
        return 0
    extent = _extent(datatype, "handle displacement")
    if elements * extent > length:
        raise ValueError(
            f"message: displacement {elements} out of bounds, "
            f"number of datatype entries {length // extent}"
        )
    return elements * extent


def _inferred(length: int, datatype: Any, blocks: int) -> int:
    """The elements in each of several blocks of memory."""
    if length <= 0:
        return 0
    extent = _extent(datatype, "infer count")
    entries, rest = divmod(length, extent)
    if rest:
        raise ValueError(
            f"message: cannot infer count, buffer length {length} is not a multiple of datatype "
            f"extent {extent}"
        )
    if blocks < 2:
        return entries
    if entries % blocks:
        raise ValueError(
            f"message: cannot infer count, number of entries {entries} is not a multiple of "
            f"required number of blocks {blocks}"
        )
    return entries // blocks


def _extent(datatype: Any, purpose: str) -> int:
    """The extent of a datatype, which a purpose needs."""
    if datatype == REAL.DATATYPE_NULL:
        raise ValueError(f"message: cannot {purpose}, datatype is null")
    extent: int = datatype.extent
    if extent <= 0:
        raise ValueError(f"message: cannot {purpose}, datatype extent {extent}")
    return extent


def _integral(one: Any) -> bool:
    """Whether something is one integer rather than a sequence."""
    return hasattr(one, "__index__") and not (hasattr(one, "__len__") and np.ndim(one))


def _integers(given: Any, size: int) -> list[int]:
    """One integer per rank."""
    if _integral(given):
        return [index(given)] * size
    numbers = [index(one) for one in given]
    if len(numbers) != size:
        raise ValueError(f"expecting {size} items, got {len(numbers)}")
    return numbers


# ---- bodies


def _gapless_size(datatype: Any) -> int:
    """The size of a predefined datatype whose elements are dense in memory; 0 of any other."""
    size = _gapless.get(datatype.handle)
    if size is None:
        if not datatype.is_predefined or datatype.size != datatype.extent:
            return 0
        size = _gapless[datatype.handle] = datatype.size
    return size


def _accessible(memory: Any) -> bool:
    """Whether memory may be touched without the real MPI, which knows devices."""
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
