"""Make the text of ``--help``: examples, options in groups, names of common options."""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from textwrap import fill
from typing import Any

from mpinet.base.meant import hint
from mpinet.base.numerals import quoted
from mpinet.commands.catalogue import ALIASES, GROUPS, MODULES, VERBS

WIDTH = 98
"""Line width of the help, in characters."""

EXAMPLE = re.compile(r"``(mpinet [^`]+)``")


def examples(doc: str) -> list[str]:
    r"""Return the command lines in the Examples section of a docstring.

    Examples
    --------
    >>> examples("Show.\n\nExamples\n--------\n``mpinet show ring:6``")
    ['mpinet show ring:6']
    """
    _, _, section = doc.partition("Examples\n")
    return [" ".join(line.split()) for line in EXAMPLE.findall(section)]


def first_example(command: str) -> str:
    """Return the first example of a command by reading the module's source, without an import."""
    found = find_spec(f"mpinet.commands.{MODULES.get(command, command)}")
    assert found is not None and found.origin is not None
    tree = ast.parse(Path(found.origin).read_text(encoding="utf-8"))
    for part in tree.body:
        if isinstance(part, ast.ClassDef) and f"command = {command!r}" in map(
            ast.unparse, part.body
        ):
            return next(iter(examples(ast.get_docstring(part) or "")), "")
    return ""


class Parser(argparse.ArgumentParser):
    """Argument parser without abbreviated options, whose help begins with examples."""

    def __init__(self, **settings: object):
        # An abbreviation in a user's script would change its meaning when an option with the same
        # beginning is added.
        settings.setdefault("allow_abbrev", False)
        super().__init__(**settings)  # type: ignore[arg-type]
        self.examples: list[str] = []
        """Command lines at the top of the help; the first one also appears in error messages."""
        self.reproach: Callable[[argparse.ArgumentParser, Sequence[str], list[str]], str | None]
        """Returns a better error sentence for missing options, given the typed words; None if it
        has none."""
        self.reproach = lambda parser, words, missing: None
        self._typed: Sequence[str] = ()
        self.valued: dict[str, str] = {}
        """Words of flags that may have a value, as in ``--check=LIST``, each with the word of the
        option for the value."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the words, and keep a copy for error messages."""
        self._typed = list(args or ())
        return super().parse_known_args(args, namespace)

    def _parse_optional(self, arg_string: str) -> Any:
        """Parse a word; a flag with a value stands for the option for this value."""
        word, equals, value = arg_string.partition("=")
        if equals and word in self.valued:
            arg_string = f"{self.valued[word]}={value}"
        return super()._parse_optional(arg_string)

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """Read an option's value; reject ``--``, which argparse would read as an empty list."""
        if action.option_strings and action.nargs is None and arg_strings == ["--"]:
            raise argparse.ArgumentError(action, "expected one argument, not --")
        return super()._get_values(action, arg_strings)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raise an error for a value outside the choices, and suggest the closest choice."""
        if action.choices is not None and value not in action.choices:
            choices = [str(choice) for choice in action.choices]
            said = f"invalid choice: {quoted(str(value))} (choose from {', '.join(choices)})"
            meant = hint(str(value), choices, cutoff=0.7)
            later = next((word for word in self._typed if word in choices), None)
            if later is not None and not action.option_strings:
                meant = f"{later} comes first, as in: {self.prog} {later} {value}"
            raise argparse.ArgumentError(action, f"{said}{': ' if meant else ''}{meant}")

    def error(self, message: str) -> Any:
        """Exit with status 2; the message for a missing word includes an example."""
        if message.startswith("the following arguments are required"):
            missing = message.partition(": ")[2].split(", ")
            told = {argparse._get_action_name(action): action.help for action in self._actions}
            helps = [str(told[name]).rstrip(" ,.") for name in missing if told.get(name)]
            as_in = [f"as in: {self.examples[0]}"] if self.examples else []
            told_so = "; ".join([message, *helps, *as_in]).replace("%%", "%")
            message = self.reproach(self, self._typed, missing) or told_so
        super().error(message)

    def format_help(self) -> str:
        """Return the help: description, examples, own options, then the names of common options."""
        formatter = argparse.HelpFormatter(self.prog, width=WIDTH)
        usage = self.usage or f"%(prog)s [options]{''.join(map(_needed, self._actions))}"
        formatter.add_usage(usage, self._actions, self._mutually_exclusive_groups)
        sections = [
            (group.title, [action for action in group._group_actions if not is_common(action)])
            for group in self._action_groups
        ]
        # A section with --help alone goes last.
        for title, own in sorted(sections, key=lambda section: section[1] == self._actions[:1]):
            formatter.start_section(title)
            formatter.add_arguments(own)
            formatter.end_section()
        shown = "".join(f"  {example}\n" for example in self.examples)
        parts = [self.description or "", shown, formatter.format_help(), self._common()]
        return "\n".join(f"{part.rstrip()}\n" for part in parts if part)

    def _common(self) -> str:
        """Return the line with the names of the command's common options, or an empty text."""
        names = [
            action.option_strings[0]
            for action in self._actions
            if is_common(action) and action.help != argparse.SUPPRESS
        ]
        text = f"common options (mpinet help common): {', '.join(names)}"
        return fill(text, WIDTH, subsequent_indent="  ") if names else ""


def is_common(action: argparse.Action) -> bool:
    """Return True for an option of most commands, which ``mpinet help common`` describes."""
    return getattr(action, "is_common", False)


def _needed(action: argparse.Action) -> str:
    """Return the usage text of a positional word or required option; empty for any other option."""
    if action.help == argparse.SUPPRESS or (action.option_strings and not action.required):
        return ""
    metavar = action.metavar or (action.dest if action.choices is None else "")
    if isinstance(metavar, tuple):
        metavar = " ".join(metavar)
    word = metavar or f"{{{','.join(map(str, action.choices or ()))}}}"
    if action.option_strings:
        return f" {action.option_strings[0]} {word}"
    forms = {"?": f"[{word}]", "*": f"[{word} ..]", "+": f"{word} [..]", argparse.REMAINDER: ".."}
    return f" {forms.get(str(action.nargs), word)}"


def overview() -> str:
    """Return the text of ``mpinet --help``: the commands in groups, each group with an example."""
    lines = [
        "usage: mpinet COMMAND [options]",
        "",
        "Emulate message-passing machines: route, broadcast, ASCEND, and count steps.",
    ]
    for title, group in GROUPS.items():
        lines += ["", f"{title} ({first_example(next(iter(group)))}):"]
        rows = {name.split()[0]: VERBS.get(name.split()[0], said) for name, said in group.items()}
        lines += [
            fill(said, WIDTH, initial_indent=f"  {name:<13} ", subsequent_indent=" " * 16)
            for name, said in rows.items()
        ]
    aliases = ", ".join(f"{alias} = {name}" for alias, name in ALIASES.items())
    end = (
        "mpinet COMMAND --help: examples and options of a command. mpinet help common: options of "
        "most commands. mpinet --version: the version.",
        "mpirun -n R mpinet COMMAND .. distributes the machine over R ranks, with the same result.",
        f"Other names: {aliases}.",
    )
    return "\n".join([*lines, "", *(fill(text, WIDTH) for text in end), ""])
