"""Loops that end at a given time: polling in such a loop is not starvation.

``while time.time() < end and not comm.iprobe(): ..`` ends without a message. The bytecode of a loop
shows whether the loop reads a clock.
"""

from __future__ import annotations

import dis
from functools import cache
from itertools import pairwise
from types import CodeType, FrameType

from mpinet.mpi.world.failure import frames_outside

CLOCKS = {"monotonic", "now", "perf_counter", "process_time", "time", "utcnow"}
CLOCKS |= {f"{name}_ns" for name in ("monotonic", "perf_counter", "process_time", "time")}
"""Names of functions that return the time."""


def in_timed_loop(frame: FrameType | None) -> bool:
    """Return whether a frame or one of its callers is in a loop that reads a clock."""
    return any(
        first <= each.f_lasti <= last
        for each in frames_outside(frame)
        for first, last in _timed_loops(each.f_code)
    )


@cache
def _timed_loops(code: CodeType) -> list[tuple[int, int]]:
    """Return first and last bytecode offsets of the loops in `code` that read a clock."""
    # A cheap exit: most functions mention no clock, and disassembly takes milliseconds.
    if not CLOCKS.intersection(code.co_names):
        return []
    instructions = list(dis.get_instructions(code))
    clocks = []
    for one, following in pairwise(instructions):
        is_module = one.opname not in ATTRIBUTES and following.opname in ATTRIBUTES  # time.sleep
        if one.argval in CLOCKS and one.opname.startswith("LOAD_") and not is_module:
            clocks.append(one.offset)
    # A loop is a jump backwards. Source text is not needed, and code from strings and notebooks
    # also works.
    jumps = [(one.argval, one.offset) for one in instructions if one.opcode in JUMPS]
    return [
        (first, last)
        for first, last in jumps
        if first < last and any(first <= clock <= last for clock in clocks)
    ]


ATTRIBUTES = "LOAD_ATTR", "LOAD_METHOD"
JUMPS = frozenset(dis.hasjrel) | frozenset(dis.hasjabs)
