"""Calls of native kernels by ctypes, where there is no extension (see `mpinet.base.native.calls`).

A kernel is ``int entry(int64 *in, int64 *out, const char **error)``. Arguments become words of 64
bits; each argument's form says which words it has:

* ``i``, ``b``, ``f``: an integer, a truth value, the bits of a float;
* ``A1i8``: a C-contiguous array with 1 dimension, of NumPy's kind ``i`` and 8 bytes an element: its
  address and its shape; ``V1i8``: any array of these: its address, its shape and its strides;
* ``r24``: the address of a NumPy record of 24 bytes;
* ``R``: the address of a rule's record.

A result's form is ``v`` (None), ``i``, ``b``, ``f``, or a tuple such as ``(iib)``. A kernel fails by
a status other than 0; the error is a text such as ``ZeroDivisionError: division by zero``.

A rule's record is ``{ int64 (*call)(record *, int64 words ..); const char *error; }``. A failing
rule sets the error and returns the smallest integer. The empty text means: Python has the exception.
"""

from __future__ import annotations

import builtins
import ctypes
import operator
import os
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from threading import get_ident
from typing import Any

import numpy as np

from mpinet.base.arguments import SIGNATURES

SMALLEST, LARGEST = -(2**63), 2**63 - 1
MOST_WORDS, MOST_RESULTS = 4096, 64

_ENTRY = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_char_p)
)

_raised: dict[int, BaseException] = {}
"""Exceptions of rules in Python, by thread, from the rule to the end of the kernel."""


class _Record(ctypes.Structure):
    """The memory that native code takes for a rule."""

    _fields_ = (("call", ctypes.c_void_p), ("error", ctypes.c_char_p))


class RuleForm:
    """A rule as kernels take it.

    Parameters
    ----------
    function : callable
        The rule in Python.
    kind : str
        Name of its signature (a key of `mpinet.base.arguments.SIGNATURES`).
    """

    __slots__ = ("_address", "_callback", "_memory", "_views", "call", "kind")

    def __init__(self, function: Callable[..., Any], kind: str):
        if not callable(function):
            raise TypeError(f"a rule must be callable: {function!r}")
        if kind not in SIGNATURES:
            raise ValueError(f"there is no kind of rules named '{kind}'")
        self.call = function
        self.kind = kind
        self._views: dict[Any, Any] = {}
        self._memory = _Record()
        self._callback = _callback_form(kind)(_callback(self))
        self.address = 0

    @property
    def record(self) -> int:
        """Address of what kernels take for the rule."""
        return ctypes.addressof(self._memory)

    @property
    def address(self) -> int:
        """Address of the rule's native code; 0: kernels call Python."""
        return self._address

    @address.setter
    def address(self, value: int) -> None:
        self._address = value
        self._memory.call = value or ctypes.cast(self._callback, ctypes.c_void_p).value


@cache
def _callback_form(kind: str) -> Any:
    """Return ctypes' type of what native code calls for a rule."""
    words = sum(1 + dimensions for dimensions in _dimensions(kind))
    return ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, *[ctypes.c_int64] * words)


def _dimensions(kind: str) -> list[int]:
    """Return the number of dimensions of each argument of a rule; 0: an integer."""
    given = re.findall(r"int64(\[[:, 1]*\])?", SIGNATURES[kind].partition("(")[2])
    return [each.count(",") + 1 if each else 0 for each in given]


def _callback(rule: RuleForm) -> Callable[..., int]:
    """Make the function that native code calls for a rule in Python."""
    function, memory, views = rule.call, rule._memory, rule._views
    dimensions, start = _dimensions(rule.kind), rule.kind == "start_rule"

    def called(_record: int, *words: int) -> int:
        try:
            memory.error = None
            if get_ident() in _raised:  # the kernel should have ended before
                memory.error = b""
                return SMALLEST
            given, rest = [], iter(words)
            for many in dimensions:
                word = next(rest)
                given.append(
                    _view(views, word, *(next(rest) for _ in range(many))) if many else word
                )
            value = function(*given)
            return 0 if start and value is None else _result(value)
        except BaseException as error:
            _raised[get_ident()] = error
            memory.error = b""
            return SMALLEST

    return called


def _view(views: dict[Any, Any], address: int, *shape: int) -> Any:
    """Return the array of integers at an address; most calls need a former one again."""
    view = views.get((address, shape))
    if view is None:
        count = int(np.prod(shape))
        memory = (ctypes.c_int64 * count).from_address(address)
        view = (
            np.frombuffer(memory, np.int64).reshape(shape) if count else np.empty(shape, np.int64)
        )
        if len(views) > 1000:
            views.clear()
        views[address, shape] = view
    return view


def _result(value: Any) -> int:
    """Return a rule's result, an integer of 64 bits."""
    if isinstance(value, np.bool_):
        return int(value)
    if not hasattr(type(value), "__index__"):
        raise TypeError(f"a rule must return an integer, not {type(value).__name__}")
    result = operator.index(value)
    if not SMALLEST <= result <= LARGEST:
        raise OverflowError("the result of a rule does not fit into 64 bits")
    return result


def _integer(at: int, value: Any) -> tuple[int]:
    if isinstance(value, np.bool_):
        return (int(value),)
    if not hasattr(type(value), "__index__"):
        raise _refusal(at, "an integer", value)
    try:
        word = operator.index(value)
    except TypeError:
        raise _refusal(at, "an integer", value) from None
    if not SMALLEST <= word <= LARGEST:
        raise OverflowError(f"argument {at} does not fit into 64 bits")
    return (word,)


def _truth(_at: int, value: Any) -> tuple[int]:
    return (int(bool(value)),)


def _float(at: int, value: Any) -> tuple[int]:
    try:
        number = ctypes.c_double(value)
    except TypeError:
        raise _refusal(at, "a number", value) from None
    return (ctypes.c_int64.from_buffer(number).value,)


def _rule(at: int, value: Any) -> tuple[int]:
    if not isinstance(value, RuleForm):
        raise _refusal(at, "a rule", value)
    return (value.record,)


SINGLE: dict[str, Callable[[int, Any], tuple[int, ...]]] = {
    "i": _integer,
    "b": _truth,
    "f": _float,
    "R": _rule,
}
"""Functions that return the words of an argument, by its form; the others need sizes."""


def _array(strided: bool, dimensions: int, kind: str, size: int) -> Callable[..., tuple[int, ...]]:
    layout = "native array" if strided else "native C-contiguous array"
    expected = f"an aligned {layout} of {kind}{size} with {dimensions} dimensions"

    def words(at: int, value: Any) -> tuple[int, ...]:
        if isinstance(value, np.ndarray) and value.ndim == dimensions:
            dtype, flags = value.dtype, value.flags
            if (
                (dtype.kind, dtype.itemsize) == (kind, size)
                and (strided or flags.c_contiguous)
                and flags.aligned
                and dtype.isnative
            ):
                return (value.ctypes.data, *value.shape, *(value.strides if strided else ()))
        raise _refusal(at, expected, value)

    return words


def _record(size: int) -> Callable[..., tuple[int, ...]]:
    expected = f"an aligned native record of {size} bytes"

    def words(at: int, value: Any) -> tuple[int, ...]:
        if isinstance(value, np.void) and value.dtype.itemsize == size and value.dtype.isnative:
            address: int = np.frombuffer(value, np.uint8).ctypes.data
            if address % value.dtype.alignment == 0:
                return (address,)
        raise _refusal(at, expected, value)

    return words


def _words_of(form: str) -> tuple[Callable[[int, Any], tuple[int, ...]], int]:
    """Return the function for an argument of this form, and its number of words."""
    if form in SINGLE:
        return SINGLE[form], 1
    if found := re.fullmatch(r"([AV])([1-9])([^\d\W])([1-9]\d*)", form):
        kind, dimensions = found[1], int(found[2])
        made = _array(kind == "V", dimensions, found[3], int(found[4]))
        return made, 1 + dimensions * (1 + (kind == "V"))
    if found := re.fullmatch(r"r([1-9]\d*)", form):
        return _record(int(found[1])), 1
    raise ValueError(f"there is no form '{form}' of arguments")


def _refusal(at: int, expected: str, value: Any) -> TypeError:
    given = type(value).__name__
    if isinstance(value, np.ndarray):
        given = f"an array of dtype {value.dtype}, shape {value.shape} and strides {value.strides}"
    elif isinstance(value, np.void):
        given = f"a record of dtype {value.dtype}"
    return TypeError(f"argument {at} must be {expected}, not {given}")


def _flat(values: Sequence[Any]) -> Iterator[Any]:
    """Yield the arguments of a kernel one by one, also those in groups."""
    for value in values:
        if isinstance(value, tuple):
            yield from _flat(value)
        else:
            yield value


def kernel(address: int, forms: Sequence[str], result: str) -> Callable[..., Any]:
    """Make a function of the kernel at an address.

    Parameters
    ----------
    address : int
        Address of the kernel's entry.
    forms : sequence of str
        The form of each argument. Groups (tuples) are given as they are.
    result : str
        The form of the result.
    """
    if not address:
        raise ValueError("a kernel has no address 0")
    if not re.fullmatch(rf"[vibf]|\([ibf]{{0,{MOST_RESULTS}}}\)", result):
        raise ValueError(f"there is no form '{result}' of results")
    made = [_words_of(form) for form in forms]
    if sum(words for _, words in made) > MOST_WORDS:
        raise ValueError(f"a kernel takes at most {MOST_WORDS} words")
    entry = _ENTRY(address)
    takes = [words for words, _ in made]
    packed = struct.Struct(f"={sum(words for _, words in made)}q")
    results = result.strip("()").replace("v", "")
    given_back = struct.Struct("=" + results.translate(str.maketrans("ibf", "qqd")))

    def call(*args: Any) -> Any:
        given = list(_flat(args))
        words = [
            word
            for at, (take, value) in enumerate(zip(takes, given, strict=False))
            for word in take(at, value)
        ]
        if len(given) != len(takes):
            raise TypeError(f"the kernel takes {len(takes)} arguments, not {len(given)}")
        memory, error = ctypes.create_string_buffer(given_back.size + 8), ctypes.c_char_p()
        status = entry(packed.pack(*words), memory, error)
        if _raised and (own := _raised.pop(get_ident(), None)):
            raise own
        if status:
            raise _error(error.value)
        numbers = given_back.unpack_from(memory)
        values = [bool(n) if form == "b" else n for form, n in zip(results, numbers, strict=True)]
        if result[0] == "(":
            return tuple(values)
        return values[0] if values else None

    return call


def _error(text: bytes | None) -> Exception:
    """Return the exception that a kernel's text names."""
    if not text:
        return SystemError("a kernel failed without an error")
    name, _, rest = text.decode(errors="replace").partition(":")
    kind = getattr(builtins, name, None)
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        return RuntimeError(text.decode(errors="replace"))
    rest = rest.removeprefix(" ")
    return kind(rest) if rest else kind()


LEVELS = {
    "x86-64-v2": "pni ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm",
    "x86-64-v3": "fma movbe avx f16c bmi1 avx2 bmi2 abm",
    "x86-64-v4": "avx512f avx512dq avx512cd avx512bw avx512vl",
}
"""Levels of processors, from the lowest, with what each needs in addition, in Linux' words."""


def cpu_level() -> str:
    """Return the level of this processor: x86-64-v2, .., aarch64, or the empty text."""
    machine = os.uname().machine
    if machine in ("aarch64", "arm64"):
        return "aarch64"
    try:
        with open("/proc/cpuinfo") as file:
            flags = next((line.split() for line in file if line.startswith("flags")), [])
    except OSError:
        return ""
    level = ""
    for name, needed in LEVELS.items():
        if machine != "x86_64" or not set(needed.split()) <= set(flags):
            break
        level = name
    return level
