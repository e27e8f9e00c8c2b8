"""Grids: the points at which a claim is tested, in ascending order of size.

A point is a set of arguments (``m=5 N=40``) for a claim's formula and its measurement. A grid can
refute a claim, but never prove it. With ascending sizes, the first failing point is the smallest
witness. The budget ``quick`` takes some of the points, ``full`` takes all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mpinet.base.fielddocs import described

Point = dict[str, Any]
"""Arguments of a claim's formula and measurement: numbers, texts, and tuples of these."""

BUDGETS = ("quick", "full")


@described
@dataclass(frozen=True)
class PointGrid:
    """The points of a claim, in the order of the search for a witness: smallest first."""

    make: Callable[[], Iterable[Point]]
    """Function that returns the points of the full budget."""
    text: str
    """The range in words."""
    chosen: Callable[..., bool] | None = None
    """Function that returns True for points of the quick budget, called with a point's arguments as
    keywords. Default: all points.
    """

    def quick(self, chosen: Callable[..., bool]) -> PointGrid:
        """Return the grid with a quick budget limited to the points for which `chosen` is true."""
        return replace(self, chosen=chosen)

    def points(self, budget: str) -> list[Point]:
        """Return the points of a budget, ``"quick"`` or ``"full"``."""
        every = list(self.make())
        if budget == "full" or self.chosen is None:
            return every
        return [point for point in every if self.chosen(**point)]


def once(text: str = "") -> PointGrid:
    """Return the grid of a claim without parameters: one point without arguments."""
    return PointGrid(lambda: [{}], text)


def points(text: str, listed: Iterable[Point] | Callable[[], Iterable[Point]]) -> PointGrid:
    """Return a grid of listed points.

    Parameters
    ----------
    text : str
        The range in words.
    listed : iterable of dict, or callable
        The points, or a function that returns the points.

    Examples
    --------
    >>> points("two tori", [{"topology": "torus:3x3"}, {"topology": "torus:3x4"}]).points("full")
    [{'topology': 'torus:3x3'}, {'topology': 'torus:3x4'}]
    """
    if callable(listed):
        return PointGrid(listed, text)
    # The points are read twice: for the budget and for the size of the whole grid. A generator
    # would be empty the second time.
    every = list(listed)
    return PointGrid(lambda: every, text)


def over(text: str = "", **axes: Any) -> PointGrid:
    """Return the grid of all combinations of the axes' values; the last axis varies fastest.

    Parameters
    ----------
    text : str
        The range in words (default: the axes).
    **axes : iterable, or callable
        Values of each argument. A callable receives the values of the preceding axes as keywords
        and returns the values of its own axis.

    Examples
    --------
    >>> over(n=range(1, 3), k=lambda n: range(n)).points("full")
    [{'n': 1, 'k': 0}, {'n': 2, 'k': 0}, {'n': 2, 'k': 1}]
    """

    def make() -> list[Point]:
        found: list[Point] = [{}]
        for name, values in axes.items():
            found = [
                {**point, name: value}
                for point in found
                for value in (values(**point) if callable(values) else values)
            ]
        return found

    return PointGrid(
        make, text or ", ".join(f"{name} in {_axis(axis)}" for name, axis in axes.items())
    )


def _axis(values: Any) -> str:
    """Describe the values of an axis in words."""
    if callable(values):
        return "all valid values"
    if isinstance(values, range) and values.step == 1:
        return f"{values.start}..{values.stop - 1}"
    return ",".join(map(argument_text, values))


MOST_RUNS = 6
"""Largest number of listed runs of values of an argument."""


def extremes_text(points: Sequence[Point]) -> str:
    """List the values of each argument of some points: ``n in 3..11, k in 2,4``.

    Consecutive whole numbers form one run. For more than `MOST_RUNS` runs, only the number of
    values and the first and last value are stated.

    Examples
    --------
    >>> extremes_text([{"n": 3, "k": 2}, {"n": 4, "k": 2}, {"n": 5, "k": 4}])
    'n in 3..5, k in 2,4'
    """
    return ", ".join(
        f"{name} in {_values_text([point[name] for point in points])}" for name in points[0]
    )


def _values_text(given: Sequence[Any]) -> str:
    values = list(dict.fromkeys(given))
    if all(type(value) is int for value in values):
        # Grids order networks by size, not by argument; consecutive numbers form runs only in
        # ascending order.
        values.sort()
    runs: list[list[Any]] = []
    for value in values:
        if type(value) is int and runs and runs[-1][-1] == value - 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    # A list of hundreds of scattered sizes is unreadable, and its ends already show the extent of
    # the range.
    if len(runs) > MOST_RUNS:
        first, last = argument_text(values[0]), argument_text(values[-1])
        return f"{len(values)} values from {first} to {last}"
    return ",".join(
        f"{run[0]}..{run[-1]}" if len(run) > 2 else ",".join(map(argument_text, run))
        for run in runs
    )


def argument_text(value: Any) -> str:
    """Format an argument as on the command line: tuples without blanks."""
    if isinstance(value, list | tuple):
        return f"({','.join(map(argument_text, value))})"
    return str(value)


def point_text(point: Mapping[str, Any]) -> str:
    """Format a point as on the command line: ``m=5 N=40``."""
    return " ".join(f"{name}={argument_text(value)}" for name, value in point.items())
