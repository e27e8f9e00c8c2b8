"""Errors of compiled code: one text, ``KIND:MESSAGE``, in the object.

Numba embeds pickles in its code and unpickles them to raise an exception. Here an error is the
address of a zero-terminated text. Raising an error therefore runs no code and no pickle.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, errors
from numba.core.callconv import CPUCallConv, excinfo_ptr_t
from numba.core.cpu import CPUContext

BYTE = ir.IntType(8)


def error_text(kind: type[BaseException] | None, message: str) -> bytes:
    """Return the text of an error, with a zero byte at the end."""
    name = "RuntimeError" if kind is None else kind.__name__
    return f"{name}:{message}".encode().replace(b"\0", b" ") + b"\0"


class TextCallConv(CPUCallConv):
    """Numba's calling convention, with texts as errors."""

    def set_static_user_exc(
        self,
        builder: Any,
        exc: Any,
        exc_args: Any = None,
        loc: Any = None,
        func_name: str | None = None,
    ) -> None:
        """Store the address of the error's text."""
        del loc, func_name  # places on the compiling machine
        self._store(builder, error_text(exc, " ".join(map(str, exc_args or ()))))

    def set_dynamic_user_exc(
        self,
        builder: Any,
        exc: Any,
        exc_args: Any,
        nb_types: Any,
        loc: Any = None,
        func_name: str | None = None,
    ) -> None:
        """Reject an error with a text made at run time."""
        raise errors.UnsupportedError("an error's text must be constant", loc)

    def _store(self, builder: Any, text: bytes) -> None:
        constant = ir.Constant(ir.ArrayType(BYTE, len(text)), bytearray(text))
        place = cgutils.global_constant(builder, ".mp_error", constant)
        address = builder.bitcast(place, excinfo_ptr_t)
        stored = builder.store(address, self._get_excinfo_argument(builder.function))
        mark = builder.module.add_metadata([ir.IntType(1)(1)])
        # Numba omits reference counts only where no pointer escapes. The mark declares that the
        # error's address does not escape.
        stored.set_metadata("numba_exception_output", mark)


# Applies to all code compiled by this process.
CPUContext.call_conv = property(TextCallConv)
