"""Grids of networks, and formulas of the integers in topology strings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mpinet.claims import PointGrid, points
from mpinet.papers.measured import size_of


def networks(text: str, names: Iterable[str]) -> PointGrid:
    """Return the grid of some networks, in the given order."""
    return points(text, [{"topology": name} for name in names])


def numbers(topology: str) -> tuple[int, ...]:
    """Return the integers among the arguments of a topology string."""
    return tuple(int(word) for word in topology.partition(":")[2].split(",") if word.isdigit())


def of(formula: Callable[..., Any]) -> Callable[[str], Any]:
    """Convert a formula of a topology's integers to a formula of the topology string."""
    return lambda topology: formula(*numbers(topology))


def up_to(nodes: int) -> Callable[[str], bool]:
    """Return a predicate for networks with at most the given number of nodes."""
    return lambda topology: size_of(topology) <= nodes


def pairs_of(topology: str) -> float:
    """Return the number of pairs of nodes, as the cost of a claim about all pairs."""
    return float(size_of(topology) ** 2)
