"""Formulas in sentences as HTML: italic letters, superscripts and subscripts, mathematical signs.

Statements are written for a terminal (``2^k D(B) - floor(n/2)``). A page shows the same letters and
digits. Names of networks are set as code.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

ADDRESS = re.compile(r"((?<!\S)[(]?[a-z]+:\S+)")
"""Pattern of a network's name, such as ``hdn:2x2,super=-/0``, which is never a formula."""

INNER = r"(?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*"
"""Pattern of the text between a bracket and its closing bracket."""

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
"""Pattern of a tag, an entity, or a single letter other than an article or the x of ``2x3``."""


def typeset(text: str) -> str:
    """Return a sentence as HTML."""
    return "".join(
        f"<code>{escape(part)}</code>" if place % 2 else _printed(escape(part, quote=False))
        for place, part in enumerate(ADDRESS.split(text))
    )


def _printed(text: str) -> str:
    """Return escaped text as HTML; the text contains no names of networks."""
    text = _replaced(LOWERED, lambda found: f"{found[1]}<sub>{_script(found[2])}</sub>", text)
    text = _replaced(RAISED, lambda found: f"<sup>{_script(found[1])}</sup>", text)
    text = _replaced(ENCLOSED, lambda found: ENCLOSING[found[1]].format(found[2]), text)
    for typed, sign in SIGNS.items():
        text = text.replace(typed, sign)
    text = PRIMES.sub(lambda found: "′" * len(found[0]), text)
    return LETTER.sub(lambda found: f"<i>{found[1]}</i>" if found[1] else found[0], text)


def _replaced(pattern: re.Pattern[str], by: Callable[[re.Match[str]], str], text: str) -> str:
    """Replace all matches of a pattern, including matches within replaced text."""
    found = 1
    # Superscripts can be nested, as in 2^(2^k). One pass replaces only the outer ones.
    while found:
        text, found = pattern.subn(by, text)
    return text


def _script(text: str) -> str:
    """Return a script without its brackets, with minus signs instead of hyphens."""
    return re.sub(rf"^(?:\{{(.*)\}}|\(({INNER})\))$", r"\1\2", text).replace("-", "−")
