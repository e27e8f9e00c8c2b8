"""Forms of the arguments and results of native kernels, and the exceptions of kernels.

A kernel is ``int entry(int64 *in, int64 *out, const char **error)``. Arguments become words of 64
bits; the form of an argument determines its words:

* ``i``, ``b``, ``f``: an integer, a truth value, the bits of a float;
* ``A1i8``: a C-contiguous array with 1 dimension, NumPy kind ``i`` and 8 bytes per element: its
  address and its shape;
* ``V1i8``: the same without the condition of contiguity: its address, its shape and its strides;
* ``r24``: the address of a NumPy record of 24 bytes;
* ``R``: the address of a rule's record.

A result's form is ``v`` (None), ``i``, ``b``, ``f``, or a tuple such as ``(iib)``.

A kernel fails with a status other than 0. Its error is a text such as ``ZeroDivisionError: division
by zero``.

A rule's record is ``{ int64 (*call)(record *, int64 words ..); const char *error; }``. A failing
rule sets the error and returns the smallest integer. An empty error text means: Python holds the
exception.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Sequence
from struct import pack
from typing import Any, NamedTuple

MOST_WORDS, MOST_RESULTS = 4096, 64


class ArgumentForm(NamedTuple):
    """The form of an argument."""

    letter: str
    """First letter of the form's text."""
    dimensions: int
    """Number of an array's dimensions; 0 for other arguments."""
    kind: str
    """NumPy's letter for the elements of an array or a record."""
    size: int
    """Size in bytes of an array's element, or of a record."""

    @property
    def words(self) -> int:
        """Number of 64-bit words of the argument."""
        return 1 + self.dimensions * (2 if self.letter == "V" else 1)


def form(text: str) -> ArgumentForm:
    """Parse the form of an argument."""
    if text in ("i", "b", "f", "R"):
        return ArgumentForm(text, 0, " ", 0)
    found = re.fullmatch(r"(?:([AV])([1-9])([a-zA-Z])|r)([1-9]\d{0,8})", text, re.ASCII)
    if not found:
        raise ValueError(f"invalid form '{text}' of an argument")
    return ArgumentForm(found[1] or "r", int(found[2] or 0), found[3] or "V", int(found[4]))


def check(address: int, forms: Sequence[ArgumentForm], result: str) -> int:
    """Return the number of argument words of a kernel; raise `ValueError` for invalid parts."""
    # A wrong address would end the process without a traceback.
    if not 0 < address < 2**64:
        raise ValueError(f"a kernel has no address {address}")
    if not re.fullmatch(rf"[vibf]|\([ibf]{{0,{MOST_RESULTS}}}\)", result):
        raise ValueError(f"invalid form '{result}' of a result")
    words = sum(each.words for each in forms)
    if words > MOST_WORDS:
        raise ValueError(f"a kernel takes at most {MOST_WORDS} words")
    return words


def read(address: int, texts: Sequence[str], result: str) -> tuple[int, bytes, int, str, bool]:
    """Convert a kernel's address, argument forms and result form for the extension."""
    forms = [form(text) for text in texts]
    words = check(address, forms, result)
    packed = (pack("4iq", ord(a), n, ord(kind), size, 0) for a, n, kind, size in forms)
    return address, b"".join(packed), words, result.strip("(v)"), result[0] == "("


def refusal(at: int, letter: str, dimensions: int, kind: str, size: int, value: Any) -> TypeError:
    """Return the exception for an argument that does not match its form."""
    import numpy as np

    expected = {
        "i": "an integer",
        "f": "a number",
        "R": "a rule",
        "r": f"an aligned native record of {size} bytes",
        "A": f"an aligned native C-contiguous array of {kind}{size} with {dimensions} dimensions",
        "V": f"an aligned native array of {kind}{size} with {dimensions} dimensions",
    }[letter]
    given = type(value).__name__
    if isinstance(value, np.ndarray):
        given = f"an array of dtype {value.dtype}, shape {value.shape} and strides {value.strides}"
    elif isinstance(value, np.void):
        given = f"a record of dtype {value.dtype}"
    return TypeError(f"argument {at} must be {expected}, not {given}")


def no_integer(value: Any) -> TypeError:
    """Return the exception for a rule's result that is not an integer."""
    return TypeError(f"a rule must return an integer, not {type(value).__name__}")


def error(text: bytes | None) -> Exception:
    """Convert a kernel's error text to an exception."""
    if not text:
        return SystemError("a kernel failed without an error")
    name, _, rest = text.decode(errors="replace").partition(":")
    kind = getattr(builtins, name, None)
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        return RuntimeError(text.decode(errors="replace"))
    rest = rest.removeprefix(" ")
    return kind(rest) if rest else kind()
