"""The text of ``--help``: examples first, a command's own options, where the others are told."""

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
"""Characters of a line."""

EXAMPLE = re.compile(r"``(mpinet [^`]+)``")


def examples(doc: str) -> list[str]:
    r"""Return the command lines in a docstring's section Examples.

    Examples
    --------
    >>> examples("Show.\n\nExamples\n--------\n``mpinet show ring:6``")
    ['mpinet show ring:6']
    """
    _, _, section = doc.partition("Examples\n")
    return [" ".join(line.split()) for line in EXAMPLE.findall(section)]


def first_example(command: str) -> str:
    """Return the first example of a command, whose module is read but not imported."""
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
    """An argument parser whose options must be spelled out, and whose help begins with examples."""

    def __init__(self, **settings: object):
        # An abbreviation in a user's script would mean another option as soon as one with the same
        # beginning is added.
        settings.setdefault("allow_abbrev", False)
        super().__init__(**settings)  # type: ignore[arg-type]
        self.examples: list[str] = []
        """Command lines that the help begins with; the first one stands below errors, too."""
        self.reproach: Callable[[argparse.ArgumentParser, Sequence[str], list[str]], str | None]
        """Returns a better sentence on missing options than their names, from the words typed."""
        self.reproach = lambda parser, words, missing: None
        self._typed: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the words, and keep them for an error's sentence."""
        self._typed = list(args or ())
        return super().parse_known_args(args, namespace)

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """Read an option's value; ``--play=--`` would become a list without any."""
        if action.option_strings and action.nargs is None and arg_strings == ["--"]:
            raise argparse.ArgumentError(action, "expected one argument, not --")
        return super()._get_values(action, arg_strings)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse what is no choice, with the one that may have been meant."""
        if action.choices is not None and value not in action.choices:
            choices = [str(choice) for choice in action.choices]
            said = f"invalid choice: {quoted(str(value))} (choose from {', '.join(choices)})"
            meant = hint(str(value), choices, cutoff=0.7)
            later = next((word for word in self._typed if word in choices), None)
            if later is not None and not action.option_strings:
                meant = f"{later} comes first, as in: {self.prog} {later} {value}"
            raise argparse.ArgumentError(action, f"{said}{': ' if meant else ''}{meant}")

    def error(self, message: str) -> Any:
        """End with status 2; what lacks a word is shown by an example."""
        if message.startswith("the following arguments are required"):
            missing = message.partition(": ")[2].split(", ")
            told = {argparse._get_action_name(action): action.help for action in self._actions}
            helps = [str(told[name]).rstrip(" ,.") for name in missing if told.get(name)]
            as_in = [f"as in: {self.examples[0]}"] if self.examples else []
            told_so = "; ".join([message, *helps, *as_in]).replace("%%", "%")
            message = self.reproach(self, self._typed, missing) or told_so
        super().error(message)

    def format_help(self) -> str:
        """Return the help: what it does, examples, the command's own options, the others' names."""
        formatter = argparse.HelpFormatter(self.prog, width=WIDTH)
        usage = self.usage or f"%(prog)s [options]{''.join(map(_needed, self._actions))}"
        formatter.add_usage(usage, self._actions, self._mutually_exclusive_groups)
        for group in self._action_groups:
            own = [action for action in group._group_actions if not is_common(action)]
            formatter.start_section(group.title)
            formatter.add_arguments(own)
            formatter.end_section()
        shown = "".join(f"  {example}\n" for example in self.examples)
        parts = [self.description or "", shown, formatter.format_help(), self._common()]
        return "\n".join(f"{part.rstrip()}\n" for part in parts if part)

    def _common(self) -> str:
        """Return the line with the options that many commands have."""
        names = [
            action.option_strings[0]
            for action in self._actions
            if is_common(action) and action.help != argparse.SUPPRESS
        ]
        text = f"common options (mpinet help common): {', '.join(names)}"
        return fill(text, WIDTH, subsequent_indent="  ") if names else ""


def is_common(action: argparse.Action) -> bool:
    """Return whether many commands have an option, so that one page tells it."""
    return getattr(action, "is_common", False)


def _needed(action: argparse.Action) -> str:
    """Return how what has to be given, or is given by place, stands in the usage."""
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
    """Return what ``mpinet --help`` shows: the commands in groups, each with a first command."""
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
        "mpirun -n R mpinet COMMAND .. spreads the machine over R ranks, with the same result.",
        f"Other names: {aliases}.",
    )
    return "\n".join([*lines, "", *(fill(text, WIDTH) for text in end), ""])
