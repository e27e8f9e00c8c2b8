"""A caller whose frame is so large that the calls below it find room for theirs.

CPython 3.11 and later keeps the frames of Python functions in chunks of 16 KiB. A loop that calls
and returns across the end of a chunk maps a chunk at each call and unmaps it at each return. These
are two system calls and four page faults instead of some nanoseconds. A compiler's recursion does
so a million times. A frame that asks for more than half of a larger chunk gets such a chunk, and
the frames below it share the rest. The system gives memory only to the pages that a frame uses.

CPython 3.10 keeps each frame on the heap. There the size of a frame decides what it costs, so the
function is called as it is.
"""

import sys
from collections.abc import Callable
from functools import cache
from types import CodeType, FunctionType
from typing import TypeVar

R = TypeVar("R")

COMPILER = 131_500
"""Places on the stack of a frame with a chunk of 2 MiB, half of it room for a compiler."""

PROCESSOR = 3_200
"""Places on the stack of a frame with a chunk of 64 KiB, more than half of it room for others."""


def roomy(function: Callable[[], R], places: int = COMPILER) -> Callable[[], R]:
    """Return a function that calls this one from a frame with room below it.

    Parameters
    ----------
    function : callable
        The function to call, without arguments. A call with arguments in a tuple or a dictionary
        would take C stack, which a greenlet copies at every switch.
    places : int
        Places on the stack that the frame asks for, 8 bytes each.
    """
    if sys.version_info < (3, 11) or sys.implementation.name != "cpython":
        return function

    def call() -> R:
        return function()

    code = _with_room(call.__code__, places)
    return FunctionType(code, globals(), "call", None, call.__closure__)


@cache
def _with_room(code: CodeType, places: int) -> CodeType:
    """Return code whose frame asks for so many places, the same object each time."""
    # The frame's size is decided by the code object, so no Python statement is needed to reserve
    # it.
    return code.replace(co_stacksize=places)
