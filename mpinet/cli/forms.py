"""Forms of commands that are other commands: ``show TOPO --node NODE`` is ``neighbors TOPO NODE``.

The command line alone has them: the words become those of the other command before these are
read, so that result, document and digest are the other command's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mpinet.errors import UsageError


class CommandForm(NamedTuple):
    """Form of a command that is another command."""

    command: str
    """The other command."""
    options: tuple[str, ...]
    """Options of the command line that make this form."""
    typed: str
    """Name of these options in sentences."""


FORMS = {
    "show": CommandForm("neighbors", ("node",), "--node"),
    "route": CommandForm("path", ("source", "target"), "SRC DST"),
    "ascend": CommandForm("descend", ("down",), "--down"),
}
"""Forms by the commands that have them."""


def form_in(values: Mapping[str, Any]) -> CommandForm | None:
    """Return the form that was typed, if one was.

    Raises
    ------
    UsageError
        A message has one end alone, or a rank is to be played of what runs on none.
    """
    form = FORMS.get(_played(values))
    if form is None:
        return None
    own = [values[name] for name in form.options]
    if not any(value not in (None, False) for value in own):
        return None
    # argparse knows no two words that are given together or not at all.
    if None in own:
        raise UsageError(
            "The way of one message has two ends, as in: "
            f"mpinet route {values['topology']} {values['source']} DST"
        )
    if form.command == "path" and values["command"] != "route":
        ends = f"{values['topology']} {values['source']} {values['target']}"
        raise UsageError(
            f"{values['command']} plays a rank of a machine, and the way of one message needs "
            f"none: mpinet path {ends} tells it."
        )
    return form


def reworded(typed: Sequence[str], values: Mapping[str, Any], form: CommandForm) -> list[str]:
    """Return the words of the other command for those of a form."""
    at = typed.index(_played(values))
    words = [*typed[:at], form.command]
    rest = iter(typed[at + 1 :])
    for word in rest:
        if word == "--node":
            next(rest)
        elif word != "--down" and not word.startswith("--node="):
            words.append(word)
    return [*words, values["node"]] if form.command == "neighbors" else words


def _played(values: Mapping[str, Any]) -> str:
    """Return the command whose options these are: of ``predict``, the one that it plays."""
    played: str = values.get("predicted", values["command"])
    return played
