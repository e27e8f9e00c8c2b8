"""Formulas in sentences as HTML: letters in italics, scripts raised and lowered, signs as printed.

Statements are written for a terminal (``2^k D(B) - floor(n/2)``). A page shows the same letters and
digits; a name of a network is code.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

ADDRESS = re.compile(r"((?<!\S)[(]?[a-z]+:\S+)")
"""A word that names a network, ``hdn:2x2,super=-/0``, which no formula is."""

INNER = r"(?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*"
"""Pattern of what is between a bracket and the one that closes it."""

SCRIPT = rf"(\{{[^{{}}]*\}}|\({INNER}\)|-?\d+|(?:floor|ceil)\({INNER}\)|-?[A-Za-z]\d*)"
LOWERED = re.compile(rf"\b(log|[A-Z]{{1,3}}|[A-Za-z]'*)_{SCRIPT}")
RAISED = re.compile(rf"\^{SCRIPT}")

ENCLOSING = {"floor": "⌊{}⌋", "ceil": "⌈{}⌉", "sqrt": "√({})"}
ENCLOSED = re.compile(rf"\b({'|'.join(ENCLOSING)})\(({INNER})\)")

SIGNS = {
    "&lt;=": "≤",
    "&gt;=": "≥",
    "!=": "≠",
    "-&gt;": "→",
    " - ": " − ",
    " * ": " · ",
    "log2": "log<sub>2</sub>",
}

PRIMES = re.compile(r"(?<=\b[A-Za-z])'+(?![A-Za-z])")

LETTER = re.compile(r"<[^>]*>|&\w+;|(?<![A-Za-z'])((?!x\d)[b-zB-HJ-Z]|a(?=[,)|/]|<su))(?![A-Za-z])")
"""A tag or entity, or a letter by itself, unless it is an article or the x of ``2x3``."""


def typeset(text: str) -> str:
    """Return a sentence as HTML."""
    return "".join(
        f"<code>{escape(part)}</code>" if place % 2 else _printed(escape(part, quote=False))
        for place, part in enumerate(ADDRESS.split(text))
    )


def _printed(text: str) -> str:
    """Return escaped text without names of networks as HTML."""
    text = _replaced(LOWERED, lambda found: f"{found[1]}<sub>{_script(found[2])}</sub>", text)
    text = _replaced(RAISED, lambda found: f"<sup>{_script(found[1])}</sup>", text)
    text = _replaced(ENCLOSED, lambda found: ENCLOSING[found[1]].format(found[2]), text)
    for typed, sign in SIGNS.items():
        text = text.replace(typed, sign)
    text = PRIMES.sub(lambda found: "′" * len(found[0]), text)
    return LETTER.sub(lambda found: f"<i>{found[1]}</i>" if found[1] else found[0], text)


def _replaced(pattern: re.Pattern[str], by: Callable[[re.Match[str]], str], text: str) -> str:
    """Replace what a pattern finds, and then what it finds within that."""
    found = 1
    # Scripts stand within scripts, as in 2^(2^k), and one pass only finds the outer ones.
    while found:
        text, found = pattern.subn(by, text)
    return text


def _script(text: str) -> str:
    """Return a script without its brackets, with signs in place of hyphens."""
    return re.sub(rf"^(?:\{{(.*)\}}|\(({INNER})\))$", r"\1\2", text).replace("-", "−")
