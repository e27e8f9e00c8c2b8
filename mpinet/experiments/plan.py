"""The plan of a sweep: a command, and the values of its options, from a TOML file.

Every option has one value, a list of values, or a range. The points are all combinations, in the
order of the file, with the last option changing fastest. Tables ``[[part]]`` are separate plans
that share the entries above them. The table ``[plot]`` describes the picture of the results, and
produces no points.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from mpinet.base.files import read_text
from mpinet.base.numerals import quoted
from mpinet.errors import FileError, UsageError

MOST_POINTS = 10**6
"""Largest number of points of a sweep, because all rows must fit into the memory of a rank."""

DIGITS = 12
"""Decimal digits to which the values of a range are rounded: 3 * 0.1 is 0.3."""

Options = dict[str, Any]


@dataclass(frozen=True)
class Point:
    """One run of a sweep."""

    command: str
    """Name of the command."""
    options: Options
    """Command options set by the plan, by name."""

    def __str__(self) -> str:
        return f"{self.command} {' '.join(f'{k}={v}' for k, v in self.options.items())}"


MOST_PLAN = 2**24
"""Largest size of a plan's file, in bytes."""


def read_plan(path: Path) -> Options:
    """Read a plan from a TOML or JSON file.

    Raises
    ------
    FileError
        The file cannot be read, or has neither format.
    """
    try:
        text = read_text(path, MOST_PLAN)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not a text file"
        raise FileError(f"The sweep's file {path} cannot be read: {reason}.") from None
    try:
        plan = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError(f"The sweep's file {path} is invalid: {error}.") from None
    if not isinstance(plan, dict):
        raise FileError(f"The sweep's file {path} names no command: it holds no table.")
    return plan


def points_of(plan: Mapping[str, Any]) -> list[Point]:
    """Return all points of a plan, in its order.

    Raises
    ------
    UsageError
        The plan names no command, or an entry is not a value, list or range.
    """
    shared = {name: value for name, value in plan.items() if name not in ("part", "plot")}
    parts = plan.get("part", [{}])
    if not (isinstance(parts, list) and parts and all(isinstance(item, dict) for item in parts)):
        raise UsageError("part: the parts of a sweep are tables, written as [[part]].")
    if any("plot" in part for part in parts):
        raise UsageError("plot: a sweep has one table [plot], placed above its parts.")
    points: list[Point] = []
    for part in parts:
        points += _points({**shared, **part})
        if len(points) > MOST_POINTS:
            raise UsageError(f"A sweep has {MOST_POINTS} points at most: divide this one.")
    return points


def _points(plan: Options) -> Iterator[Point]:
    """Yield the points of a part of the plan."""
    command = plan.pop("command", None)
    if not isinstance(command, str):
        raise UsageError('A sweep names its command, as in: command = "route".')
    axes = {name: _values(name, value) for name, value in plan.items()}
    count = math.prod(map(len, axes.values()))
    if count > MOST_POINTS:
        raise UsageError(f"A sweep has {MOST_POINTS} points at most, not {count}: divide it.")
    for chosen in itertools.product(*axes.values()):
        yield Point(command, dict(zip(axes, chosen, strict=True)))


def _values(name: str, given: Any) -> list[Any]:
    """Return the values of an option."""
    if isinstance(given, list):
        if not given:
            raise UsageError(f"{name}: the list of its values is empty.")
        return given
    if isinstance(given, dict) and len(given) == 1:
        ((kind, numbers),) = given.items()
        if kind in RANGES and _are_numbers(numbers):
            try:
                return RANGES[kind](*numbers)
            except (TypeError, ValueError, ZeroDivisionError, OverflowError):
                pass
    if isinstance(given, dict) and not any(isinstance(item, list) for item in given.values()):
        raise UsageError(
            f"[{name}] is not a table of a sweep: possible are [plot], for the picture, and "
            "[[part]]."
        )
    if isinstance(given, dict):
        raise UsageError(
            f"{name}: a range is {{range = [first, end]}}, {{range = [first, end, step]}}, "
            "{linear = [first, last, count]} or {geometric = [first, last, count]}, not "
            f"{given}."
        )
    if not isinstance(given, str | int | float | bool):
        raise UsageError(f"{name}: {quoted(str(given))} is not a value of an option.")
    return [given]


def _are_numbers(given: Any) -> bool:
    return isinstance(given, list) and all(
        isinstance(item, int | float) and not isinstance(item, bool) and math.isfinite(item)
        for item in given
    )


def _stepwise(first: float, end: float, step: float = 1) -> list[float]:
    """Return the numbers from `first` in steps of `step`, without `end`."""
    # In binary, 1.1 / 0.1 is slightly more than 11: without rounding, the range would include its
    # end.
    count = math.ceil(round((end - first) / step, DIGITS))
    return _require([_rounded(first + i * step) for i in range(min(count, MOST_POINTS + 1))])


def _linear(first: float, last: float, count: int) -> list[float]:
    """Return `count` equally spaced numbers, both ends included."""
    gaps = max(1, _few(count) - 1)
    return _require([_rounded(first + (last - first) * i / gaps) for i in range(count)])


def _geometric(first: float, last: float, count: int) -> list[float]:
    """Return `count` numbers with equal ratios, both ends included."""
    gaps = max(1, _few(count) - 1)
    return _require([_rounded(first * (last / first) ** (i / gaps)) for i in range(count)])


RANGES: dict[str, Callable[..., list[Any]]] = {
    "range": _stepwise,
    "linear": _linear,
    "geometric": _geometric,
}


def _few(count: int) -> int:
    """Return a range's count; raise `ValueError` if it exceeds the limit of a sweep."""
    if count > MOST_POINTS:
        raise ValueError("too many")
    return count


def _require(values: list[float]) -> list[float]:
    if not values:
        raise ValueError("an empty range")
    return values


def _rounded(value: float) -> float:
    """Round a number to `DIGITS` digits, which removes the error of binary fractions."""
    return value if isinstance(value, int) else float(f"{value:.{DIGITS}g}")


FILE = re.compile(r"[^:,=\s]+\.[A-Za-z]\w*")
"""Pattern of a file's name in an option's value, as in path/file.py:Class or graph:wiring.edges."""


def files_named(values: Iterable[Any]) -> dict[str, str]:
    """Return the SHA-256 digests of the files named in options' values, by file name."""
    texts = [
        str(text)
        for value in values
        for text in (value if isinstance(value, list | tuple) else [value])
        if isinstance(text, str | Path)
    ]
    return {
        word: sha256(Path(word).read_bytes()).hexdigest()
        for text in texts
        for word in FILE.findall(text)
        if Path(word).is_file()
    }


def key_of(command: str, options: Mapping[str, Any]) -> str:
    """Return a hash of a point: its command, all its options, and the files named in options.

    Parameters
    ----------
    command : str
        Name of the command.
    options : mapping
        All options, including options with default values.
    """
    # A file with changed contents makes a different point: a resumed sweep must not reuse the old
    # result.
    files = files_named(options.values())
    identity = {"command": command, "options": options, "files": files}
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), default=str)
    return sha256(text.encode()).hexdigest()[:20]
