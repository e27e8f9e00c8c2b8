"""Runs of consecutive numbers, as networks have them for clusters (`Topology.clusters`)."""

from __future__ import annotations

from collections.abc import Iterable


def runs_around(position: int, lengths: Iterable[int]) -> list[range]:
    """Return, for each length, the aligned run of so many positions that contains the position.

    Parameters
    ----------
    position : int
        0 or more.
    lengths : iterable of int
        The runs' lengths.
    """
    begins = [(position - position % length, length) for length in lengths]
    return [range(begin, begin + length) for begin, length in begins]
