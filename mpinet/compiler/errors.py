"""Errors of compiled code: one text, ``KIND:MESSAGE``, in the object.

Numba puts pickles into its code and unpickles them to raise an exception. Here an error is the
address of a text that ends with a zero byte, so no code and no pickle is run to raise it.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, errors
from numba.core.callconv import CPUCallConv, excinfo_ptr_t
from numba.core.cpu import CPUContext

BYTE = ir.IntType(8)


def error_text(kind: type[BaseException] | None, message: str) -> bytes:
    """Return the text of an error, with its last byte."""
    name = "RuntimeError" if kind is None else kind.__name__
    return f"{name}:{message}".encode().replace(b"\0", b" ") + b"\0"


class TextCallConv(CPUCallConv):
    """Numba's calling convention, whose errors are texts."""

    def set_static_user_exc(
        self,
        builder: Any,
        exc: Any,
        exc_args: Any = None,
        loc: Any = None,
        func_name: str | None = None,
    ) -> None:
        """Store the address of the error's text."""
        del loc, func_name  # they name places of the machine on which the code was made
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
        """Refuse an error whose text is made at run time."""
        raise errors.UnsupportedError("an error's text must be constant", loc)

    def _store(self, builder: Any, text: bytes) -> None:
        constant = ir.Constant(ir.ArrayType(BYTE, len(text)), bytearray(text))
        place = cgutils.global_constant(builder, ".mp_error", constant)
        address = builder.bitcast(place, excinfo_ptr_t)
        stored = builder.store(address, self._get_excinfo_argument(builder.function))
        mark = builder.module.add_metadata([ir.IntType(1)(1)])
        # Numba drops reference counts only where no pointer escapes. The mark tells it that the
        # error's address is none.
        stored.set_metadata("numba_exception_output", mark)


# All code that this process compiles has errors of this form.
CPUContext.call_conv = property(TextCallConv)
