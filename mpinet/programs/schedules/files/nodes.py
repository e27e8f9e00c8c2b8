"""Numbers of the nodes named in a file."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from mpinet.programs.schedules.files.schedulefile import ReadingOptions


def numbered(
    names: Iterable[str], sources: Collection[str], reading: ReadingOptions
) -> dict[str, int]:
    """Return the number of each node.

    If all names are addresses of the network, with sources among the processors and all others
    after them, the addresses determine the numbers. Otherwise sources are processors 0, 1 and so
    on, and the others are switches after all processors. Both are in ascending order, with numbers
    in names compared by value.
    """
    names = sorted({*names, *sources}, key=_key)
    network = reading.network
    if network is not None:
        places = {name: network.read_address(name) for name in names}
        apart = all((name in sources) == (0 <= at < network.hosts) for name, at in places.items())
        if apart and min(places.values(), default=-1) >= 0:
            return places
    ordered = [name for name in names if name in sources]
    others = [name for name in names if name not in sources]
    first = max(reading.processors, len(ordered))
    return {name: at for at, name in enumerate(ordered)} | {
        name: first + at for at, name in enumerate(others)
    }


def _key(name: str) -> list[tuple[int, int, str]]:
    """Return a sort key of a name: numbers by value, before texts."""
    parts = re.findall(r"-?[0-9]{1,18}|[^0-9]+", name)
    return [(0, int(part), "") if part.lstrip("-").isdecimal() else (1, 0, part) for part in parts]
