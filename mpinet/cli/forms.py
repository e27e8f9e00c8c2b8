"""Command forms for another command, such as ``show --node`` for ``neighbors``.

Forms exist only on the command line. The words are rewritten before parsing, so result, document
and digest come from the replacing command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mpinet.errors import UsageError


class CommandForm(NamedTuple):
    """Form of a command that stands for another command."""

    command: str
    """Name of the command that runs."""
    options: tuple[str, ...]
    """Options whose presence selects this form."""
    typed: str
    """Text that names these options in error messages."""


FORMS = {
    "show": CommandForm("neighbors", ("node",), "--node"),
    "route": CommandForm("path", ("source", "target"), "SRC DST"),
    "ascend": CommandForm("descend", ("down",), "--down"),
}
"""Forms by the name of the typed command."""


def form_in(values: Mapping[str, Any]) -> CommandForm | None:
    """Return the form selected by the parsed values; None for an ordinary command.

    Raises
    ------
    UsageError
        SRC is given without DST, or ``predict`` plays a form without a machine.
    """
    form = FORMS.get(_played(values))
    if form is None:
        return None
    own = [values[name] for name in form.options]
    if not any(value not in (None, False) for value in own):
        return None
    # argparse has no rule for two words that must be given together.
    if None in own:
        raise UsageError(
            "The route of one message needs SRC and DST, as in: "
            f"mpinet route {values['topology']} {values['source']} DST"
        )
    if form.command == "path" and values["command"] != "route":
        ends = f"{values['topology']} {values['source']} {values['target']}"
        raise UsageError(
            f"{values['command']} plays a rank of a machine, but the route of one message needs no "
            f"machine: use mpinet path {ends}."
        )
    return form


def reworded(typed: Sequence[str], values: Mapping[str, Any], form: CommandForm) -> list[str]:
    """Return the typed words, rewritten for the command that the form stands for."""
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
    """Return the owner of the options: the command, or for ``predict`` the played command."""
    played: str = values.get("predicted", values["command"])
    return played
