"""Memory of this host, and the error for runs with a larger need.

Allocations that grow with a network's size are first compared with the available memory. A typing
error in a topology string then ends in an error message, not in a host without memory.
`require_memory` checks a few arrays on one rank, at the place of their allocation.
`mpinet.machine.room` checks the needs of a whole command on all ranks together.
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
"""File with the memory available to new processes without swapping, among other values."""

STATM = Path("/proc/self/statm")
"""File whose first number is the size of this process's address space in pages."""

CGROUPS = Path("/proc/self/cgroup")
"""List of this process's control groups; a group and each of its parents may limit memory."""


@dataclass(frozen=True)
class Controller:
    """Files in which one version of control groups reports memory."""

    root: str | Path
    """The folder of the control groups."""
    limit: str
    """Name of the group's file with its memory limit."""
    usage: str
    """Name of the group's file with its memory usage."""
    given_back: str
    """Key in ``memory.stat`` of the memory that the kernel can reclaim on demand."""


CONTROLLERS = {
    "": Controller("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
    "memory": Controller(
        "/sys/fs/cgroup/memory",
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        "total_inactive_file",
    ),
}
"""Controllers by their name in `CGROUPS`; the name of version 2 is empty."""


@dataclass(frozen=True)
class Allowance:
    """Memory limits set by the user."""

    limit: int | None = None
    """Bytes that all ranks of a host together may take, if less than the available memory."""
    force: bool = False
    """True if a run starts even if it does not fit into the memory."""


_ALLOWANCE: ContextVar[Allowance] = ContextVar("allowance", default=Allowance())  # noqa: B039


def allowance() -> Allowance:
    """Return the user's memory limits in the current context."""
    return _ALLOWANCE.get()


@contextmanager
def allowing(limit: int | str | None, force: bool) -> Iterator[None]:
    """Set the user's memory limits in this context; `limit` as in `bytes_of`, None: no limit."""
    said = Allowance(None if limit is None else bytes_of(limit), bool(force))
    before = _ALLOWANCE.set(said)
    try:
        yield
    finally:
        _ALLOWANCE.reset(before)


def bytes_of(given: int | str) -> int:
    """Parse a user-written number of bytes, at least one: ``4096``, ``4GiB``, ``1.5G``.

    Raises
    ------
    UsageError
        The text is not a number of bytes.
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
        f"A number of bytes is 1 or more, optionally with a unit, such as 4GiB or 500MB, not "
        f"{quoted(str(given))}."
    )


def require_memory(needed: int, what: str) -> None:
    """Raise an error if the ranks of this host need more memory than is available.

    All ranks on a host need the same amount, so all of them raise the same error.

    Parameters
    ----------
    needed : int
        Least number of bytes that this rank is going to hold; the same on all ranks.
    what : str
        Purpose of the memory: the subject of the error sentence, in the singular.

    Raises
    ------
    TooLarge
        The ranks on this host need more than the available memory.
    """
    said = allowance()
    if said.force:
        return
    # Each rank of the host holds the same amount. All ranks compute the same sum and refuse
    # together.
    here = launched_here()
    there_is = min(host_memory(), process_limit() * here, said.limit or host_memory())
    if needed * here > there_is:
        raise TooLarge(
            f"{what} needs {in_units(needed * here)} of memory or more, and there are "
            f"{in_units(there_is)} here."
        )


def out_of_memory(error: MemoryError) -> str:
    """Return the error sentence for a failed allocation."""
    why = f" ({error})" if str(error) else ""
    limit = process_limit()
    there_is = f"there are {in_units(host_memory())} here"
    if limit < host_memory():
        there_is = f"this process may have {in_units(limit)} of address space (ulimit -v)"
    return f"The memory has run out{why}: {there_is}. Use smaller settings, or more hosts."


def in_units(count: int) -> str:
    """Format a number of bytes for people: ``48.0 GiB``."""
    power = min(max(0, count.bit_length() - 1) // 10, len(UNITS) - 1)
    if power == 0:
        return f"{count} bytes"
    tenths = count * 10 >> 10 * power  # integers only: some sizes exceed the range of floats
    return f"{tenths // 10}.{tenths % 10} {UNITS[power]}"


@cache
def host_memory() -> int:
    """Return the bytes of memory available to all processes on this host together."""
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min([physical, *(limit for limit, _ in _control_groups())])


def process_limit() -> int:
    """Return the limit on this process's address space in bytes; a batch system may set one."""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return host_memory() if soft == resource.RLIM_INFINITY else soft


def memory_left() -> int:
    """Return the bytes of memory still free for processes on this host."""
    # The minimum of system and control groups: a batch system's limit ends a job as surely as a
    # full host.
    left = [host_memory(), *(limit - used for limit, used in _control_groups())]
    available = _number_after("MemAvailable:", MEMINFO)
    if available is not None:
        left.append(available * 1024)
    return max(0, min(left))


def address_space_left() -> int | None:
    """Return the bytes of address space still free for this process; None without a limit."""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY:
        return None
    try:
        taken = int(STATM.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        taken = 0
    return max(0, soft - taken)


def _control_groups() -> list[tuple[int, int]]:
    """Return (limit, usage) in bytes of each of this process's control groups with a limit."""
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
    """Return the memory usage of a control group in bytes, without reclaimable memory."""
    used = _number_in(group / where.usage) or 0
    return max(0, used - (_number_after(where.given_back, group / "memory.stat") or 0))


def _number_in(file: Path) -> int | None:
    """Return the number in a control group's file; None for ``max`` or a missing file."""
    try:
        text = file.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isascii() and text.isdigit() else None


def _number_after(word: str, file: Path) -> int | None:
    """Return the number after `word` at the start of a line; None if no line starts like this."""
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return None
    for words in map(str.split, lines):
        if len(words) > 1 and words[0] == word and words[1].isdigit():
            return int(words[1])
    return None
