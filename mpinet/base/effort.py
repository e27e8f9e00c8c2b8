"""Limit on the length of walks over a network, and the error for networks above the limit."""

from __future__ import annotations

from mpinet.base.launched import launched_ranks
from mpinet.errors import TooLarge

LOOKS = 2**34
"""Most ports read by one rank in one walk over a network: some minutes of work."""


def require_walk(
    looks: int, what: str, ranks: int | None = None, most: int = LOOKS, of: str = "ports"
) -> None:
    """Refuse a walk that would take too long.

    Parameters
    ----------
    looks : int
        Ports to read, on all ranks together.
    what : str
        Purpose of the walk: the subject of the error sentence, in the singular.
    ranks : int, optional
        Number of ranks that share the walk. Default: all.
    most : int
        Largest number of ports for one rank.
    of : str
        Name of the items in the error sentence if they are not ports.

    Raises
    ------
    TooLarge
        `looks` exceeds `most` times the number of ranks.
    """
    ranks = launched_ranks() if ranks is None else ranks
    if looks > most * ranks:
        who = "a rank" if ranks == 1 else f"{ranks} ranks"
        raise TooLarge(
            f"{what} would read {looks:,} {of}; the limit for {who} is {most * ranks:,}."
        )
