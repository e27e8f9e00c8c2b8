"""Make error messages for words that a command does not accept, with suggestions."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from mpinet.base.numerals import quoted
from mpinet.cli.help import examples
from mpinet.commands import function_of
from mpinet.commands.catalogue import COMMANDS
from mpinet.commands.signature import signature_of

ELSEWHERE = {
    "--injection-rate": ("--rate",),
    "--load": ("--rate",),
    "--traffic": ("--pattern", "--pairs"),
    "--bandwidth": ("--time-byte", "--beta"),
    "--from": ("--root",),
    "--source": ("--root",),
    "--labels": ("--label",),
    "--output": ("-o", "--out"),
}
"""Option names of other tools, with the matching options of mpinet."""

MOST_NAMED = 8
"""Largest number of commands that an error message names as having an option."""

LEAST_BEGUN = 3
"""Shortest word, in letters, that is treated as the beginning of an option's name."""

RANKS = ("--np", "-n", "-np", "--processors", "--ranks", "--nprocs")
"""Option names of other tools for the number of a script's processors."""


def lacking(command: str, word: str) -> str:
    """Return the error sentence for an unknown option, with a suggestion."""
    said = f"{command} has no option {quoted(word)[1:-1]}: "
    own = _words(command)
    if command == "exec" and word in RANKS:
        return f"{said}the network sets the number of processors, as in --on complete:4."
    if word == "--on":
        return f"{said}type the network without an option, as in: {_example(command)}"
    if known := [one for one in ELSEWHERE.get(word, ()) if one in own]:
        return f"{said}did you mean {' or '.join(known)}?"
    others = [other for other in COMMANDS if other != command and word in _words(other)]
    # A similar name in this command is more likely meant than the same name in another command.
    if others and (close := _close(word, own, 0.8)):
        return f"{said}did you mean {close}?"
    if others:
        few = len(others) <= MOST_NAMED
        named = _listed(others) if few else f"{len(others)} commands, such as mpinet {others[0]},"
        return f"{said}{named} {'have' if len(others) > 1 else 'has'} this option."
    meant = _close(word, own, 0.7)
    return said + (
        f"did you mean {meant}?"
        if meant
        else f"mpinet {command} --help lists all options, mpinet help common the common ones."
    )


def _close(word: str, own: Sequence[str], cutoff: float) -> str | None:
    """Return the option whose name is similar to a word, begins with the word, or is its last part.

    Leading dashes are ignored; otherwise all short names would be similar.
    """
    names = {one.lstrip("-"): one for one in own if one.startswith("--")}
    bare = word.lstrip("-").lower()
    begun = [name for name in names if len(bare) >= LEAST_BEGUN and name.startswith(bare)]
    ended = [name for name in names if bare.endswith(f"-{name}")]
    close = begun or ended or get_close_matches(bare, names, n=1, cutoff=cutoff)
    return names[close[0]] if close else None


def further(command: str, word: str) -> str:
    """Return the error sentence for a positional word too many."""
    return f"{command} takes no further word {quoted(word)}; as in: {_example(command)}"


def reproach(
    command: str, parser: ArgumentParser, words: Sequence[str], missing: Sequence[str]
) -> str | None:
    """Return a sentence on the cause of missing options; None if no typed word is the cause.

    Causes are an option after the script, a missing first file, or another misspelt option.
    """
    moved = next(filter(None, (moved_before(words, option) for option in missing)), None)
    if moved is not None:
        return f"options go before the script: {parser.prog} {shlex.join(moved)}"
    first = next((word for word in words if not word.startswith("-")), "")
    if Path(first).suffix in (".toml", ".npz", ".csv") and not Path(first).exists():
        return f"{command}: there is no file {quoted(first)}."
    for word in words[: script_in(words)]:
        head = word.partition("=")[0]
        if word.startswith("-") and head not in parser._option_string_actions:
            return lacking(command, head)
    return None


def moved_before(words: Sequence[str], option: str) -> list[str] | None:
    """Return the words with an option moved before the script; None if nothing is to move.

    Examples
    --------
    >>> moved_before(["x.py", "--on", "ring:4"], "--on")
    ['--on', 'ring:4', 'x.py']
    """
    script = script_in(words)
    at = next((at for at, word in enumerate(words) if word.partition("=")[0] == option), 0)
    if script is None or at < script or words[at] == words[script]:
        return None
    end = at + 1 if "=" in words[at] else at + 2
    return [*words[:script], *words[at:end], *words[script:at], *words[end:]]


def script_in(words: Sequence[str]) -> int | None:
    """Return the index of the script, ``-m`` or ``-c`` in a command's words; None if absent."""
    return next(
        (at for at, word in enumerate(words) if word.endswith(".py") or word in ("-m", "-c")), None
    )


def _words(command: str) -> list[str]:
    """Return the words of the options in a command's help, such as ``--root``."""
    said = signature_of(function_of(command))
    options = (one for one in (*said.options, *said.alone) if not one.typed.hidden)
    return [word for option in options for word in option.words]


def _example(command: str) -> str:
    return next(iter(examples(function_of(command).__doc__ or "")), f"mpinet {command} --help")


def _listed(names: Sequence[str]) -> str:
    """Return up to three command names as a list in prose."""
    few = [f"mpinet {name}" for name in names[:3]]
    return few[0] if len(few) == 1 else f"{', '.join(few[:-1])} and {few[-1]}"
