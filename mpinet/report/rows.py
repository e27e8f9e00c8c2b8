"""Rows of CSV files: the columns that identify a run, followed by its results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Row = dict[str, Any]

OF_FILES = (
    *("json", "out", "record", "record_steps", "record_nodes", "schedule_out", "paths_out"),
    *("draw", "play", "trace"),
)
"""Options that name further output files."""

ELSEWHERE = (
    *("command", "topology", "seed", "progress", "watchdog", "checkpoint", "every"),
    *("memory_limit", "force", *OF_FILES),
)
"""Options without an ``option.`` column: they have their own columns or do not affect results."""


def identified(
    document: Mapping[str, Any], options: Mapping[str, Any], rows: list[Row]
) -> list[Row]:
    """Add the columns that identify the run, so rows of several runs can be combined.

    Each row also gets the family, size and parameters of its network.

    Parameters
    ----------
    document : mapping
        Document of the run. Its model becomes the columns ``model.ports`` and so on.
    options : mapping
        Options of the run, which become the columns ``option.pairs`` and so on.
    rows : list of dict
        Results. A row's column replaces the run's column of the same name.
    """
    model = document["model"]
    option = {k: v for k, v in options.items() if k not in (*ELSEWHERE, *model)}
    run = {"seed": document["seed"], "ranks": document["ranks"], "model": model, "option": option}
    return [
        dict(
            _cells(
                {"command": options["command"], "topology": document["topology"]}
                | _described(row.get("network", row.get("topology", document["topology"])))
                | run
                | row
            )
        )
        for row in rows
    ]


def _described(network: Any) -> Row:
    """Return the columns that describe a row's network; empty if the row has no network."""
    if not isinstance(network, str):
        return {}
    from mpinet.report.networkcolumns import network_columns

    return network_columns(network)


def phase_rows(phases: Iterable[tuple[str, int]]) -> list[Row]:
    """Return a row for each phase, with its name and its number of steps."""
    return [{"name": name, "steps": steps} for name, steps in phases]


def by_name(objects: list[Row], *names: str) -> dict[str, Row]:
    """Return objects by their identifying fields, which gives each object its own columns.

    Parameters
    ----------
    objects : list of dict
        The objects, such as the phases of a run.
    names : str
        Fields that identify an object.
    """
    named: dict[str, Row] = {}
    for row in objects:
        name = " ".join(str(row[key]) for key in names)
        again = sum(key == name or key.startswith(f"{name} #") for key in named)
        rest = {key: value for key, value in row.items() if key not in names}
        named[f"{name} #{again + 1}" if again else name] = rest
    return named


def _cells(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the cells of a row; fields of nested objects get dotted names."""
    for key, value in row.items():
        if isinstance(value, Mapping):
            yield from _cells(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", _list_text(value, ";")


def _list_text(value: Any, separator: str) -> Any:
    """Join a list's items in one cell: ``1;2;3``; nested lists and objects become ``1:2;3:4``."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if not isinstance(value, list | tuple):
        return value
    return separator.join(str(_list_text(item, ":")) for item in value)
