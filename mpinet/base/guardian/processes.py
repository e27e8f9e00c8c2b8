"""Processes of this host, as reported by the operating system, and signals to processes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

RANK_VARIABLES = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID")
"""Environment variables with the rank of a process, set by launchers."""

LAUNCHERS = ("mpirun", "mpiexec", "mpiexec.hydra", "prterun", "prted", "orted", "hydra_pmi_proxy")
"""Names of programs that start ranks and are watched together with the ranks."""


class Process(NamedTuple):
    """The parent of a process of this host, and the state in the notation of ``ps``."""

    parent: int
    state: str


def processes() -> dict[int, Process]:
    """Return all living processes of this host, by process number."""
    found = {}
    for number, parent, state in by_proc() if os.path.isdir("/proc/self") else by_ps():
        # A dead process keeps its number until its parent collects the status; it does not count as
        # running.
        if state[:1] not in ("Z", "X"):
            found[number] = Process(parent, state)
    return found


def by_proc() -> Iterator[tuple[int, int, str]]:
    """Yield the number, parent and state of every process, from Linux's ``/proc``."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            with open(f"/proc/{name}/stat", "rb") as file:
                # A program's name may contain spaces and brackets, so parsing starts at the line's
                # last bracket.
                state, parent = file.read().rpartition(b") ")[2].split(None, 2)[:2]
            yield int(name), int(parent), state.decode()


def by_ps() -> Iterator[tuple[int, int, str]]:
    """Yield the number, parent and state of every process, from the output of ``ps``."""
    import subprocess  # not needed on Linux

    told = subprocess.run(["ps", "-axo", "pid=,ppid=,state="], capture_output=True, text=True)
    for line in told.stdout.splitlines():
        number, parent, state = line.split(None, 2)
        yield int(number), int(parent), state


def descendants(roots: Iterable[int], table: dict[int, Process]) -> list[int]:
    """List the existing roots and all their descendants, except this process."""
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
    """Yield a process's parent, the parent's parent, and so on; the last may be unknown (0)."""
    while number in table:
        number = table[number].parent
        yield number


def setting(number: int, names: Sequence[str]) -> str | None:
    """Return the first of these environment variables set at the start of a process."""
    try:
        with open(f"/proc/{number}/environ", "rb") as file:
            settings = dict(line.partition(b"=")[::2] for line in file.read().split(b"\0"))
    except OSError:
        return None
    texts = (settings.get(name.encode(), b"").decode(errors="replace") for name in names)
    return next(filter(None, texts), None)


def program_of(number: int) -> str:
    """Return the name of a process's program; empty if the process does not exist."""
    try:
        with open(f"/proc/{number}/comm") as file:
            return file.read().strip()
    except OSError:
        return ""


def rank_of(number: int) -> str | None:
    """Return the rank of a process, or of the rank that started it; None for other processes."""
    # Under srun a launcher's daemon is itself a Slurm task and has a task's variables. The daemon
    # waits for all processes started by ranks, so a guardian that waited for the daemon would never
    # end.
    if program_of(number) in LAUNCHERS:
        return None
    return setting(number, RANK_VARIABLES)


def send(number: int, processes: Iterable[int]) -> None:
    """Send a signal to each process that still exists."""
    for process in processes:
        with suppress(OSError):
            os.kill(process, number)


def gone(processes_: Iterable[int], seconds: float) -> bool:
    """Wait until these processes have ended; return whether all end within `seconds`."""
    left, limit = set(processes_), time.monotonic() + seconds
    # Polled, because only a parent can wait for a process, and these are not children.
    while left := left & set(processes()):
        if time.monotonic() > limit:
            return False
        time.sleep(0.05)
    return True


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent, the launcher, dies; Linux only."""
    try:
        import ctypes

        # A killed launcher cannot notify its ranks; the kernel can.
        ctypes.CDLL(None).prctl(1, int(signal.SIGKILL), 0, 0, 0)  # PR_SET_PDEATHSIG
    except (ImportError, OSError, AttributeError):
        return  # the launcher's other mechanisms must suffice
