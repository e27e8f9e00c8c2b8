"""Calls of native kernels: by the extension ``_calls``, or by ctypes where there is none.

`mpinet.base.native.plaincalls` describes words, forms and records. The extension does the same ten
times as fast. `python -m mpinet.base.native.build` compiles the extension.
"""

from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING, Any

from mpinet.base.native.build import is_current

if TYPE_CHECKING:
    from mpinet.base.native.plaincalls import RuleForm, cpu_level, kernel

    FORM: str
    """The form that is used: "extension" or "ctypes"."""
else:
    try:
        if "t" in sys.abiflags:
            raise ImportError("the extension needs a Python with a global lock")
        import mpinet.base.native._calls as _calls

        if not is_current(_calls.BUILT_FROM):
            raise ImportError("the extension was built from another source")
        from mpinet.base.native._calls import RuleForm, cpu_level, kernel

        FORM = "extension"
    except ImportError:
        from mpinet.base.native.plaincalls import RuleForm, cpu_level, kernel

        FORM = "ctypes"

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
