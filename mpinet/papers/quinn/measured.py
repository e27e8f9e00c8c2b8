"""Measures of the book's processor organizations, and grids of their sizes."""

from __future__ import annotations

from collections.abc import Callable

from mpinet import measure
from mpinet.claims import PointGrid, over
from mpinet.claims.remembered import remembered
from mpinet.papers.quinn.wirings import organization


def sizes(first: int, last: int, quick: int) -> PointGrid:
    """Return the grid of k = first..last; the quick budget ends at `quick`."""
    return over(k=range(first, last + 1)).quick(lambda k: k <= quick)


def nodes(kind: str) -> Callable[[int], int]:
    """Return a function that measures the number of nodes."""
    return lambda k: organization(kind, k).size


def diameter(kind: str) -> Callable[[int], int]:
    """Return a function that measures the diameter, by floods from all nodes."""
    return lambda k: measure.diameter(organization(kind, k))


def most_edges(kind: str) -> Callable[[int], int]:
    """Return a function that measures the largest number of edges of a node."""
    return lambda k: max(measure.degrees(organization(kind, k)))


def bisection(kind: str) -> Callable[[int], measure.Bisection]:
    """Return a function that measures the bisection width, with one side of a narrowest cut."""
    return lambda k: width(kind, k)


@remembered
def width(kind: str, k: int) -> measure.Bisection:
    """Return the bisection width of an organization."""
    return measure.bisection_width(organization(kind, k))
