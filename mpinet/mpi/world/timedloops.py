"""Loops that end at a time of the clock: a script may ask in vain for long, and yet go on.

``while time.time() < end and not comm.iprobe(): ..`` is no loop without end. A loop's instructions
show whether it asks for the time.
"""

from __future__ import annotations

import dis
from functools import cache
from itertools import pairwise
from types import CodeType, FrameType

from mpinet.mpi.world.failure import frames_outside

CLOCKS = {"monotonic", "now", "perf_counter", "process_time", "time", "utcnow"}
CLOCKS |= {f"{name}_ns" for name in ("monotonic", "perf_counter", "process_time", "time")}
"""Names of functions that tell the time."""


def in_timed_loop(frame: FrameType | None) -> bool:
    """Return whether a frame, or one that has called it, is in a loop that asks for the time."""
    return any(
        first <= each.f_lasti <= last
        for each in frames_outside(frame)
        for first, last in _timed_loops(each.f_code)
    )


@cache
def _timed_loops(code: CodeType) -> list[tuple[int, int]]:
    """Return the first and the last offset of the loops of a code that ask for the time."""
    # A cheap exit: most functions mention no clock, and disassembly takes milliseconds.
    if not CLOCKS.intersection(code.co_names):
        return []
    instructions = list(dis.get_instructions(code))
    clocks = []
    for one, following in pairwise(instructions):
        is_module = one.opname not in ATTRIBUTES and following.opname in ATTRIBUTES  # time.sleep
        if one.argval in CLOCKS and one.opname.startswith("LOAD_") and not is_module:
            clocks.append(one.offset)
    # A loop is a jump backwards. Source text is not needed, so code from strings and notebooks
    # works as well.
    jumps = [(one.argval, one.offset) for one in instructions if one.opcode in JUMPS]
    return [
        (first, last)
        for first, last in jumps
        if first < last and any(first <= clock <= last for clock in clocks)
    ]


ATTRIBUTES = "LOAD_ATTR", "LOAD_METHOD"
JUMPS = frozenset(dis.hasjrel) | frozenset(dis.hasjabs)
