"""The claims that the second implementation knows.

A claim is a generator of (point, measured, whether it holds there); points are named as the ledger
names them, which is all that the two implementations have in common.
"""

from collections.abc import Callable, Iterator

Points = Iterator[tuple[str, object, bool]]
CLAIMS: dict[str, Callable[[], Points]] = {}


def of(*ids):
    """Enter a measurement as that of one or several claims."""

    def enter(points):
        for id in ids:
            CLAIMS[id] = points
        return points

    return enter


def equal(found, claimed):
    """A measured value, and whether it is the claimed one."""
    return found, found == claimed
