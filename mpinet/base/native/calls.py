"""Calls of native kernels through the extension ``_calls``, or without it through ctypes.

`mpinet.base.native.forms` describes words, forms and records. The extension has the same interface
as `mpinet.base.native.plaincalls` and takes a fiftieth of the time. `python -m
mpinet.base.native.build` compiles the extension.
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
    """Return the extension, or None if it is missing, outdated or unusable."""
    if "t" in sys.abiflags:  # this Python has no global lock
        return None
    try:
        found = import_module("mpinet.base.native._calls")
    except ImportError:
        return None
    return found if is_current(found.BUILT_FROM) else None


_used = _extension()
FORM: str = "extension" if _used else "ctypes"
"""Implementation in use: "extension" or "ctypes"."""

if not TYPE_CHECKING:
    _used = _used or import_module("mpinet.base.native.plaincalls")
    RuleForm, cpu_level, kernel = _used.RuleForm, _used.cpu_level, _used.kernel

__all__ = ["FORM", "RuleForm", "cpu_level", "kernel", "library", "symbol"]


def library(path: str) -> Any:
    """Load a shared library; its kernels hold the global interpreter lock."""
    return ctypes.PyDLL(path)


def symbol(handle: Any, name: str) -> int:
    """Return the address of a library's symbol; 0 if the library lacks it."""
    try:
        return ctypes.cast(getattr(handle, name), ctypes.c_void_p).value or 0
    except AttributeError:
        return 0
