"""Calls of native kernels: by the extension ``_calls``, or by ctypes where there is none.

`mpinet.base.native.forms` describes words, forms and records. The extension does the same as
`mpinet.base.native.plaincalls`, in a fiftieth of the time. `python -m mpinet.base.native.build`
compiles the extension.
"""

from __future__ import annotations

import ctypes
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mpinet.base.native.build import is_current

if TYPE_CHECKING:
    from mpinet.base.native.plaincalls import RuleForm, cpu_level, kernel


def _extension() -> Any:
    """Return the extension, or None where it cannot be used."""
    if "t" in sys.abiflags:  # this Python has no global lock
        return None
    try:
        found = import_module("mpinet.base.native._calls")
    except ImportError:
        return None
    return found if is_current(found.BUILT_FROM) else None


_used = _extension()
FORM: str = "extension" if _used else "ctypes"
"""The form that is used: "extension" or "ctypes"."""

if not TYPE_CHECKING:
    _used = _used or import_module("mpinet.base.native.plaincalls")
    RuleForm, cpu_level, kernel = _used.RuleForm, _used.cpu_level, _used.kernel

__all__ = ["FORM", "RuleForm", "cpu_level", "kernel", "library", "symbol"]


def library(path: str) -> Any:
    """Load a shared library; kernels of the library run with the global lock."""
    return ctypes.PyDLL(path)


def symbol(handle: Any, name: str) -> int:
    """Return the address of a symbol of a library, or 0."""
    try:
        return ctypes.cast(getattr(handle, name), ctypes.c_void_p).value or 0
    except AttributeError:
        return 0
