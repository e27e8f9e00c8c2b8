"""The parser: it has the options of the typed command, or all commands by name where none is typed.

It is made from the classes of the commands' options; see `mpinet.commands.signature`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from mpinet.base.numerals import quoted, whole
from mpinet.base.version import __version__
from mpinet.cli.help import Parser, examples, overview
from mpinet.cli.misses import reproach
from mpinet.commands import function_of
from mpinet.commands.catalogue import COMMANDS, VERBS
from mpinet.commands.optionrecords import EMPTY, REST, Common, Option, SavedOften, Views
from mpinet.commands.options import MachineOptions
from mpinet.commands.signature import fields_of, listed_in_help, named_as, signature_of
from mpinet.errors import UsageError

COMMON = {
    option.name: option
    for group in (MachineOptions, Views, SavedOften, Common)
    for option in fields_of(group)
    if option.name != "ports"
}
"""Options that most commands have, by name: a command's help only names them. Ports have another
default in each command."""

Taking = argparse.ArgumentParser | argparse._ArgumentGroup


class Overview(Parser):
    """Parser of all commands, whose help lists them in groups."""

    def format_help(self) -> str:
        """Return the list of commands."""
        return overview()


def parser_of(wanted: str | None) -> argparse.ArgumentParser:
    """Make a parser of the wanted command with its options; None: of all commands by name."""
    parser = Overview(prog="mpinet")
    parser.add_argument("--version", action="version", version=f"mpinet {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)
    verbs: dict[str, Any] = {}
    names = COMMANDS if wanted is None else {wanted: COMMANDS[wanted]}
    for first, summary in VERBS.items():
        if not any(name.startswith(f"{first} ") for name in names):
            continue
        group = commands.add_parser(first, help=summary, description=f"{summary.capitalize()}.")
        verbs[first] = group.add_subparsers(metavar="ACTION", required=True)
    for name, summary in names.items():
        first, _, verb = name.partition(" ")
        command = verbs.get(first, commands).add_parser(
            verb or first, help=summary, description=f"{summary.capitalize()}."
        )
        # Other commands are known by name alone: a misspelt command is answered without loading
        # their modules.
        if name == wanted:
            command.set_defaults(command=name)
            command.examples = examples(function_of(name).__doc__ or "")
            command.reproach = partial(reproach, name)
            add_options(command, function_of(name))
    return parser


def refuse_twice(action: argparse.Action, options: argparse.Namespace, word: str) -> None:
    """Refuse an option that was given before: only a sequence takes several values."""
    # argparse lets the last of several values win without a word.
    given: set[str] = vars(options).setdefault("given", set())
    if action.dest in given:
        several = vars(action).get("several", "").format(word=word)
        raise argparse.ArgumentError(None, f"{word} is given twice{several}")
    given.add(action.dest)


class GivenOnce(argparse.Action):
    """Part of an action that takes its option once."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Take the option, unless it was given before."""
        refuse_twice(self, namespace, option_string or self.dest)
        super().__call__(parser, namespace, values, option_string)


class Once(GivenOnce, argparse._StoreAction):
    """An option with a value."""


class Flag(GivenOnce, argparse._StoreTrueAction):
    """An option without a value: given, it is true."""


class EitherFlag(GivenOnce, argparse.BooleanOptionalAction):
    """A flag that ``--no-NAME`` unsets."""


def add_options(parser: argparse.ArgumentParser, function: Callable[..., Any]) -> None:
    """Give a parser the options of a command.

    Parameters
    ----------
    parser : ArgumentParser
        The command's.
    function : callable
        What does it.
    """
    said = signature_of(function)
    if said.usage:
        parser.usage = f"%(prog)s {said.usage}"
    if said.is_onward:
        _add_commands(parser, said.options)
        return
    if all(option.typed.many == REST for option in said.options):
        parser.prefix_chars = "\0"  # a character that no word can have: nothing here is an option
    for option in [*sorted(said.options, key=_place), *said.alone]:
        _add(_group(parser, option.heading), option)
    for option in said.options:
        _name_several(parser, option)


def _name_several(parser: argparse.ArgumentParser, option: Option) -> None:
    """Note at options that another one varies how that one takes several of their values."""
    for action in parser._actions:
        name = action.dest.replace("_", "-")
        if action.dest in option.typed.varies:
            both = " ".join(f"{option.words[0]} {name}={value}" for value in "AB")
            action.several = f": {both} plays both"  # type: ignore[attr-defined]


def add_common(parser: argparse.ArgumentParser) -> None:
    """Give a parser the options that most commands have, each once."""
    for option in COMMON.values():
        if not option.typed.hidden:
            _added(_group(parser, option.heading), option)


def _group(parser: argparse.ArgumentParser, title: str) -> Taking:
    """Return a parser's group of this title, made where there is none."""
    if not title:
        return parser
    groups = (group for group in parser._action_groups if group.title == title)
    return next(groups, None) or parser.add_argument_group(title)


def _place(option: Option) -> int:
    """Sort key of an option: among those typed by place, optional ones go before required ones."""
    if option.typed.many == REST:
        return 2
    return 0 if option.typed.words == () else 1


def _add_commands(parser: argparse.ArgumentParser, options: Sequence[Option]) -> None:
    """Add a parser for each command that the first option names, with the other options, too."""
    first, *others = options
    commands = parser.add_subparsers(dest=first.dest, metavar="COMMAND", required=True)
    for name in first.choices:
        command = commands.add_parser(name)
        add_options(command, function_of(name))
        group = command.add_argument_group(f"options of {parser.prog.split()[-1]}")
        for option in others:
            _add(group, option)


def _add(into: Taking, option: Option) -> None:
    """Add one option; mark it if most commands have it."""
    if option.typed.within:
        return
    action = _added(into, option)
    common = COMMON.get(option.name)
    # A command may have an option of a common name and another meaning, which its own help has to
    # explain.
    if common is not None and (common.help, common.words) == (option.help, option.words):
        action.is_common = True  # type: ignore[attr-defined]


def _added(into: Taking, option: Option) -> argparse.Action:
    """Add one option; return what argparse makes of it."""
    typed = option.typed
    settings: dict[str, Any] = {"help": _help(option)}
    if option.is_flag:
        action = Flag if option.default is False else EitherFlag
        return into.add_argument(
            *option.words, dest=option.dest, action=action, default=option.default, **settings
        )
    settings |= {"type": _reader(option), "choices": option.choices or None}
    if typed.metavar or not option.choices:
        settings["metavar"] = option.metavar
    settings["default"] = None if option.default is EMPTY else option.default
    if option.default == ():
        settings["default"] = []
    if typed.many is not None:
        settings["nargs"] = typed.many
    if not option.words:
        return _add_by_place(into, option, settings)
    settings["required"] = typed.required or option.default is EMPTY
    if typed.many != REST:
        settings["action"] = "append" if option.is_several else Once
    made = into.add_argument(*option.words, dest=option.dest, **settings)
    if typed.several:
        listed = f": several values are one word, as in {{word}} {typed.several}"
        made.several = listed  # type: ignore[attr-defined]
    return made


def _add_by_place(into: Taking, option: Option, settings: dict[str, Any]) -> argparse.Action:
    """Add an option that is typed by its place."""
    needed = option.default is EMPTY
    if option.is_several and option.typed.many is None:
        settings["nargs"] = "+" if needed else "*"
    elif not needed and option.typed.many is None:
        settings["nargs"] = "?"
    action = into.add_argument(option.dest, **settings)
    if option.typed.complete is not None:
        action.completer = option.typed.complete  # type: ignore[attr-defined]
    return action


def _help(option: Option) -> str:
    """Return an option's help: the docstring's text, the listed names, and the default."""
    if option.typed.hidden:
        return argparse.SUPPRESS
    text = option.help.replace("`", "").rstrip(".")
    if option.is_flag:
        text = text.removeprefix("Whether to ")
    if not text[1:2].isupper():
        text = text[:1].lower() + text[1:]
    if listed := listed_in_help(option):
        text += f": {listed}"
    if not any(option.default is unset for unset in (None, EMPTY, False, ())):
        told = option.default
        text += f" (default {told:g})" if isinstance(told, float) else f" (default {told})"
    return text.replace("%", "%%")


def _reader(option: Option) -> Callable[[str], Any] | None:
    """Return the function that reads an option's value; its errors are sentences."""
    if option.choices:
        return lambda word: named_as(word, option.choices)
    kinds = option.kinds
    by_kind: dict[Any, Callable[[str], Any]] = {int: whole, float: real, Path: Path}
    read = option.typed.read or (by_kind.get(kinds[0]) if len(kinds) == 1 else None)
    return None if read is None else _told(read)


def _told(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Wrap a reader so that argparse shows its sentence on a wrong word unchanged."""

    def reading(text: str) -> Any:
        try:
            return read(text)
        except (ValueError, UsageError) as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return reading


def real(text: str) -> float:
    """Read a number."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{quoted(text)} is not a number") from None
