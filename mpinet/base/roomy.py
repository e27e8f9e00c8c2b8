"""A caller with a large stack frame, to reserve stack space for the calls below it.

CPython keeps the frames of Python functions in chunks of 16 KiB. A loop whose calls cross the end
of a chunk maps a chunk at each call and unmaps it at each return. This costs two system calls and
four page faults instead of some nanoseconds. In a compiler's recursion this happens a million
times. A frame larger than half of a larger chunk gets a larger chunk, and the frames below share
the rest. The system provides memory only for used pages.

Other implementations of Python call the function directly.
"""

import sys
from collections.abc import Callable
from functools import cache
from types import CodeType, FunctionType
from typing import TypeVar

R = TypeVar("R")

COMPILER = 131_500
"""Stack slots of a frame in a chunk of 2 MiB, half of which is space for a compiler."""

PROCESSOR = 3_200
"""Stack slots of a frame in a chunk of 64 KiB, more than half of which is space for other
frames.
"""


def roomy(function: Callable[[], R], places: int = COMPILER) -> Callable[[], R]:
    """Return a function that calls `function` from a frame with reserved stack space.

    Parameters
    ----------
    function : callable
        The function to call, without arguments. A call with arguments in a tuple or a dictionary
        would take C stack, copied by greenlets at every switch.
    places : int
        Stack slots of the frame, 8 bytes each.
    """
    if sys.implementation.name != "cpython":
        return function

    def call() -> R:
        return function()

    code = _with_room(call.__code__, places)
    return FunctionType(code, globals(), "call", None, call.__closure__)


@cache
def _with_room(code: CodeType, places: int) -> CodeType:
    """Return code whose frame reserves `places` stack slots; cached per argument pair."""
    # The code object determines the frame's size: no Python statement is needed to reserve stack
    # slots.
    return code.replace(co_stacksize=places)
