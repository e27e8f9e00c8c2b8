"""Room for frames: no depth of calls at which the calls below map memory again and again."""

import inspect
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from greenlet import greenlet

from mpinet.base.roomy import COMPILER, PROCESSOR, roomy

CALLS = 400
"""Calls at each depth."""

DEPTHS = range(1, 200)
"""Depths, of more frames in all than a chunk of 16 KiB has room for."""


def leaf(a: int = 1, b: int = 2, c: int = 3, d: int = 4) -> int:
    """Take a frame that is almost as large as those above it."""
    return a + b + c + d


def call_often() -> None:
    """Call a function many times."""
    for _ in range(CALLS):
        leaf()


def descend(depth: int) -> None:
    """Call many times at a depth."""
    if depth:
        descend(depth - 1)
    else:
        call_often()


def depths_with_faults() -> int:
    """Return at how many depths each call makes the system map a page."""
    found = 0
    for depth in DEPTHS:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        descend(depth)
        found += resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before >= CALLS
    return found


def within_greenlet(function: Callable[[], int]) -> int:
    """Return the result of a function that is a greenlet's first."""
    found: int = greenlet(function).switch()
    return found


@pytest.mark.parametrize("places", [COMPILER, PROCESSOR])
def test_calls_below_a_roomy_frame_map_no_memory(places: int) -> None:
    assert roomy(depths_with_faults, places)() == 0
    assert within_greenlet(roomy(depths_with_faults, places)) == 0


def test_without_room_calls_at_the_end_of_a_chunk_do() -> None:
    # This is the cause; where a Python has it no longer, there is no need for room.
    needed = (3, 11) <= sys.version_info < (3, 14)
    assert bool(within_greenlet(depths_with_faults)) == needed


def test_a_roomy_function_returns_and_raises_what_the_function_does() -> None:
    assert roomy(lambda: (1, "two"))() == (1, "two")
    with pytest.raises(ZeroDivisionError):
        roomy(lambda: 1 // 0)()


SCRIPT = f"""
import resource
from mpi4py import MPI

CALLS, DEPTHS = {CALLS}, {DEPTHS}
{inspect.getsource(leaf)}
{inspect.getsource(call_often)}
{inspect.getsource(descend)}
{inspect.getsource(depths_with_faults)}
print(MPI.COMM_WORLD.rank, depths_with_faults())
"""


def test_each_processor_of_a_script_has_room(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    words = [sys.executable, "-m", "mpinet", "exec", "--on", "ring:3", "script.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line[:1] in "012" and len(line) == 3]
    assert lines == ["0 0", "1 0", "2 0"]
