"""Element types of arrays that only support DLPack.

A capsule contains a C structure that describes the array. The real MPI gets the memory from it. The
element type is read here, on any device, without access to the memory.
"""

from __future__ import annotations

import ctypes
import struct
from typing import Any

CPU = 1
"""DLPack's device type of the host."""

TENSOR_AT = {"dltensor": 0, "dltensor_versioned": 32}
"""Offset of an array's description in a capsule's structure, by the capsule's name."""

TYPE_AT = 20
"""Offset of the element type in an array's description: kind, bits and lanes."""

INTEGERS = {8: "b", 16: "h", 32: "i", 64: "l"}
FLOATS = {16: "e", 32: "f", 64: "d", 128: "g"}

CODES = {
    **{(0, bits): code for bits, code in INTEGERS.items()},
    **{(1, bits): code.upper() for bits, code in INTEGERS.items()},
    **{(2, bits): code for bits, code in FLOATS.items()},
    **{(5, 2 * bits): f"Z{code}" for bits, code in FLOATS.items()},
    (6, 8): "?",
}
"""Codes of element types in the buffer protocol, by DLPack's kind and bits."""

_name = ctypes.pythonapi.PyCapsule_GetName
_name.restype, _name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


def code_of(array: Any) -> str:
    """Return the code of an array's element type; empty for an unknown type.

    Parameters
    ----------
    array : object
        An object with ``__dlpack__`` and ``__dlpack_device__``.
    """
    capsule = _capsule(array)
    name = _name(capsule)
    address = _pointer(capsule, name) + TENSOR_AT[name.decode()] + TYPE_AT
    kind, bits, lanes = struct.unpack("=BBH", ctypes.string_at(address, 4))
    if kind == 2 and lanes == 2:
        kind, bits, lanes = 5, 2 * bits, 1
    return CODES.get((kind, bits), "") if lanes == 1 else ""


def _capsule(array: Any) -> Any:
    """Return an array's capsule, in the newest version that the array supports."""
    stream = {} if array.__dlpack_device__()[0] == CPU else {"stream": -1}
    try:
        return array.__dlpack__(max_version=(1, 0), copy=False, **stream)
    except TypeError:
        return array.__dlpack__(**stream)
