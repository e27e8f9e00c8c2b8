"""Parse the typed words into the record of a command's options."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NoReturn

from mpinet.base.meant import hint
from mpinet.base.numerals import quoted
from mpinet.cli.forms import CommandForm, form_in, reworded
from mpinet.cli.help import Parser
from mpinet.cli.misses import further, lacking
from mpinet.cli.parser import add_common, parser_of
from mpinet.commands import function_of
from mpinet.commands.catalogue import ALIASES, COMMANDS
from mpinet.commands.optionrecords import Options, record_of
from mpinet.commands.signature import signature_of


def parse(typed: Sequence[str]) -> Options:
    """Parse the typed words into an options record.

    Raises
    ------
    SystemExit
        Status 2 if the words are wrong, status 0 after help.
    """
    return read(typed)[1]


def read(typed: Sequence[str]) -> tuple[list[str], Options]:
    """Parse the typed words as `parse` does; return the normalised words and the options record."""
    typed = _under_own_name(typed)
    values = _parsed(typed)
    form = form_in(values)
    if form is not None:
        typed = reworded(typed, values, form)
        values = _parsed(typed, form)
    return typed, _record_of(values)


def _record_of(values: dict[str, Any]) -> Options:
    """Make the options record of a command, and for `predict` of the played command."""
    said = signature_of(function_of(values["command"]))
    if said.is_onward:
        played = signature_of(function_of(values[said.options[0].name]))
        values["played"] = record_of(played.record, values)
    return record_of(said.record, values)


def _under_own_name(typed: Sequence[str]) -> list[str]:
    """Replace an alias by the command's name, and ``help COMMAND`` by ``COMMAND --help``."""
    words = [word for word in typed if not word.startswith("-")]
    if words == ["help", "common"]:
        _common()
    if words[:1] == ["help"]:
        typed, words = [*words[1:], "--help"], words[1:]
    if words[:1] and words[0] in ALIASES:
        at = typed.index(words[0])
        return [*typed[:at], ALIASES[words[0]], *typed[at + 1 :]]
    return [*typed]


def _parsed(typed: Sequence[str], form: CommandForm | None = None) -> dict[str, Any]:
    """Parse the typed words; ``form`` is the form that was replaced by another command, if any.

    Returns
    -------
    dict
        The values by option name.
    """
    words = [word for word in typed if not word.startswith("-")]
    parser = parser_of(_command_in(words))
    if words and words[0] not in {command.split()[0] for command in COMMANDS}:
        parser.error(_unknown(words[0]))
    parsed, unread = parser.parse_known_args(_with_format(typed))
    values = vars(parsed)
    for end in ("source", "target"):  # argparse leaves them unread after an option
        if values.get(end, "") is None and unread and not unread[0].startswith("-"):
            values[end] = unread.pop(0)
    if unread:
        parser.error(_unread(values["command"], unread, form))
    return values


def _common() -> NoReturn:
    """Print the options that most commands share, and exit."""
    parser = Parser(prog="mpinet COMMAND", add_help=False, usage="mpinet COMMAND .. [options]")
    parser.description = (
        "Options of most commands. The last line of a command's help names its common options."
    )
    add_common(parser)
    parser.print_help()
    parser.exit()


def _unread(command: str, words: Sequence[str], form: CommandForm | None) -> str:
    """Return the error sentence for words that a command does not accept."""
    word = words[0].partition("=")[0].replace("--progress-as", "--progress")
    if form is not None:
        return f"{quoted(word)[1:-1]} does not apply with {form.typed}: mpinet {command} lacks it."
    if not word.startswith("-"):
        return further(command, word)
    return lacking(command, word)


def _command_in(words: Sequence[str]) -> str | None:
    """Return the command (one or two words) at the beginning of the words, or None."""
    return next((c for c in (" ".join(words[:2]), *words[:1]) if c in COMMANDS), None)


def _with_format(typed: Sequence[str]) -> list[str]:
    """Join ``--progress json`` to one word, because argparse knows ``--progress`` as a flag.

    The words of a script or program are not changed.
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


def complete() -> None:
    """Answer a shell's completion request and exit; return at once if no shell asks.

    ``eval "$(register-python-argcomplete mpinet)"`` registers the command with the shell.
    """
    # This code runs at every start, so argcomplete is imported only if a shell asks for
    # completions.
    if "_ARGCOMPLETE" not in os.environ:
        return
    try:
        from argcomplete import autocomplete
    except ImportError:
        return
    words = os.environ.get("COMP_LINE", "")[: int(os.environ.get("COMP_POINT", 0))].split()[1:]
    autocomplete(parser_of(_command_in(words)))


def _unknown(word: str) -> str:
    said = hint(word, [*COMMANDS, *ALIASES], after="'mpinet --help' lists all commands.")
    return f"there is no command {quoted(word)}: {said}"
