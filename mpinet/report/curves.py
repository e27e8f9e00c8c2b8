"""Curves of rows: their columns, the rows that make a point, and the spread of its values."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from mpinet.base.files import read_text
from mpinet.base.numerals import quoted
from mpinet.errors import FileError, UsageError
from mpinet.report.rows import Row, by_name, identified

STUDENT = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""Student's t for two-sided 95 % intervals with 1..30 degrees of freedom."""

NORMAL = 1.96
"""Student's t for two-sided 95 % intervals with more than 30 degrees of freedom."""

TRUE = (True, "True", "true", "yes")
"""Values of a cell that is true."""

LARGEST = 1e150
"""Largest number that a point may have, so that means and deviations stay within a double."""

RUN = ("command", "topology", "seed", "ranks")
"""Columns that identify the run, beside options and model."""


@dataclass(frozen=True)
class Dot:
    """A point of a curve: the mean of its rows' values, and the ends of its bar.

    It is hollow if any of its rows is: its mean means less than that of the others.
    """

    x: Any
    y: float
    low: float
    high: float
    count: int
    hollow: bool = False


@dataclass(frozen=True)
class Curve:
    """Points that belong together, in the panel and with the label that their rows share.

    A curve may have a place on the x axis, such as a bound, that is marked by a tick. `by` names
    the columns whose values its label lists.
    """

    panel: str
    label: str
    dots: list[Dot]
    tick: float | None = None
    by: Sequence[str] = ()


def read_rows(path: Path) -> list[Row]:
    """Read the rows of a sweep's folder, of a CSV file, or of a JSON file that mpinet has written.

    Raises
    ------
    FileError
        There is no such file, or it holds no rows.
    """
    if path.is_dir():
        if not (path / "results.csv").exists():
            raise FileError(f"{path}: there is no results.csv in it: the sweep is not complete.")
        path = path / "results.csv"
    try:
        file = StringIO(read_text(path), newline="")
        rows = READERS.get(path.suffix.lower(), _of_csv)(file)
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}.") from None
    except (ValueError, LookupError, TypeError, AttributeError, csv.Error, RecursionError):
        raise FileError(f"{path}: these are no results of mpinet.") from None
    if not rows:
        raise FileError(f"{path}: there is no row in it.")
    return rows


def _of_csv(file: Any) -> list[Row]:
    """Read the rows of a CSV file, numbers as numbers."""
    # A surplus cell gets the name None from the csv module, which no column of ours has.
    rows = [{name: _cell(text) for name, text in row.items()} for row in csv.DictReader(file)]
    if any(name is None for row in rows for name in row):
        raise ValueError("a row with more cells than there are columns")
    return rows


def _of_lines(file: Any) -> list[Row]:
    """Read the rows of a file with one JSON object per line."""
    return [dict(json.loads(line)) for line in file]


def _of_json(file: Any) -> list[Row]:
    """Read the rows of a sweep's results, or of one command's document."""
    document = json.load(file)
    if "rows" in document:
        return [dict(row) for row in document["rows"]]
    result = document["result"]
    rows = result if isinstance(result, list) else [result]
    for row in rows:
        if "phases" in row:
            row["phases"] = by_name(row["phases"], "name")
    return identified(document, {"command": document["command"][1]}, rows)


READERS = {".json": _of_json, ".jsonl": _of_lines}
"""Readers of files other than CSV, by ending."""


def _cell(text: str | None) -> Any:
    """Convert a cell's text to its value."""
    if not text:
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def column(rows: Sequence[Row], name: str) -> str:
    """Find the column that a name means: its own, or the only one that ends in it behind a dot.

    Dots and underlines are one: ``latency.mean`` is also what ``load`` calls ``latency_mean``.

    Raises
    ------
    UsageError
        There is none, or there are several.
    """
    names = dict.fromkeys(key for row in rows for key in row)
    if name in names:
        return name
    wanted = name.replace("_", ".")
    found = [key for key in names if f".{key.replace('_', '.')}".endswith(f".{wanted}")]
    found = (
        [key for key in found if key.replace("_", ".") == wanted]
        or [key for key in found if key.endswith(f".{name}")]
        or found
    )
    if len(found) == 1:
        return found[0]
    which = f"may be {' or '.join(found)}" if found else f"is none of {', '.join(names)}"
    raise UsageError(f"The column {quoted(name)} {which}.")


def require_condition(text: object) -> None:
    """Raise `UsageError` unless it is a ``COLUMN=VALUE``."""
    if not isinstance(text, str) or "=" not in text:
        raise UsageError(f"--where takes COLUMN=VALUE, not {quoted(str(text))}.")


def kept(rows: Sequence[Row], conditions: Sequence[str]) -> list[Row]:
    """Select the rows for which every ``COLUMN=VALUE`` holds.

    Raises
    ------
    UsageError
        None is left, or something is no such condition.
    """
    left = list(rows)
    for condition in conditions:
        require_condition(condition)
        name, _, value = condition.partition("=")
        key = column(rows, name)
        left = [row for row in left if _text(row.get(key)) == value]
    if not left:
        raise UsageError(f"No row has {' and '.join(conditions)}.")
    return left


def curves_of(
    rows: Sequence[Row],
    x: str,
    y: str,
    by: Sequence[str] | None = None,
    panels: str | None = None,
    error: str | None = None,
    bars: str = "confidence",
    hollow: str | None = None,
    tick: str | None = None,
) -> list[Curve]:
    """Group rows into curves, in order of first appearance.

    Parameters
    ----------
    rows : sequence of dict
        Those without a value in `y` are left out.
    x, y : str
        Columns.
    by : sequence of str, optional
        Columns that tell curves apart; default: of what was run, but for the seed, that in which
        rows differ that would be one point.
    panels : str, optional
        A column that tells panels apart.
    error : str, optional
        A column over whose values is averaged, such as ``seed``.
    bars : str
        What the bar shows: ``confidence`` (the mean's interval of 95 % by Student's t),
        ``deviation`` (of the sample) or ``range``.
    hollow : str, optional
        A column that is true in rows whose points are hollow, such as ``saturated``.
    tick : str, optional
        A column with the place on the x axis that is marked for a curve, such as ``bound``.

    Raises
    ------
    UsageError
        A column is not there or has no numbers, or several rows would be one point.
    """
    x, y = column(rows, x), column(rows, y)
    panels, error, hollow, tick = (
        None if name is None else column(rows, name) for name in (panels, error, hollow, tick)
    )
    if by is None:
        by = _telling_apart(rows, (x, panels, error))
    by = [column(rows, name) for name in by]
    points: dict[tuple[str, str], dict[Any, list[Row]]] = {}
    for row in rows:
        if _has_place(row.get(x)) and _has_place(row.get(y)):
            panel = _text(row.get(panels)) if panels else ""
            label = ", ".join(_text(row.get(name)) for name in by)
            points.setdefault((panel, label), {}).setdefault(row[x], []).append(row)
    if not points:
        raise UsageError(f"No row has values in both {x} and {y}.")
    # Names of networks or patterns have no order of their own: they stay as the rows come.
    numbers = all(_is_number(value) for of in points.values() for value in of)
    curves = []
    for (panel, label), places in points.items():
        order = sorted(places) if numbers else list(places)
        dots = [_dot(place, places[place], y, error, bars, hollow) for place in order]
        # The bound is the same in all rows of a curve, so one place is enough to read it.
        ticks: list[Any] = [row.get(tick) for row in places[order[0]]] if tick else []
        marked = [value for value in ticks if _is_number(value) and _has_place(value)]
        curves.append(Curve(panel, label, dots, fmean(marked) if marked else None, by))
    return curves


def _telling_apart(rows: Sequence[Row], fixed: Sequence[str | None]) -> list[str]:
    """Columns of the run that tell rows apart that agree in `fixed`; never the seed."""
    alike: dict[tuple[Any, ...], Row] = {}
    found: set[str] = set()
    names = [
        name
        for name in dict.fromkeys(name for row in rows for name in row)
        if _is_of_run(name) and name != "seed" and name not in fixed
    ]
    for row in rows:
        place = tuple(_text(row.get(name)) for name in fixed if name is not None)
        first = alike.setdefault(place, row)
        found |= {name for name in names if row.get(name) != first.get(name)}
    return [name for name in names if name in found]


def _dot(x: Any, rows: list[Row], y: str, error: str | None, bars: str, hollow: str | None) -> Dot:
    """Make one point of rows, which may differ in one column alone."""
    values = [row[y] for row in rows]
    for value in values:
        if not _is_number(value):
            raise UsageError(f"The column {y} has {quoted(str(value))}, which is no number.")
    alike: dict[str, list[Row]] = {}
    for row in rows:
        alike.setdefault(_text(row.get(error)) if error else "", []).append(row)
    for same in alike.values():
        if len(same) > 1:
            raise UsageError(_ambiguous(x, same))
    mean = fmean(values)
    reach = stdev(values) if bars == "deviation" and len(values) > 1 else confidence(values)
    low, high = (min(values), max(values)) if bars == "range" else (mean - reach, mean + reach)
    is_hollow = hollow is not None and any(row.get(hollow) in TRUE for row in rows)
    return Dot(x, mean, low, high, len(values), is_hollow)


def confidence(values: Sequence[float]) -> float:
    """Return half the width of the mean's 95 % interval by Student's t; 0 for a single value."""
    if len(values) < 2:
        return 0.0
    freedom = len(values) - 1
    # Experiments have few seeds: the normal factor would make their intervals far too narrow.
    factor = STUDENT[freedom - 1] if freedom <= len(STUDENT) else NORMAL
    return factor * stdev(values) / math.sqrt(len(values))


def _ambiguous(x: Any, rows: Sequence[Row]) -> str:
    """Compose the error for rows that would be one point."""
    differing = [
        name
        for name in rows[0]
        if _is_of_run(name)
        if any(row.get(name) != rows[0][name] for row in rows)
    ]
    several = f"{len(rows)} rows would be one point at {x}"
    if not differing:
        return f"{several}: they are of the same run, whose results are there several times."
    return (
        f"{several}: they differ in {', '.join(differing)}. Name these in --by, --panels or "
        "--error, or choose by --where."
    )


def _is_of_run(name: str) -> bool:
    """Tell if a column identifies the run."""
    return name in RUN or name.startswith(("option.", "model."))


def _has_place(value: Any) -> bool:
    """Tell if a value can stand on an axis: pandas and C programs write nan where there is none."""
    if isinstance(value, int | float):
        return abs(value) <= LARGEST  # false for nan
    return value is not None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def in_figures(curves: Sequence[Curve]) -> list[Mapping[str, Any]]:
    """Curves in the form of a document."""
    return [
        {"panel": curve.panel, "label": curve.label, "points": list(map(_in_figures, curve.dots))}
        | ({} if curve.tick is None else {"tick": curve.tick})
        for curve in curves
    ]


def _in_figures(dot: Dot) -> Row:
    """Return a point's fields; what it has by default is left out, as in older documents."""
    return {name: value for name, value in vars(dot).items() if name != "hollow" or value}
