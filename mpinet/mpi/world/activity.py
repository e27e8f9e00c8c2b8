"""Activity of threads and child processes, as reported by the operating system.

A processor that waits in MPI may still continue after an action of a thread or a child process.
Linux shows in ``/proc`` the current system call of every thread. Without ``/proc``, every thread
counts as possibly active.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path

FUTEX = {"x86_64": 202, "aarch64": 98, "ppc64le": 221, "riscv64": 98, "s390x": 238}.get(
    platform.machine(), -1
)
"""Number of the system call that waits for a lock."""

PRIVATE = 128
"""Flag of a lock that only this process can release."""

RUNNING = "RD"
"""States of a thread that computes or reads from a disk."""


class Activity(IntEnum):
    """Activity of a thread or a process."""

    NONE = 0
    """The thread or process has ended, or waits without limit for a lock that only this process
    releases.
    """
    WAITS = 1
    """The thread or process waits for a time, a file, a socket or another process."""
    COMPUTES = 2
    """The thread or process computes."""


def of_thread(thread: int) -> Activity:
    """Return the activity of a thread of this process, by its native number."""
    folder = Path(f"/proc/self/task/{thread}")
    try:
        call = (folder / "syscall").read_text().split()
    except OSError:
        # A vanished thread cannot help. Without `/proc` nothing is known, and patience is right.
        gone = Path("/proc/self/task").is_dir() and not folder.exists()
        return Activity.NONE if gone else Activity.WAITS
    # The kernel shows this for a thread on a core, or waiting for a core.
    if call[0] == "running":
        return Activity.COMPUTES
    return Activity.NONE if _waits_for_a_lock(call) else Activity.WAITS


def _waits_for_a_lock(call: list[str]) -> bool:
    """Return whether a system call waits without limit for a lock of this process."""
    if int(call[0]) != FUTEX:
        return False
    operation, limit = int(call[2], 16), int(call[4], 16)
    # Another process may release a shared futex, and the clock ends a wait with a time limit. Only
    # the remaining waits are hopeless.
    return bool(operation & PRIVATE) and not limit


def any_thread_runs(others: set[int]) -> bool:
    """Return whether any thread of this process, except the given threads, computes."""
    tasks = Path("/proc/self/task")
    own = (int(name) for name in os.listdir(tasks)) if tasks.is_dir() else ()
    return any(_state(f"/proc/self/task/{one}") in RUNNING for one in own if one not in others)


def children() -> set[int]:
    """Return the child processes of this process."""
    return set(_children(os.getpid()))


def of_children(others: set[int]) -> Activity:
    """Return the greatest activity of child processes and their descendants.

    Parameters
    ----------
    others : set of int
        Children that do not count.
    """
    left = [one for one in _children(os.getpid()) if one not in others | _helpers()]
    found = Activity.NONE
    while left:
        child = left.pop()
        state = _state(f"/proc/{child}")
        if state in RUNNING:
            return Activity.COMPUTES
        if state not in "ZX":
            found = Activity.WAITS
            left += _children(child)
    return found


def _helpers() -> set[int]:
    """Return the helper processes of `multiprocessing` that clean up or fork."""
    places = {"resource_tracker": "_resource_tracker", "forkserver": "_forkserver"}
    found = set()
    for module, name in places.items():
        helper = getattr(sys.modules.get(f"multiprocessing.{module}"), name, None)
        for word in ("_pid", "_forkserver_pid"):
            process = getattr(helper, word, None)
            if isinstance(process, int):
                found.add(process)
    return found


def _children(process: int) -> Iterator[int]:
    """Yield the child processes of a process."""
    folder = Path(f"/proc/{process}/task")
    try:
        tasks = os.listdir(folder)
    except OSError:
        return
    for task in tasks:
        try:
            yield from map(int, (folder / task / "children").read_text().split())
        except OSError:
            continue


def _state(folder: str) -> str:
    """Return the state letter of a thread or process; X if it has ended."""
    try:
        return Path(folder, "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"
