"""Rows of CSV files, of plain cells: the columns that identify a run, then its results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Row = dict[str, Any]

OF_FILES = (
    *("json", "out", "record", "record_steps", "record_nodes", "schedule_out", "paths_out"),
    *("draw", "play", "trace"),
)
"""Options that choose further output files."""

ELSEWHERE = (
    *("command", "topology", "seed", "progress", "watchdog", "checkpoint", "every"),
    *("memory_limit", "force", *OF_FILES),
)
"""Options that have columns of their own, or do not bear on the results."""


def identified(
    document: Mapping[str, Any], options: Mapping[str, Any], rows: list[Row]
) -> list[Row]:
    """Extend rows so that they can be combined with those of other runs.

    Each also gets the family, the size and the parameters of its network.

    Parameters
    ----------
    document : mapping
        The run's document; the model becomes ``model.ports`` and so on.
    options : mapping
        What was asked for by name, as ``option.pairs`` and so on.
    rows : list of dict
        What was found. A column of theirs goes before the run's of the same name.
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
    """Return the columns that describe a row's network, if it has one."""
    if not isinstance(network, str):
        return {}
    from mpinet.report.networkcolumns import network_columns

    return network_columns(network)


def phase_rows(phases: Iterable[tuple[str, int]]) -> list[Row]:
    """Index objects by the fields that identify them, so that each gets columns of its own."""
    return [{"name": name, "steps": steps} for name, steps in phases]


def by_name(objects: list[Row], *names: str) -> dict[str, Row]:
    """Index objects by their identifying fields, so that each has columns of its own.

    Parameters
    ----------
    objects : list of dict
        A run's phases, say.
    names : str
        The fields that tell one from another.
    """
    named: dict[str, Row] = {}
    for row in objects:
        name = " ".join(str(row[key]) for key in names)
        again = sum(key == name or key.startswith(f"{name} #") for key in named)
        rest = {key: value for key, value in row.items() if key not in names}
        named[f"{name} #{again + 1}" if again else name] = rest
    return named


def _cells(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Cells of a row; fields of objects in it get dotted names."""
    for key, value in row.items():
        if isinstance(value, Mapping):
            yield from _cells(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", _list_text(value, ";")


def _list_text(value: Any, separator: str) -> Any:
    """Join a list's items in one cell: ``1;2;3``, with lists and objects in it as ``1:2;3:4``."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if not isinstance(value, list | tuple):
        return value
    return separator.join(str(_list_text(item, ":")) for item in value)
