"""The ledger in a terminal: verdicts by paper, with what refutes a claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from textwrap import wrap
from typing import Any

from mpinet.report.tables import cell_text

COLOURS = {"holds": "32", "refuted": "31", "open": "33", "error": "35"}
"""ANSI colours of the verdicts."""

WIDTH = 100
"""Columns of a line."""

VALUE, WITNESS = 60, 240
"""Most characters of a value, and of a witness; longer ones end in dots."""


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
    """Count the claims that hold, are refuted, are open, or failed."""
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
    room = max(40, WIDTH - len(indent))
    statement = wrap(f"{place}{row['statement']}", room)
    head, *more = statement or [""]
    lines = [f"{verdict}  {row['id'].ljust(width)}  {head}", *(indent + line for line in more)]
    said = wrap(_found(row), room)
    replay = [f"$ {row['replay']}"] if row["replay"] else []
    return [*lines, *(indent + line for line in [*said, *replay])]


def _found(row: Mapping[str, Any]) -> str:
    """Summarize a finding: the range where the claim holds, the witness, or the reason."""
    if row["verdict"] == "holds":
        return "; ".join(filter(None, [f"range: {row['range']}", row["reason"]]))
    if row["verdict"] != "refuted":
        return str(row["reason"]).strip().splitlines()[-1]
    witness = {**row["witness"]["point"], **row["witness"]["where"]}
    at = f" at {shortened(fields_text(witness), WITNESS)}" if witness else ""
    if row["claimed"] is True:
        return f"not so{at}"
    claimed, measured = (value_text(row[name]) for name in ("claimed", "measured"))
    return f"measured {measured}, claimed {row['relation']} {claimed}{at}"


def fields_text(values: Mapping[str, Any]) -> str:
    """Names and values in a line."""
    return " ".join(f"{key}={cell_text(part)}" for key, part in values.items())


def value_text(value: Any) -> str:
    """A value in few characters."""
    text = fields_text(value) if isinstance(value, Mapping) else cell_text(value)
    return shortened(text, VALUE)


def shortened(text: str, length: int) -> str:
    """A text of at most so many characters; a longer one ends in dots."""
    return text if len(text) <= length else f"{text[: length - 2]}.."
