"""Grids of networks, and formulas in the numbers of their topology strings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mpinet.claims import PointGrid, points
from mpinet.papers.measured import size_of


def networks(text: str, names: Iterable[str]) -> PointGrid:
    """The grid of some networks, in this order."""
    return points(text, [{"topology": name} for name in names])


def numbers(topology: str) -> tuple[int, ...]:
    """The whole numbers among the arguments of a topology string."""
    return tuple(int(word) for word in topology.partition(":")[2].split(",") if word.isdigit())


def of(formula: Callable[..., Any]) -> Callable[[str], Any]:
    """A formula in a topology's numbers as a formula of the topology string."""
    return lambda topology: formula(*numbers(topology))


def up_to(nodes: int) -> Callable[[str], bool]:
    """Chooses the networks of at most so many nodes."""
    return lambda topology: size_of(topology) <= nodes


def pairs_of(topology: str) -> float:
    """Number of pairs: about the time of a claim that looks at each."""
    return float(size_of(topology) ** 2)
