"""The ledger in a terminal: verdicts by paper, with the witnesses of refuted claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from textwrap import wrap
from typing import Any

from mpinet.claims.ledger import ROOMS, paper
from mpinet.claims.quotation import place_text
from mpinet.claims.summary import tally
from mpinet.report.tables import cell_text

COLOURS = {"holds": "32", "refuted": "31", "beaten": "36", "open": "33", "error": "35"}
"""ANSI colours of the verdicts."""

WIDTH = 100
"""Number of characters of a line."""

VALUE, WITNESS = 60, 240
"""Largest number of characters of a value and of a witness; longer texts end in dots."""


def ledger(rows: Sequence[Mapping[str, Any]], coloured: bool = False) -> str:
    """Return all verdicts, paper by paper, and their counts.

    Parameters
    ----------
    rows : sequence of mappings
        Verdicts as JSON objects.
    coloured : bool
        True if the terminal shows colours.
    """
    parts = []
    for name, group in groupby(rows, key=lambda row: row["paper"]):
        own = list(group)
        width = max(len(row["id"]) for row in own)
        lines = [f"{name}: {tally(own)}", ""]
        for row in own:
            lines += _entry(row, width, coloured)
        parts.append("\n".join(lines))
    return "\n\n".join([*parts, f"all: {tally(rows)}"])


def _entry(row: Mapping[str, Any], width: int, coloured: bool) -> list[str]:
    """Return the lines of a claim."""
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
    remarks = [line for text in _remarks(row) for line in wrap(text, room)]
    return [*lines, *(indent + line for line in [*said, *replay, *_fair(row, room), *remarks])]


def _fair(row: Mapping[str, Any], room: int) -> list[str]:
    """Return lines on the non-degenerate witness, if the smallest witness is degenerate."""
    fair = row["nondegenerate"]
    if fair is None or fair["replay"] == row["replay"]:
        return []
    text = f"not degenerate: {_failure({**row, **fair}, fair)}"
    return [*wrap(text, room), f"$ {fair['replay']}"]


def _remarks(row: Mapping[str, Any]) -> list[str]:
    """Return the remarks on a claim."""
    tested = row["witness"] and row["points"] > 1
    remarks = [extent_text(row), f"tested: {row['tested']}" if tested else ""]
    if row["verdict"] == "refuted" and (cause := cause_of(row)):
        grade = f" ({row['grade']})" if row["grade"] else ""
        remarks.append(f"the error{grade}: {cause}")
    if row["verdict"] == "refuted" and row["quotation"]:
        remarks.append(quotation_text(row))
    if not row["measures"]:
        remarks.append("by formula: no network is measured")
    if row["corrects"]:
        remarks.append(f"corrects {row['corrects']}")
    if row["reading"]:
        remarks.append(f"reading: {row['reading']}")
    if row["note"]:
        remarks.append(f"note: {row['note']}")
    return [text for text in remarks if text]


def quotation_text(row: Mapping[str, Any]) -> str:
    """Return the quotation from the paper with page and line; empty if there is none."""
    said = row["quotation"]
    return f'the paper: "{said["text"]}" ({place_text(said["page"], said["line"])})' if said else ""


def extent_text(row: Mapping[str, Any]) -> str:
    """Return the number of failing points and their common property; empty if the claim holds."""
    failing, points = row["failing"], row["points"]
    if not failing:
        return ""
    return _how_often(row, failing, points) + _in_common(row, failing, points - failing)


def _how_often(row: Mapping[str, Any], failing: int, points: int) -> str:
    if points == 1:
        text = "fails at the only measured point" + _in_values(row)
    elif row["everywhere"]:
        text = f"fails at every measured point ({points})"
    else:
        text = f"fails at {failing} of {points} points"
    if row["degenerate"]:
        text += f" ({'all' if row['degenerate'] == failing else row['degenerate']} degenerate)"
    return text


def _in_values(row: Mapping[str, Any]) -> str:
    """Return the number of failing values, if the claim is a table of several values."""
    claimed, witness = row["claimed"], row["witness"] or {"where": {}}
    wrong = witness["where"].get("fields")
    if not isinstance(claimed, Mapping) or len(claimed) == 1 or not isinstance(wrong, list):
        return ""
    return f", in {len(wrong)} of {len(claimed)} values"


def _in_common(row: Mapping[str, Any], failing: int, others: int) -> str:
    """Return the common property of the failing points, if the claim holds at other points."""
    common = row["common"]
    # If every point fails, no property distinguishes failing points from others.
    if not others:
        return ""
    if common is None:
        return ": no common property is known"
    if common["exact"]:
        return f": just those where {common['text']}"
    return (
        f": where {common['text']} ({common['failing']} of {failing} failures, "
        f"and {common['holding']} of {others} other points)"
    )


def cause_of(row: Mapping[str, Any]) -> str:
    """Return the sentence on the error that refutes a claim, or its name, or ""."""
    causes = paper(row["paper"]).causes if row["paper"] in ROOMS else {}
    return causes[row["cause"]].sentence if row["cause"] in causes else str(row["cause"])


def _found(row: Mapping[str, Any]) -> str:
    """Return the tested range if the claim holds, the witness if it fails, otherwise the reason."""
    if row["verdict"] == "holds":
        return "; ".join(filter(None, [f"tested: {row['tested']}", row["reason"]]))
    if row["witness"] is None:
        return str(row["reason"]).strip().splitlines()[-1]
    return _failure(row, row["witness"])


def _failure(row: Mapping[str, Any], at_point: Mapping[str, Any]) -> str:
    """Return measured and claimed values at a witness."""
    witness = {**at_point["point"], **at_point["where"]}
    at = f" at {shortened(fields_text(witness), WITNESS)}" if witness else ""
    if row["claimed"] is True:
        return f"not so{at}"
    claimed, measured = (value_text(row[name]) for name in ("claimed", "measured"))
    return f"measured {measured}, claimed {row['relation']} {claimed}{at}"


def fields_text(values: Mapping[str, Any]) -> str:
    """Return names and values in one line."""
    return " ".join(f"{key}={cell_text(part)}" for key, part in values.items())


def value_text(value: Any) -> str:
    """Format a value in few characters."""
    text = fields_text(value) if isinstance(value, Mapping) else cell_text(value)
    return shortened(text, VALUE)


def shortened(text: str, length: int) -> str:
    """Shorten a text to a number of characters; a longer one ends in dots."""
    return text if len(text) <= length else f"{text[: length - 2]}.."
