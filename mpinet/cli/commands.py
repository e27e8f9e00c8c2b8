"""The parser: it knows all commands by name, but loads the typed one alone."""

from __future__ import annotations

import argparse
import difflib
import os
from collections.abc import Sequence
from typing import Any

from mpinet.base.numerals import quoted
from mpinet.base.version import __version__
from mpinet.cli.options import add_options
from mpinet.commands import function_of
from mpinet.commands.catalogue import ALIASES, COMMANDS, VERBS


class Parser(argparse.ArgumentParser):
    """An argument parser whose options must be spelled out."""

    def __init__(self, **settings: object):
        settings.setdefault("allow_abbrev", False)
        super().__init__(**settings)  # type: ignore[arg-type]

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """Read an option's value; ``--play=--`` would become a list without any."""
        if action.option_strings and action.nargs is None and arg_strings == ["--"]:
            raise argparse.ArgumentError(action, "expected one argument, not --")
        return super()._get_values(action, arg_strings)


def parse(typed: Sequence[str]) -> argparse.Namespace:
    """Parse the typed words; raise `SystemExit` with status 2 if they are wrong, 0 after help."""
    words = [word for word in typed if not word.startswith("-")]
    if words[:1] and words[0] in ALIASES:
        at = typed.index(words[0])
        words[0] = ALIASES[words[0]]
        typed = [*typed[:at], words[0], *typed[at + 1 :]]
    parser = _parser(_command_in(words))
    if words and words[0] not in {command.split()[0] for command in COMMANDS}:
        parser.error(_unknown(words[0]))
    return parser.parse_args(_with_format(typed))


def _command_in(words: Sequence[str]) -> str | None:
    """Return the command, of one word or two, with which the words begin."""
    return next((c for c in (" ".join(words[:2]), *words[:1]) if c in COMMANDS), None)


def _with_format(typed: Sequence[str]) -> list[str]:
    """Join ``--progress json`` to one word, because the option alone has no value.

    Where a program's or script's own words begin nothing is changed.
    """
    words = list(typed)
    for at, word in enumerate(words):
        if word.endswith(".py") or word in ("-m", "-c", "--"):
            break
        if word == "--progress=json":
            words[at] = "--progress-as=json"
        elif words[at : at + 2] == ["--progress", "json"]:
            return [*words[:at], "--progress-as=json", *words[at + 2 :]]
    return words


def _parser(wanted: str | None) -> argparse.ArgumentParser:
    """Make a parser of all commands, with the options of the wanted command alone."""
    parser = Parser(
        prog="mpinet",
        description="Emulate message-passing machines: route, broadcast, ASCEND, and count steps.",
        epilog="mpirun -n R mpinet COMMAND .. spreads the machine over R ranks, with the same "
        "result. mpinet COMMAND --help tells a command's options.",
    )
    parser.add_argument("--version", action="version", version=f"mpinet {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    verbs: dict[str, Any] = {}
    for first, summary in VERBS.items():
        group = commands.add_parser(first, help=summary, description=f"{summary.capitalize()}.")
        verbs[first] = group.add_subparsers(metavar="ACTION", required=True)
    for name, summary in COMMANDS.items():
        first, _, verb = name.partition(" ")
        command = verbs.get(first, commands).add_parser(
            verb or first, help=summary, description=f"{summary.capitalize()}."
        )
        if name == wanted:
            command.set_defaults(command=name)
            add_options(command, function_of(name))
    return parser


def complete() -> None:
    """Answer a shell's request for completions and exit; return if there is none.

    The shell knows whom to ask by ``eval "$(register-python-argcomplete mpinet)"``.
    """
    if "_ARGCOMPLETE" not in os.environ:
        return
    try:
        from argcomplete import autocomplete
    except ImportError:
        return
    words = os.environ.get("COMP_LINE", "")[: int(os.environ.get("COMP_POINT", 0))].split()[1:]
    autocomplete(_parser(_command_in(words)))


def _unknown(word: str) -> str:
    close = difflib.get_close_matches(word.lower(), [*COMMANDS, *ALIASES], n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    return f"there is no command {quoted(word)}: {hint}'mpinet --help' lists them all."
