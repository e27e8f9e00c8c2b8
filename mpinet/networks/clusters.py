"""Clusters that are aligned runs of consecutive numbers (`Topology.clusters`).

A cluster is a set of nodes joined more closely to one another than to the rest: a sector, a block,
a small cube. The mapping ``clusters`` begins and ends a rank's block with one where it can.
"""

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
