"""Curves from rows of results: columns, grouping of rows into points, and error bars."""

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
"""Student's t of two-sided 95 % intervals with 1..30 degrees of freedom."""

NORMAL = 1.96
"""Student's t of two-sided 95 % intervals with more than 30 degrees of freedom."""

TRUE = (True, "True", "true", "yes")
"""Cell values that mean true."""

LARGEST = 1e150
"""Largest value of a point, chosen to keep means and deviations within a double."""

LONGEST_PART = 60
"""Largest number of characters of a network or of a pattern in a title."""

RUN = ("command", "topology", "seed", "ranks")
"""Columns that identify a run, in addition to options and model."""


BOUND = "lower bound"
"""Label of a lower bound."""


@dataclass(frozen=True)
class Dot:
    """Point of a curve: the mean of its rows' values, and the ends of its error bar.

    A point is hollow if any of its rows is hollow (for example saturated).
    """

    x: Any
    y: float
    low: float
    high: float
    count: int
    hollow: bool = False


@dataclass(frozen=True)
class Curve:
    """Curve with the panel and label of its points.

    `tick` is a marked position on the x axis, such as a bound. `by` contains the columns whose
    values form the label. A curve with the label `BOUND` is a grey line without markers.
    """

    panel: str
    label: str
    dots: list[Dot]
    tick: float | None = None
    by: Sequence[str] = ()


def read_rows(path: Path) -> list[Row]:
    """Read the rows of a sweep's folder, of a CSV file, or of a JSON file written by mpinet.

    Raises
    ------
    FileError
        The file does not exist, or contains no rows.
    """
    if path.is_dir():
        if not (path / "results.csv").exists():
            raise FileError(f"{path}: the folder has no results.csv, so the sweep is not complete.")
        path = path / "results.csv"
    try:
        file = StringIO(read_text(path), newline="")
        rows = READERS.get(path.suffix.lower(), _of_csv)(file)
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}.") from None
    except (ValueError, LookupError, TypeError, AttributeError, csv.Error, RecursionError):
        raise FileError(f"{path}: the file has no results of mpinet.") from None
    if not rows:
        raise FileError(f"{path}: the file has no rows.")
    return rows


def _of_csv(file: Any) -> list[Row]:
    """Read the rows of a CSV file and convert numbers."""
    # The csv module stores surplus cells under the name None, which is never a column of mpinet.
    rows = [{name: _cell(text) for name, text in row.items()} for row in csv.DictReader(file)]
    if any(name is None for row in rows for name in row):
        raise ValueError("a row with more cells than there are columns")
    return rows


def _of_lines(file: Any) -> list[Row]:
    """Read the rows of a file with one JSON object per line."""
    return [dict(json.loads(line)) for line in file]


def _of_json(file: Any) -> list[Row]:
    """Read the rows of a sweep's results, or of the document of one command."""
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
"""Readers for files other than CSV, by ending."""


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
    """Return the column with this name, or the only column with this name after a dot.

    Dots and underscores are equivalent: ``latency.mean`` also finds ``latency_mean`` of ``load``.

    Raises
    ------
    UsageError
        No column or several columns match.
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
    """Raise `UsageError` unless a condition has the form ``COLUMN=VALUE``."""
    if not isinstance(text, str) or "=" not in text:
        raise UsageError(f"--where takes COLUMN=VALUE, not {quoted(str(text))}.")


def kept(rows: Sequence[Row], conditions: Sequence[str]) -> list[Row]:
    """Return the rows that satisfy every condition ``COLUMN=VALUE``.

    Raises
    ------
    UsageError
        No row satisfies all conditions, or a condition has another form.
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
        The rows. Rows without a value in column `y` are ignored.
    x, y : str
        Columns of the axes.
    by : sequence of str, optional
        Columns that distinguish curves. Default: all columns of the run (except the seed) that
        differ between rows of the same point.
    panels : str, optional
        Column that distinguishes panels.
    error : str, optional
        Column over which to average, such as ``seed``.
    bars : str
        Meaning of error bars: ``confidence`` (95 % interval of the mean by Student's t),
        ``deviation`` (of the sample) or ``range``.
    hollow : str, optional
        Column that is true for hollow points, such as ``saturated``.
    tick : str, optional
        Column with a position on the x axis to mark for each curve, such as ``bound``.

    Raises
    ------
    UsageError
        A column does not exist or has no numbers, or several rows belong to one point.
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
    # Names of networks or patterns have no natural order, so the order of the rows is kept.
    numbers = all(_is_number(value) for of in points.values() for value in of)
    curves = []
    for (panel, label), places in points.items():
        order = sorted(places) if numbers else list(places)
        dots = [_dot(place, places[place], y, error, bars, hollow) for place in order]
        # All rows of a curve have the same bound, so the rows of one point are enough.
        ticks: list[Any] = [row.get(tick) for row in places[order[0]]] if tick else []
        marked = [value for value in ticks if _is_number(value) and _has_place(value)]
        curves.append(Curve(panel, label, dots, fmean(marked) if marked else None, by))
    return curves


def subject(rows: Sequence[Row]) -> str:
    """Return the network and the traffic or program that all rows share, as a plot's title."""
    names = [("network", "topology"), ("pattern", "option.pattern")]
    if any(row.get("option.program") for row in rows):
        names[1] = ("option.program",) * 2
    found = [{_text(row.get(own) or row.get(given)) for row in rows} for own, given in names]
    parts = [part for values in found if len(values) == 1 for part in values]
    return ", ".join(part for part in parts if 0 < len(part) <= LONGEST_PART)


def _telling_apart(rows: Sequence[Row], fixed: Sequence[str | None]) -> list[str]:
    """Return the run's columns, except the seed, that differ between rows of one point."""
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
    """Make a point of rows, which may differ only in the column `error`."""
    values = [row[y] for row in rows]
    for value in values:
        if not _is_number(value):
            raise UsageError(f"The column {y} has {quoted(str(value))}, which is not a number.")
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
    """Return half the width of the 95 % interval of the mean by Student's t; 0 for one value."""
    if len(values) < 2:
        return 0.0
    freedom = len(values) - 1
    # Experiments have few seeds, for which the normal factor gives far too narrow intervals.
    factor = STUDENT[freedom - 1] if freedom <= len(STUDENT) else NORMAL
    return factor * stdev(values) / math.sqrt(len(values))


def _ambiguous(x: Any, rows: Sequence[Row]) -> str:
    """Return the error message for several rows of one point."""
    differing = [
        name
        for name in rows[0]
        if _is_of_run(name)
        if any(row.get(name) != rows[0][name] for row in rows)
    ]
    several = f"{len(rows)} rows would be one point at {x}"
    if not differing:
        return f"{several}: the results of this run occur several times."
    return (
        f"{several}: the rows differ in {', '.join(differing)}. Name these columns in --by, "
        "--panels or --error, or select rows with --where."
    )


def _is_of_run(name: str) -> bool:
    """Return whether a column identifies the run."""
    return name in RUN or name.startswith(("option.", "model."))


def _has_place(value: Any) -> bool:
    """Return whether a value can be plotted; pandas and C programs write nan for missing values."""
    if isinstance(value, int | float):
        return abs(value) <= LARGEST  # false for nan
    return value is not None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def in_figures(curves: Sequence[Curve]) -> list[Mapping[str, Any]]:
    """Return curves as the JSON objects of a document."""
    return [
        {"panel": curve.panel, "label": curve.label, "points": list(map(_in_figures, curve.dots))}
        | ({} if curve.tick is None else {"tick": curve.tick})
        for curve in curves
    ]


def _in_figures(dot: Dot) -> Row:
    """Return a point's fields without default values, as in older documents."""
    return {name: value for name, value in vars(dot).items() if name != "hollow" or value}
