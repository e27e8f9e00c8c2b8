"""Buffer specifications of mpi4py's upper-case calls, parsed like mpi4py parses them.

A specification is a buffer, or a list of a buffer, count(s), displacement(s) and a datatype. Most
parts are optional. Missing parts are derived from the buffer's element type and length.
"""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from mpinet.mpi.messages import dlpack
from mpinet.mpi.messages.layouts import layout_of
from mpinet.mpi.real import REAL

KNOWN_ARRAYS: dict[np.dtype[Any], Any] = {}
"""Cache of MPI datatypes, by the element type of arrays seen so far without padding."""


def parse(spec: Any, writable: bool, vector: bool = False) -> tuple[Any, Any, Any, Any]:
    """Return memory, count, displacement and datatype of a specification; None if missing."""
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
        # mpi4py reads a tuple as count and displacement. A list means the same only if no list of
        # counts is expected.
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
    """Return whether an object has memory that mpi4py can find."""
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
    """Return the datatype with a code; a datatype is returned unchanged."""
    if isinstance(named, REAL.Datatype):
        return named
    try:
        return REAL._typedict[named]
    except KeyError:
        raise KeyError(f"cannot map {named!r} to MPI datatype") from None


def _datatype_of(found: Any) -> Any:
    """Return the datatype of a buffer's elements."""
    code = _code(found)
    if not code:
        return REAL.BYTE
    if code[0] == ">":
        raise BufferError(f"format string {code!r} with non-native byte order")
    datatype = _datatype(code[1:] if code[0] in "@<" else code)
    # Only types without padding are cached. For other types the number of elements does not follow
    # from the bytes.
    if type(found) is np.ndarray and layout_of(datatype).extent == found.itemsize:
        KNOWN_ARRAYS[found.dtype] = datatype
    return datatype


def _code(found: Any) -> str:
    """Return the code of a buffer's element type; empty if mpi4py treats the elements as bytes."""
    try:
        return memoryview(found).format
    except TypeError:
        pass
    if hasattr(found, "__dlpack__"):
        return dlpack.code_of(found)
    kind: str = found.__cuda_array_interface__["typestr"]
    if kind[0] not in "<>|":
        raise BufferError(f"typestr {kind!r} with unrecognized byte order")
    return kind.lstrip("|") if kind[1:] in REAL._typedict else ""


def offset_of(displacement: Any, datatype: Any, length: int) -> int:
    """Return the offset in bytes of a displacement in elements."""
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


def inferred_count(length: int, datatype: Any, blocks: int) -> int:
    """Return the number of elements in each of several blocks of memory."""
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
    """Return the extent of a datatype; `purpose` is named in the error."""
    if datatype == REAL.DATATYPE_NULL:
        raise ValueError(f"message: cannot {purpose}, datatype is null")
    extent: int = datatype.extent
    if extent <= 0:
        raise ValueError(f"message: cannot {purpose}, datatype extent {extent}")
    return extent


def is_integral(value: Any) -> bool:
    """Return whether a value is an integer rather than a sequence."""
    return hasattr(value, "__index__") and not (hasattr(value, "__len__") and np.ndim(value))


def integers(given: Any, size: int) -> list[int]:
    """Return one integer per rank, from a single integer or a sequence."""
    if is_integral(given):
        return [index(given)] * size
    numbers = [index(number) for number in given]
    if len(numbers) != size:
        raise ValueError(f"expecting {size} items, got {len(numbers)}")
    return numbers
