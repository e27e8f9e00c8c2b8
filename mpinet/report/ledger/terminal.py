"""The ledger in a terminal: verdicts by paper, with what refutes a claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from textwrap import wrap
from typing import Any

from mpinet.report.tables import shown

COLOURS = {"holds": "32", "refuted": "31", "open": "33", "error": "35"}
"""ANSI colours of the verdicts."""

WIDTH = 100
"""Columns of a line."""

VALUE = 60
"""Most characters of a value; longer ones end in dots."""


def ledger(rows: Sequence[Mapping[str, Any]], coloured: bool = False) -> str:
    """All verdicts, paper by paper, and how many there are of each.

    Parameters
    ----------
    rows : sequence of mappings
        Verdicts as JSON knows them.
    coloured : bool
        Whether the terminal shows colours.
    """
    parts = []
    for paper, group in groupby(rows, key=lambda row: row["paper"]):
        own = list(group)
        width = max(len(row["id"]) for row in own)
        lines = [f"{paper}: {tally(_verdicts(own))}", ""]
        for row in own:
            lines += _entry(row, width, coloured)
        parts.append("\n".join(lines))
    return "\n\n".join([*parts, f"all: {tally(_verdicts(rows))}"])


def tally(verdicts: Iterable[str]) -> str:
    """How many claims hold, are refuted, are open, or failed."""
    counts = Counter(verdicts)
    words = {"holds": "hold", "refuted": "refuted", "open": "open", "error": "failed"}
    said = [f"{counts[verdict]} {word}" for verdict, word in words.items() if counts[verdict]]
    number = counts.total()
    return f"{number} claim{'s' * (number != 1)}: {', '.join(said)}"


def _verdicts(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return [row["verdict"] for row in rows]


def _entry(row: Mapping[str, Any], width: int, coloured: bool) -> list[str]:
    """The lines of one claim."""
    verdict = row["verdict"].ljust(len("refuted"))
    if coloured:
        verdict = f"\x1b[{COLOURS[row['verdict']]}m{verdict}\x1b[0m"
    place = f"{row['place']}: " if row["place"] else ""
    indent = " " * (len("refuted") + width + 4)
    statement = wrap(f"{place}{row['statement']}", max(40, WIDTH - len(indent)))
    head, *more = statement or [""]
    lines = [f"{verdict}  {row['id'].ljust(width)}  {head}", *(indent + line for line in more)]
    return [*lines, *(indent + line for line in _found(row))]


def _found(row: Mapping[str, Any]) -> list[str]:
    """What was found: the range where the claim holds, the witness, or the reason."""
    if row["verdict"] == "holds":
        return [f"range: {row['range']}"]
    if row["verdict"] != "refuted":
        return [str(row["reason"]).strip().splitlines()[-1]]
    witness = {**row["witness"]["point"], **row["witness"]["where"]}
    at = f" at {value_text(witness)}" if witness else ""
    claimed, measured = value_text(row["claimed"]), value_text(row["measured"])
    return [f"measured {measured}, claimed {row['relation']} {claimed}{at}", f"$ {row['replay']}"]


def value_text(value: Any) -> str:
    """A value in few characters."""
    if isinstance(value, Mapping):
        text = " ".join(f"{key}={shown(part)}" for key, part in value.items())
    else:
        text = shown(value)
    return text if len(text) <= VALUE else f"{text[: VALUE - 2]}.."
