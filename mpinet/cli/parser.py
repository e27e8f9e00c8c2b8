"""The argument parser: all options of the typed command, or only the names of all commands.

`mpinet.commands.signature` reads the options from the commands' option classes.
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
from mpinet.commands.optionrecords import EMPTY, GROUPS, REST, Common, Option, SavedOften, Views
from mpinet.commands.options import MachineOptions
from mpinet.commands.signature import Signature, fields_of, listed_in_help, named_as, signature_of
from mpinet.errors import UsageError

COMMON = {
    option.name: option
    for group in (MachineOptions, Views, SavedOften, Common)
    for option in fields_of(group)
    if option.name != "ports"
}
"""Options that most commands share, by name: a command's help only names these options. The option
``ports`` is left out, because its default depends on the command."""

Taking = argparse.ArgumentParser | argparse._ArgumentGroup


class Overview(Parser):
    """Parser of all commands, whose help lists them in groups."""

    def format_help(self) -> str:
        """Return the list of commands."""
        return overview()


def parser_of(wanted: str | None) -> argparse.ArgumentParser:
    """Make a parser of the wanted command; None: a parser of all command names."""
    parser = Overview(prog="mpinet")
    parser.add_argument("--version", action="version", version=f"mpinet {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)
    verbs: dict[str, Any] = {}
    names = COMMANDS if wanted is None else {wanted: COMMANDS[wanted]}
    for first, summary in VERBS.items():
        if not any(name.startswith(f"{first} ") for name in names):
            continue
        group = commands.add_parser(
            first, help=summary, description=f"{summary[0].upper()}{summary[1:]}."
        )
        verbs[first] = group.add_subparsers(metavar="ACTION", required=True)
    for name, summary in names.items():
        first, _, verb = name.partition(" ")
        command = verbs.get(first, commands).add_parser(
            verb or first, help=summary, description=f"{summary[0].upper()}{summary[1:]}."
        )
        # Other commands are known only by name. A misspelt command gets its error without an import
        # of their modules.
        if name == wanted:
            command.set_defaults(command=name)
            command.examples = examples(function_of(name).__doc__ or "")
            command.reproach = partial(reproach, name)
            add_options(command, function_of(name))
    return parser


def refuse_twice(action: argparse.Action, options: argparse.Namespace, word: str) -> None:
    """Raise an error if an option is given a second time; only sequences take several values."""
    # argparse silently keeps the last of several values.
    given: set[str] = vars(options).setdefault("given", set())
    if action.dest in given:
        several = vars(action).get("several", "").format(word=word)
        raise argparse.ArgumentError(None, f"{word} is given twice{several}")
    given.add(action.dest)


class GivenOnce(argparse.Action):
    """Base of actions that accept their option only once."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Store the option; raise an error if it was given before."""
        refuse_twice(self, namespace, option_string or self.dest)
        super().__call__(parser, namespace, values, option_string)


class Once(GivenOnce, argparse._StoreAction):
    """An option with a value."""


class Flag(GivenOnce, argparse._StoreTrueAction):
    """An option without a value: true if given."""


class EitherFlag(GivenOnce, argparse.BooleanOptionalAction):
    """A flag with a second form ``--no-NAME``, which means false."""


def add_options(parser: argparse.ArgumentParser, function: Callable[..., Any]) -> None:
    """Add the options of a command to a parser.

    Parameters
    ----------
    parser : ArgumentParser
        The command's parser.
    function : callable
        The command's function.
    """
    said = signature_of(function)
    if said.usage:
        parser.usage = f"%(prog)s {said.usage}"
    if said.is_onward:
        _add_commands(parser, said.options)
        return
    if all(option.typed.many == REST for option in said.options):
        parser.prefix_chars = "\0"  # no word begins with it: no word is an option
    for title in grouped(said):
        _group(parser, title)
    for option in [*sorted(said.options, key=_place), *said.alone]:
        _add(_group(parser, option.heading), option)
    for option in said.options:
        _name_several(parser, option)
        if option.typed.equals and isinstance(parser, Parser):
            parser.valued[option.typed.equals] = option.words[0]


def grouped(said: Signature) -> dict[str, list[Option]]:
    """Return the options that a command's help describes, by group title ("": no group)."""
    shown = [
        option
        for option in [*sorted(said.options, key=_place), *said.alone]
        if not (option.typed.hidden or option.typed.within or is_shared(option))
    ]
    titles = ["", *GROUPS, *(option.heading for option in shown)]
    found = {title: [one for one in shown if one.heading == title] for title in titles}
    return {title: options for title, options in found.items() if options}


def is_shared(option: Option) -> bool:
    """Return True if most commands have the option, with the same description."""
    common = COMMON.get(option.name)
    return common is not None and (common.help, common.words) == (option.help, option.words)


def _name_several(parser: argparse.ArgumentParser, option: Option) -> None:
    """Store, at each option that ``--vary`` can vary, the hint for an error on several values."""
    for action in parser._actions:
        name = action.dest.replace("_", "-")
        if action.dest in option.typed.varies:
            both = " ".join(f"{option.words[0]} {name}={value}" for value in "AB")
            action.several = f": {both} plays both"  # type: ignore[attr-defined]


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add each option that most commands share to a parser."""
    for option in COMMON.values():
        if not option.typed.hidden:
            _added(_group(parser, option.heading), option)


def _group(parser: argparse.ArgumentParser, title: str) -> Taking:
    """Return the parser's option group of this title; create the group if it is missing."""
    if not title:
        return parser
    groups = (group for group in parser._action_groups if group.title == title)
    return next(groups, None) or parser.add_argument_group(title)


def _place(option: Option) -> int:
    """Return the sort key of an option: optional positional words go before required ones."""
    if option.typed.many == REST:
        return 2
    return 0 if option.typed.words == () else 1


def _add_commands(parser: argparse.ArgumentParser, options: Sequence[Option]) -> None:
    """Add a subparser for each choice of the first option, with the remaining options."""
    first, *others = options
    commands = parser.add_subparsers(dest=first.dest, metavar="COMMAND", required=True)
    for name in first.choices:
        command = commands.add_parser(name)
        add_options(command, function_of(name))
        group = command.add_argument_group(f"options of {parser.prog.split()[-1]}")
        for option in others:
            _add(group, option)


def _add(into: Taking, option: Option) -> None:
    """Add an option to the parser, and mark an option of most commands as common."""
    if option.typed.within:
        return
    action = _added(into, option)
    # An option with the name of a common option but a different meaning is described in the
    # command's own help.
    if is_shared(option):
        action.is_common = True  # type: ignore[attr-defined]


def _added(into: Taking, option: Option) -> argparse.Action:
    """Add one option; return the argparse action."""
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
    """Add a positional option."""
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
    """Return an option's help: text of the docstring, allowed names, and default."""
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
    """Return the function that reads an option's value and raises errors in full sentences."""
    if option.choices:
        return lambda word: named_as(word, option.choices)
    kinds = option.kinds
    by_kind: dict[Any, Callable[[str], Any]] = {int: whole, float: real, Path: Path}
    read = option.typed.read or (by_kind.get(kinds[0]) if len(kinds) == 1 else None)
    return None if read is None else _told(read)


def _told(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Wrap a reader so that argparse prints the reader's error message unchanged."""

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
