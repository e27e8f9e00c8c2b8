"""Memory of this host, and the error for a run that does not fit into it.

What grows with a network's size is compared with this before it is allocated: a typing error in a
topology string ends in a sentence, not in a host without memory. `require_memory` looks at one
array or a few, which no rank could hold, wherever they are made; what a whole command needs is
compared with what there is by `mpinet.machine.room`, for all ranks together.
"""

from __future__ import annotations

import os
import re
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from mpinet.base.launched import launched_here
from mpinet.base.numerals import quoted
from mpinet.errors import TooLarge, UsageError

UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB")

FACTORS: dict[str, int] = {
    "": 1,
    "B": 1,
    **{f"{letter}B": 1000**power for power, letter in enumerate("KMGTPE", 1)},
    **{f"{letter}iB": 1024**power for power, letter in enumerate("KMGTPE", 1)},
    **{letter: 1024**power for power, letter in enumerate("KMGTPE", 1)},
}
"""Bytes per unit: ``4GiB`` and ``4G`` are 2^32 bytes, ``4GB`` are 4*10^9."""

NUMBER_AND_UNIT = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,9})?) ?([A-Za-z]{0,3})")

MEMINFO = Path("/proc/meminfo")
"""File that tells, among much else, how much memory new processes can have without swapping."""

STATM = Path("/proc/self/statm")
"""File whose first number is the pages of this process's address space."""

CGROUPS = Path("/proc/self/cgroup")
"""List of this process's control groups; a group may limit memory, and so may its parents."""


@dataclass(frozen=True)
class Controller:
    """Files in which a version of control groups tells about memory."""

    root: str | Path
    """The folder of its groups."""
    limit: str
    """Name of the group's file with its memory limit."""
    usage: str
    """Name of the group's file with its memory usage."""
    given_back: str
    """Line of ``memory.stat`` with the memory that the kernel gives back on demand."""


CONTROLLERS = {
    "": Controller("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
    "memory": Controller(
        "/sys/fs/cgroup/memory",
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        "total_inactive_file",
    ),
}
"""Controllers by the name in `CGROUPS`; version 2 has an empty one."""


@dataclass(frozen=True)
class Allowance:
    """Memory that the user allows."""

    limit: int | None = None
    """Bytes that the ranks of a host may take together, where there are more."""
    force: bool = False
    """True if a run is tried that does not fit."""


_ALLOWANCE: ContextVar[Allowance] = ContextVar("allowance", default=Allowance())  # noqa: B039


def allowance() -> Allowance:
    """Return what the user allows for the work in progress."""
    return _ALLOWANCE.get()


@contextmanager
def allowing(limit: int | str | None, force: bool) -> Iterator[None]:
    """Set what the user allows in this context; `limit` as in `bytes_of`, or None for no limit."""
    said = Allowance(None if limit is None else bytes_of(limit), bool(force))
    before = _ALLOWANCE.set(said)
    try:
        yield
    finally:
        _ALLOWANCE.reset(before)


def bytes_of(given: int | str) -> int:
    """Parse a number of bytes, at least one, as a user writes it: ``4096``, ``4GiB``, ``1.5G``.

    Raises
    ------
    UsageError
        It is none.
    """
    found = NUMBER_AND_UNIT.fullmatch(str(given).strip())
    units = {unit.lower(): factor for unit, factor in FACTORS.items()}
    factor = units.get(found[2].lower()) if found else None
    if found is not None and factor is not None:
        # Whole numbers throughout: a float would lose bytes of large limits.
        whole, _, part = found[1].partition(".")
        count = int(whole) * factor
        count += int(part or 0) * factor // int(10 ** len(part))
        if count:
            return count
    raise UsageError(
        f"A number of bytes is 1 or more, or one with a unit, such as 4GiB or 500MB, not "
        f"{quoted(str(given))}."
    )


def require_memory(needed: int, what: str) -> None:
    """Refuse what does not fit into the memory of this host.

    Ranks that share a host need as much each, so that all of them refuse, with one sentence.

    Parameters
    ----------
    needed : int
        Bytes that this rank is going to hold, at least; the same number on all ranks.
    what : str
        What for: the sentence's subject, in the singular.

    Raises
    ------
    TooLarge
        The ranks on this host would need more than there is.
    """
    said = allowance()
    if said.force:
        return
    # Each rank of the host holds as much. All compute the same sum and so refuse together.
    here = launched_here()
    there_is = min(host_memory(), process_limit() * here, said.limit or host_memory())
    if needed * here > there_is:
        raise TooLarge(
            f"{what} needs {in_units(needed * here)} of memory or more, and there are "
            f"{in_units(there_is)} here."
        )


def out_of_memory(error: MemoryError) -> str:
    """Return the error for memory that has run out although nothing was refused."""
    why = f" ({error})" if str(error) else ""
    limit = process_limit()
    there_is = f"there are {in_units(host_memory())} here"
    if limit < host_memory():
        there_is = f"this process may have {in_units(limit)} of address space (ulimit -v)"
    return f"The memory has run out{why}: {there_is}. Ask for less, or run it on more hosts."


def in_units(count: int) -> str:
    """Format a number of bytes for people: ``48.0 GiB``."""
    power = min(max(0, count.bit_length() - 1) // 10, len(UNITS) - 1)
    if power == 0:
        return f"{count} bytes"
    tenths = count * 10 >> 10 * power  # whole numbers: there are sizes that no float holds
    return f"{tenths // 10}.{tenths % 10} {UNITS[power]}"


@cache
def host_memory() -> int:
    """Bytes of memory that the processes on this host may have together."""
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min([physical, *(limit for limit, _ in _control_groups())])


def process_limit() -> int:
    """Bytes of address space that this process may have; a batch system may set it."""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return host_memory() if soft == resource.RLIM_INFINITY else soft


def memory_left() -> int:
    """Bytes of memory that processes on this host can still take, by system and control groups."""
    # The least of system and control groups: a batch system's limit ends a job as surely as the
    # host's memory.
    left = [host_memory(), *(limit - used for limit, used in _control_groups())]
    available = _number_after("MemAvailable:", MEMINFO)
    if available is not None:
        left.append(available * 1024)
    return max(0, min(left))


def address_space_left() -> int | None:
    """Bytes of address space that this process can still take; None without a limit."""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY:
        return None
    try:
        taken = int(STATM.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        taken = 0
    return max(0, soft - taken)


def _control_groups() -> list[tuple[int, int]]:
    """Yield the limit of each of this process's control groups that has one, and what it holds."""
    try:
        lines = CGROUPS.read_text().splitlines()
    except OSError:
        return []
    found = []
    for _, controllers, path in (line.split(":", 2) for line in lines):
        for controller in set(controllers.split(",")) & set(CONTROLLERS):
            where = CONTROLLERS[controller]
            group = PurePosixPath(path.lstrip("/"))
            # Limits are inherited, and the tightest may be set several levels above.
            for above in (group, *group.parents):
                limit = _number_in(Path(where.root, above, where.limit))
                if limit is not None:
                    found.append((limit, _held(Path(where.root, above), where)))
    return found


def _held(group: Path, where: Controller) -> int:
    """Bytes that a control group holds, without what it gives back on demand."""
    used = _number_in(group / where.usage) or 0
    return max(0, used - (_number_after(where.given_back, group / "memory.stat") or 0))


def _number_in(file: Path) -> int | None:
    """Return the number in a control group's file; None for ``max`` or without such a file."""
    try:
        text = file.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isascii() and text.isdigit() else None


def _number_after(word: str, file: Path) -> int | None:
    """Return the number behind a line's first word; None without such a line."""
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return None
    for words in map(str.split, lines):
        if len(words) > 1 and words[0] == word and words[1].isdigit():
            return int(words[1])
    return None
