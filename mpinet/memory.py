"""Memory of this host, and the sentence for what does not fit into it.

What grows with a network's size is compared with this before it is allocated: a typing error in a
topology string ends in a sentence, not in a host without memory.
"""

from __future__ import annotations

import os
import resource
from functools import cache
from pathlib import Path, PurePosixPath

from mpinet.errors import TooLarge
from mpinet.launched import launched_here

UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB")

CGROUPS = Path("/proc/self/cgroup")
"""Lists the control groups of this process; a group may limit memory, and so may its parents."""

CGROUP_LIMITS = {
    "": ("/sys/fs/cgroup", "memory.max"),
    "memory": ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
}
"""Where limits stand, by the controller that `CGROUPS` names: version 2 names none."""


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
    here = launched_here()
    there_is = min(host_memory(), process_limit() * here)
    if needed * here > there_is:
        raise TooLarge(
            f"{what} needs {in_units(needed * here)} of memory or more, and there are "
            f"{in_units(there_is)} here."
        )


def out_of_memory(error: MemoryError) -> str:
    """The sentence for memory that has run out where nothing had refused before."""
    why = f" ({error})" if str(error) else ""
    return (
        f"The memory has run out{why}: there are {in_units(host_memory())} here. Ask for less, or "
        "run it on more hosts."
    )


def in_units(count: int) -> str:
    """A number of bytes as a person reads it: ``48.0 GiB``."""
    power = min(max(0, count.bit_length() - 1) // 10, len(UNITS) - 1)
    if power == 0:
        return f"{count} bytes"
    tenths = count * 10 >> 10 * power  # whole numbers: there are sizes that no float holds
    return f"{tenths // 10}.{tenths % 10} {UNITS[power]}"


@cache
def host_memory() -> int:
    """Bytes of memory that the processes on this host may have together."""
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min([physical, *_cgroup_limits()])


def process_limit() -> int:
    """Bytes of address space that this process may have; a batch system may set it."""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return host_memory() if soft == resource.RLIM_INFINITY else soft


def _cgroup_limits() -> list[int]:
    """The limits of this process's control groups, where there are any that can be read."""
    try:
        lines = CGROUPS.read_text().splitlines()
    except OSError:
        return []
    found = []
    for _, controllers, path in (line.split(":", 2) for line in lines):
        for controller in set(controllers.split(",")) & set(CGROUP_LIMITS):
            root, name = CGROUP_LIMITS[controller]
            group = PurePosixPath(path.lstrip("/"))
            found += [_read_limit(Path(root, above, name)) for above in (group, *group.parents)]
    return [limit for limit in found if limit is not None]


def _read_limit(file: Path) -> int | None:
    """The number in a control group's file; None for ``max`` or where there is no such file."""
    try:
        text = file.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isascii() and text.isdigit() else None
