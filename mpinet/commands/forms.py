"""Forms of commands that are other commands: ``show TOPO --node NODE`` is ``neighbors TOPO NODE``.

The command line alone has them: the words become those of the other command before these are
read, so that result, document and digest are the other command's.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Annotated, NamedTuple, TypedDict

from mpinet.commands.signature import Typed
from mpinet.errors import UsageError


class OneNode(TypedDict):
    """Ports of one node."""

    node: Annotated[
        str | None,
        Typed(
            "Node, by its number or address, whose ports alone are told: "
            "``mpinet neighbors TOPO NODE``."
        ),
    ]


class OneMessage(TypedDict):
    """Way of one message."""

    source: Annotated[
        str | None,
        Typed("Processor that sends, by its number or address.", None, words=(), metavar="SRC"),
    ]
    target: Annotated[
        str | None,
        Typed(
            "Processor that it goes to. With both the way of one message is told, and nothing "
            "runs: ``mpinet path TOPO SRC DST``.",
            words=(),
            metavar="DST",
        ),
    ]


class Downwards(TypedDict):
    """Order of the dimensions."""

    down: Annotated[
        bool,
        Typed(
            "Whether to run a DESCEND program, from the highest dimension to the lowest: "
            "``mpinet descend``."
        ),
    ]


class Form(NamedTuple):
    """Form of a command that is another command."""

    command: str
    """The other command."""
    options: type
    """Options of the command line that make this form."""
    typed: str
    """How sentences name these options."""


FORMS = {
    "show": Form("neighbors", OneNode, "--node"),
    "route": Form("path", OneMessage, "SRC DST"),
    "ascend": Form("descend", Downwards, "--down"),
}
"""Forms by the commands that have them."""


def form_in(options: argparse.Namespace) -> Form | None:
    """Return the form that was typed; if none was, remove the options of forms.

    Raises
    ------
    UsageError
        A message has one end alone, or a rank is to be played of what runs on none.
    """
    form = FORMS.get(getattr(options, "predicted", options.command))
    if form is None:
        return None
    values = {name: getattr(options, name) for name in form.options.__annotations__}
    if not any(value not in (None, False) for value in values.values()):
        for name in values:
            delattr(options, name)
        return None
    if None in values.values():
        raise UsageError(
            "The way of one message has two ends, as in: "
            f"mpinet route {options.topology} {options.source} DST"
        )
    if form.options is OneMessage and options.command != "route":
        raise UsageError(
            f"{options.command} plays a rank of a machine, and the way of one message needs none: "
            f"mpinet path {options.topology} {options.source} {options.target} tells it."
        )
    return form


def reworded(typed: Sequence[str], options: argparse.Namespace, form: Form) -> list[str]:
    """Return the words of the other command for those of a form."""
    at = typed.index(getattr(options, "predicted", options.command))
    words = [*typed[:at], form.command]
    rest = iter(typed[at + 1 :])
    for word in rest:
        if word == "--node":
            next(rest)
        elif word != "--down" and not word.startswith("--node="):
            words.append(word)
    return [*words, options.node] if form.options is OneNode else words
