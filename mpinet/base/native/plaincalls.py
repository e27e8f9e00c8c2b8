"""Calls of native kernels through ctypes, for `mpinet.base.native.calls` without the extension."""

from __future__ import annotations

import ctypes
import operator
import os
import re
import struct
from collections.abc import Callable, Sequence
from functools import cache, partial
from threading import get_ident
from typing import Any

import numpy as np

from mpinet.base.arguments import SIGNATURES
from mpinet.base.native.forms import ArgumentForm, check, error, form, no_integer, refusal

C_CONTIGUOUS, ALIGNED = 0x1, 0x100
"""NumPy's flags of arrays."""

SMALLEST, LARGEST = -(2**63), 2**63 - 1

_ENTRY = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_char_p)
)

# Exceptions cannot pass through native frames. They wait here until the kernel has returned.
_raised: dict[int, BaseException] = {}
"""Pending exceptions of Python rules by thread, until the kernel returns."""


class _Record(ctypes.Structure):
    """Memory layout of a rule in native code."""

    _fields_ = (("call", ctypes.c_void_p), ("error", ctypes.c_char_p))


class RuleForm:
    """A rule in the form that kernels accept.

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
        """Address of the rule's record, which is passed to kernels."""
        return ctypes.addressof(self._memory)

    @property
    def address(self) -> int:
        """Address of the rule's native code; 0 if kernels call the Python function."""
        return self._address

    @address.setter
    def address(self, value: int) -> None:
        self._address = value
        self._memory.call = value or ctypes.cast(self._callback, ctypes.c_void_p).value


@cache
def _callback_form(kind: str) -> Any:
    """Return the ctypes function type of a kind of rule."""
    words = sum(1 + dimensions for dimensions in _dimensions(kind))
    return ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, *[ctypes.c_int64] * words)


def _dimensions(kind: str) -> list[int]:
    """Return the number of dimensions of each argument of a rule; 0: an integer."""
    given = re.findall(r"int64(\[[:, 1]*\])?", SIGNATURES[kind].partition("(")[2])
    return [each.count(",") + 1 if each else 0 for each in given]


def _callback(rule: RuleForm) -> Callable[..., int]:
    """Make the function through which native code calls a Python rule."""
    function, memory, views = rule.call, rule._memory, rule._views
    dimensions, start = _dimensions(rule.kind), rule.kind == "start_rule"

    def called(_record: int, *words: int) -> int:
        try:
            # Native code continues to the next rule call before it sees the error; further calls
            # must not run.
            if get_ident() in _raised:  # an earlier call has already failed
                memory.error = b""
                return SMALLEST
            given, rest = [], iter(words)
            for many in dimensions:
                word = next(rest)
                given.append(
                    _view(views, word, *(next(rest) for _ in range(many))) if many else word
                )
            value = function(*given)
            result = 0 if start and value is None else _result(value)
            memory.error = None
            return result
        except BaseException as error:
            _raised[get_ident()] = error
            memory.error = b""
            return SMALLEST

    return called


def _view(views: dict[Any, Any], address: int, *shape: int) -> Any:
    """Return the array of integers at an address; recent arrays are reused."""
    # Building an array takes a microsecond; kernels pass the same few addresses again and again.
    view = views.get((address, shape))
    if view is None:
        count = int(np.prod(shape))
        memory: Any = (ctypes.c_int64 * count).from_address(address)
        view = np.ctypeslib.as_array(memory).reshape(shape) if count else np.empty(shape, np.int64)
        if len(views) > 1000:
            views.clear()
        views[address, shape] = view
    return view


def _result(value: Any) -> int:
    """Convert a rule's result to a 64-bit integer."""
    return _word(value, no_integer, "the result of a rule")


def _integer(form: ArgumentForm, at: int, value: Any) -> tuple[int]:
    return (_word(value, partial(refusal, at, *form), f"argument {at}"),)


def _word(value: Any, wrong: Callable[[Any], TypeError], what: str) -> int:
    """Convert a value to a 64-bit integer; raise ``wrong(value)`` for any other type."""
    try:
        word = int(value) if isinstance(value, np.bool_) else operator.index(value)
    except TypeError:
        raise wrong(value) from None
    if not SMALLEST <= word <= LARGEST:
        raise OverflowError(f"{what} does not fit into 64 bits")
    return word


def _truth(_form: ArgumentForm, _at: int, value: Any) -> tuple[int]:
    return (int(bool(value)),)


def _float(form: ArgumentForm, at: int, value: Any) -> tuple[int]:
    try:
        number = ctypes.c_double(value)
    except TypeError:
        raise refusal(at, *form, value) from None
    return (ctypes.c_int64.from_buffer(number).value,)


def _rule(form: ArgumentForm, at: int, value: Any) -> tuple[int]:
    if not isinstance(value, RuleForm):
        raise refusal(at, *form, value)
    return (value.record,)


def _record(form: ArgumentForm, at: int, value: Any) -> tuple[int]:
    if isinstance(value, np.void):
        dtype, address = value.dtype, np.frombuffer(value, np.uint8).ctypes.data
        if dtype.itemsize == form.size and dtype.isnative and address % dtype.alignment == 0:
            return (address,)
    raise refusal(at, *form, value)


def _array(form: ArgumentForm, at: int, value: Any) -> tuple[int, ...]:
    strided = form.letter == "V"
    # Native code reads with aligned loads and no byte swap; other arrays are refused, not copied.
    needed = ALIGNED if strided else ALIGNED | C_CONTIGUOUS
    if isinstance(value, np.ndarray) and value.flags.num & needed == needed:
        dtype, shape = value.dtype, value.shape
        given = len(shape), dtype.kind, dtype.itemsize
        if given == form[1:] and dtype.isnative:
            return (_address(value), *shape, *(value.strides if strided else ()))
    raise refusal(at, *form, value)


def _address(array: Any) -> int:
    """Return the address of an array's memory."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    except (TypeError, ValueError, BufferError):  # slower; for read-only, empty or strided arrays
        address: int = array.ctypes.data
        return address


WORDS: dict[str, Callable[[ArgumentForm, int, Any], tuple[int, ...]]] = {
    "i": _integer,
    "b": _truth,
    "f": _float,
    "R": _rule,
    "r": _record,
    "A": _array,
    "V": _array,
}
"""Functions that convert an argument to words, by the first letter of its form."""


def _flat(values: Sequence[Any]) -> list[Any]:
    """Return a kernel's arguments as a flat list, with groups expanded."""
    flat: list[Any] = []
    for value in values:
        if isinstance(value, tuple):
            flat += _flat(value)
        else:
            flat.append(value)
    return flat


def kernel(address: int, texts: Sequence[str], result: str) -> Callable[..., Any]:
    """Return a Python function that calls the kernel at an address.

    Parameters
    ----------
    address : int
        Address of the kernel's function.
    texts : sequence of str
        The form of each argument, with groups (tuples) expanded. Calls pass groups unexpanded.
    result : str
        The form of the result.
    """
    given_forms = [form(text) for text in texts]
    packed = struct.Struct(f"={check(address, given_forms, result)}q")
    takes = [partial(WORDS[each.letter], each) for each in given_forms]
    entry, results = _ENTRY(address), result.strip("(v)")
    room = ctypes.c_int64 * (len(results) + 1)
    given_back = struct.Struct("=" + results.translate(str.maketrans("ibf", "qqd")))

    def call(*args: Any) -> Any:
        given = _flat(args)
        words: list[int] = []
        for at, (take, value) in enumerate(zip(takes, given, strict=False)):
            words += take(at, value)
        if len(given) != len(takes):
            raise TypeError(f"the kernel takes {len(takes)} arguments, not {len(given)}")
        memory, text = room(), ctypes.c_char_p()
        status = entry(packed.pack(*words), memory, text)
        if _raised and (own := _raised.pop(get_ident(), None)):
            raise own
        if status:
            raise error(text.value)
        numbers = given_back.unpack_from(memory)
        values = [bool(n) if form == "b" else n for form, n in zip(results, numbers, strict=True)]
        if result[0] == "(":
            return tuple(values)
        return values[0] if values else None

    return call


LEVELS = {
    "x86-64-v2": "pni ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm",
    "x86-64-v3": "fma movbe avx f16c bmi1 avx2 bmi2 abm",
    "x86-64-v4": "avx512f avx512dq avx512cd avx512bw avx512vl",
}
"""Processor levels in ascending order, each with its additional requirements in Linux's words."""


def cpu_level() -> str:
    """Return the level of this processor: x86-64-v2, .., aarch64, or an empty text if unknown."""
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
