"""The processes of this host, as the system tells of them, and the signals that they are sent."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

RANK_VARIABLES = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID")
"""Variables by which launchers tell a process its rank."""

LAUNCHERS = ("mpirun", "mpiexec", "mpiexec.hydra", "prterun", "prted", "orted", "hydra_pmi_proxy")
"""Programs that start ranks, and are watched with them."""


class Process(NamedTuple):
    """A process of this host: its parent, and its state as ``ps`` writes it."""

    parent: int
    state: str


def processes() -> dict[int, Process]:
    """Return all processes of this host that are not dead, by their numbers."""
    found = {}
    for number, parent, state in by_proc() if os.path.isdir("/proc/self") else by_ps():
        # A dead process keeps its number until its parent looks; it must not count as running.
        if state[:1] not in ("Z", "X"):
            found[number] = Process(parent, state)
    return found


def by_proc() -> Iterator[tuple[int, int, str]]:
    """Yield every process's number, parent and state, as Linux tells them."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            with open(f"/proc/{name}/stat", "rb") as file:
                # A program's name may hold spaces and brackets, so the line is read from its last
                # bracket.
                state, parent = file.read().rpartition(b") ")[2].split(None, 2)[:2]
            yield int(name), int(parent), state.decode()


def by_ps() -> Iterator[tuple[int, int, str]]:
    """Yield every process's number, parent and state, as ``ps`` tells them."""
    import subprocess  # which Linux does not need here

    told = subprocess.run(["ps", "-axo", "pid=,ppid=,state="], capture_output=True, text=True)
    for line in told.stdout.splitlines():
        number, parent, state = line.split(None, 2)
        yield int(number), int(parent), state


def descendants(roots: Iterable[int], table: dict[int, Process]) -> list[int]:
    """List those of the roots that exist, and all their descendants, except this process."""
    children: dict[int, list[int]] = {}
    for number, process in table.items():
        children.setdefault(process.parent, []).append(number)
    found: dict[int, None] = {}
    left = [root for root in roots if root in table]
    while left:
        number = left.pop()
        if number not in found and number != os.getpid():
            found[number] = None
            left += children.get(number, [])
    return list(found)


def ancestors(number: int, table: dict[int, Process]) -> Iterator[int]:
    """Yield a process's parent, the parent of that, and so on; the last may be unknown (0)."""
    while number in table:
        number = table[number].parent
        yield number


def setting(number: int, names: Sequence[str]) -> str | None:
    """Return the first of these environment variables that a process was started with."""
    try:
        with open(f"/proc/{number}/environ", "rb") as file:
            settings = dict(line.partition(b"=")[::2] for line in file.read().split(b"\0"))
    except OSError:
        return None
    texts = (settings.get(name.encode(), b"").decode(errors="replace") for name in names)
    return next(filter(None, texts), None)


def program_of(number: int) -> str:
    """Return the name of a process's program; empty where there is no such process."""
    try:
        with open(f"/proc/{number}/comm") as file:
            return file.read().strip()
    except OSError:
        return ""


def rank_of(number: int) -> str | None:
    """Return the rank that a process is, or was started by; None where there is none."""
    # Under srun a launcher's daemon is a task of Slurm's itself, and has the variables of one. It
    # waits for all that ranks have started: a guardian that waited for it would never end.
    if program_of(number) in LAUNCHERS:
        return None
    return setting(number, RANK_VARIABLES)


def send(number: int, processes: Iterable[int]) -> None:
    """Send a signal to those of the processes that still exist."""
    for process in processes:
        with suppress(OSError):
            os.kill(process, number)


def gone(processes_: Iterable[int], seconds: float) -> bool:
    """Return whether all of these processes end within `seconds`."""
    left, limit = set(processes_), time.monotonic() + seconds
    # Polled, because only a parent can wait for a process, and these are not children.
    while left := left & set(processes()):
        if time.monotonic() > limit:
            return False
        time.sleep(0.05)
    return True


def die_with_parent() -> None:
    """Let the system kill this process where its parent, the launcher, dies; on Linux."""
    try:
        import ctypes

        # A launcher that is killed cannot tell its ranks; the kernel can.
        ctypes.CDLL(None).prctl(1, int(signal.SIGKILL), 0, 0, 0)  # PR_SET_PDEATHSIG
    except (ImportError, OSError, AttributeError):
        return  # the launcher's other ways have to do
