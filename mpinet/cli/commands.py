"""Reading of what was typed: the words become the record of a command's options."""

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
    """Parse the typed words; raise `SystemExit` with status 2 if they are wrong, 0 after help."""
    return read(typed)[1]


def read(typed: Sequence[str]) -> tuple[list[str], Options]:
    """Parse the typed words, as `parse` does; return them under the command's own name, too."""
    typed = _under_own_name(typed)
    values = _parsed(typed)
    form = form_in(values)
    if form is not None:
        typed = reworded(typed, values, form)
        values = _parsed(typed, form)
    return typed, _record_of(values)


def _record_of(values: dict[str, Any]) -> Options:
    """Make the record of a command's options, and the record of the command that it plays."""
    said = signature_of(function_of(values["command"]))
    if said.is_onward:
        played = signature_of(function_of(values[said.options[0].name]))
        values["played"] = record_of(played.record, values)
    return record_of(said.record, values)


def _under_own_name(typed: Sequence[str]) -> list[str]:
    """Return the words with the command's own name; ``help COMMAND`` is ``COMMAND --help``."""
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
    """Parse the typed words, which are those of another command if they were in a form.

    Returns
    -------
    dict
        The values by the names of options.
    """
    words = [word for word in typed if not word.startswith("-")]
    parser = parser_of(_command_in(words))
    if words and words[0] not in {command.split()[0] for command in COMMANDS}:
        parser.error(_unknown(words[0]))
    parsed, unread = parser.parse_known_args(_with_format(typed))
    values = vars(parsed)
    for end in ("source", "target"):  # argparse leaves what may stand by place after an option
        if values.get(end, "") is None and unread and not unread[0].startswith("-"):
            values[end] = unread.pop(0)
    if unread:
        parser.error(_unread(values["command"], unread, form))
    return values


def _common() -> NoReturn:
    """Show the options that most commands have, and exit."""
    parser = Parser(prog="mpinet COMMAND", add_help=False, usage="mpinet COMMAND .. [options]")
    parser.description = "Options of most commands; a command's help ends with those it takes."
    add_common(parser)
    parser.print_help()
    parser.exit()


def _unread(command: str, words: Sequence[str], form: CommandForm | None) -> str:
    """Return a sentence on words that a command does not take."""
    word = words[0].partition("=")[0].replace("--progress-as", "--progress")
    if form is not None:
        return f"{quoted(word)[1:-1]} does not apply with {form.typed}: mpinet {command} lacks it."
    if not word.startswith("-"):
        return further(command, word)
    return lacking(command, word)


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


def complete() -> None:
    """Answer a shell's request for completions and exit; return if there is none.

    The shell knows whom to ask by ``eval "$(register-python-argcomplete mpinet)"``.
    """
    # Every start passes here: argcomplete is imported only for a shell that asks.
    if "_ARGCOMPLETE" not in os.environ:
        return
    try:
        from argcomplete import autocomplete
    except ImportError:
        return
    words = os.environ.get("COMP_LINE", "")[: int(os.environ.get("COMP_POINT", 0))].split()[1:]
    autocomplete(parser_of(_command_in(words)))


def _unknown(word: str) -> str:
    said = hint(word, [*COMMANDS, *ALIASES], after="'mpinet --help' lists them all.")
    return f"there is no command {quoted(word)}: {said}"
