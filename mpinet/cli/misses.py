"""Sentences on words that a command does not take, with the option that was meant."""

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
"""Names of options elsewhere, and the words that mean them here."""

MOST_NAMED = 8
"""Most commands for which an error says that they have an option."""

LEAST_BEGUN = 3
"""Letters of a word, at least, that is taken for the beginning of an option's name."""

RANKS = ("--np", "-n", "-np", "--processors", "--ranks", "--nprocs")
"""Names elsewhere of the option for the number of a script's processors."""


def lacking(command: str, word: str) -> str:
    """Return a sentence on an option that a command lacks, with the one that was meant."""
    said = f"{command} has no option {quoted(word)[1:-1]}: "
    own = _words(command)
    if command == "exec" and word in RANKS:
        return f"{said}its processors are those of the network, as in --on complete:4."
    if word == "--on":
        return f"{said}the network is typed without one, as in: {_example(command)}"
    if known := [one for one in ELSEWHERE.get(word, ()) if one in own]:
        return f"{said}did you mean {' or '.join(known)}?"
    others = [other for other in COMMANDS if other != command and word in _words(other)]
    # A close name of this command is the likelier wish than the same name elsewhere.
    if others and (close := _close(word, own, 0.8)):
        return f"{said}did you mean {close}?"
    if others:
        few = len(others) <= MOST_NAMED
        named = (
            _listed(others) if few else f"{len(others)} commands, mpinet {others[0]} among them,"
        )
        return f"{said}{named} {'have' if len(others) > 1 else 'has'} it."
    meant = _close(word, own, 0.7)
    return said + (
        f"did you mean {meant}?"
        if meant
        else f"mpinet {command} --help lists its own, mpinet help common the others."
    )


def _close(word: str, own: Sequence[str], cutoff: float) -> str | None:
    """Return the option whose name is close to a word, begins with it, or ends with a part of it.

    Dashes in front do not count: they would make short names alike.
    """
    names = {one.lstrip("-"): one for one in own if one.startswith("--")}
    bare = word.lstrip("-").lower()
    begun = [name for name in names if len(bare) >= LEAST_BEGUN and name.startswith(bare)]
    ended = [name for name in names if bare.endswith(f"-{name}")]
    close = begun or ended or get_close_matches(bare, names, n=1, cutoff=cutoff)
    return names[close[0]] if close else None


def further(command: str, word: str) -> str:
    """Return a sentence on a word too many."""
    return f"{command} takes no further word {quoted(word)}; as in: {_example(command)}"


def reproach(
    command: str, parser: ArgumentParser, words: Sequence[str], missing: Sequence[str]
) -> str | None:
    """Return a sentence on a word that explains why options are missing, if there is one."""
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
    """Return the words with an option moved before the script, if it follows the script.

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
    """Return the place of the script, or of ``-m`` or ``-c``, among a command's words."""
    return next(
        (at for at, word in enumerate(words) if word.endswith(".py") or word in ("-m", "-c")), None
    )


def _words(command: str) -> list[str]:
    """Return the words of a command's options that the help shows."""
    said = signature_of(function_of(command))
    options = (one for one in (*said.options, *said.alone) if not one.typed.hidden)
    return [word for option in options for word in option.words]


def _example(command: str) -> str:
    return next(iter(examples(function_of(command).__doc__ or "")), f"mpinet {command} --help")


def _listed(names: Sequence[str]) -> str:
    """Return up to three names as a part of a sentence."""
    few = [f"mpinet {name}" for name in names[:3]]
    return few[0] if len(few) == 1 else f"{', '.join(few[:-1])} and {few[-1]}"
