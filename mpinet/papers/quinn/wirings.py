"""Processor organizations of the book that no network family covers: trees and pyramids."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from mpinet.claims.remembered import remembered
from mpinet.networks.catalogue import open_topology
from mpinet.networks.graph import StoredGraph
from mpinet.networks.topology import Topology

Link = tuple[tuple[int, ...], tuple[int, ...]]


@remembered
def organization(kind: str, k: int) -> Topology:
    """Return a processor organization of the book.

    Parameters
    ----------
    kind : str
        Name of a family of networks, or one of `WIRED`.
    k : int
        Parameter as named in the book; d for hypertrees, log k for pyramids.
    """
    if kind not in WIRED:
        return open_topology(f"{kind}:{k}")
    links = list(WIRED[kind](k))
    nodes = sorted({end for link in links for end in link})
    return StoredGraph(f"{kind} {k}", nodes, links)


def binary_tree(k: int) -> Iterator[Link]:
    """Yield the links of the complete binary tree of 2^k - 1 nodes; a node is (level, place)."""
    for level in range(k - 1):
        for place in range(2**level):
            for child in (2 * place, 2 * place + 1):
                yield (level, place), (level + 1, child)


def hypertree(d: int) -> Iterator[Link]:
    """Yield the links of the 4-ary hypertree of depth d; a node is (level, front, side).

    From the front, level i has the 4^i places of a 4-ary tree. From the side, it has the 2^(d-i)
    places of an inverted binary tree.
    """
    for level in range(d):
        for front, side in product(range(4**level), range(2 ** (d - level))):
            for child in range(4):
                yield (level, front, side), (level + 1, 4 * front + child, side // 2)


def pyramid(height: int) -> Iterator[Link]:
    """Yield the links of the pyramid of size k^2, k = 2^height; a node is (level, row, column).

    Level 0 is the base.
    """
    for level in range(height + 1):
        side = 2 ** (height - level)
        for row, column in product(range(side), repeat=2):
            if row + 1 < side:
                yield (level, row, column), (level, row + 1, column)
            if column + 1 < side:
                yield (level, row, column), (level, row, column + 1)
            if level < height:
                yield (level, row, column), (level + 1, row // 2, column // 2)


WIRED = {"binary tree": binary_tree, "hypertree": hypertree, "pyramid": pyramid}
"""Functions that yield the links of the organizations wired here."""
