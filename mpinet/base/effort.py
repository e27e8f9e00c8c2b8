"""Bound on walks over a network, and the error for walks that its size forbids."""

from __future__ import annotations

from mpinet.base.launched import launched_ranks
from mpinet.errors import TooLarge

LOOKS = 2**34
"""Most ports that a rank reads in one walk over a network: some minutes."""


def require_walk(
    looks: int, what: str, ranks: int | None = None, most: int = LOOKS, of: str = "ports"
) -> None:
    """Refuse a walk that would take too long.

    Parameters
    ----------
    looks : int
        Ports to look at, on all ranks together.
    what : str
        What for: the sentence's subject, in the singular.
    ranks : int, optional
        The ranks that share the walk. Default: all.
    most : int
        Ports that a rank looks at at most.
    of : str
        What is looked at, where it is not ports.

    Raises
    ------
    TooLarge
        There are more ports than that.
    """
    ranks = launched_ranks() if ranks is None else ranks
    if looks > most * ranks:
        who = "a rank looks" if ranks == 1 else f"{ranks} ranks look"
        raise TooLarge(
            f"{what} takes a look at {looks:,} {of}, and {who} at {most * ranks:,} at most."
        )
