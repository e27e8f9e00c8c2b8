"""Numbers as people write them on the command line, in topology strings and in files.

Python reads more (digits of all scripts, and `str.isdigit` says yes to superscripts that `int`
refuses) and less (it refuses thousands of digits, by an error of its own).
"""

from __future__ import annotations

import re

MOST_DIGITS = 1000
"""Most digits of a number; larger numbers have no meaning here."""

SHOWN = 60
"""Most characters of the user's text that an error repeats."""


def is_whole(text: str) -> bool:
    """Return whether a text is a whole number without a sign: digits 0..9 that `whole` reads."""
    return re.fullmatch("[0-9]+", text) is not None and len(text) <= MOST_DIGITS


def looks_whole(text: str) -> bool:
    """Return whether a text is meant as a whole number: `whole` reads it, or refuses its length."""
    return re.fullmatch("[+-]?[0-9]+", text) is not None


def whole(text: str) -> int:
    """Read a whole number.

    Raises
    ------
    ValueError
        It is none, or it has more than `MOST_DIGITS` digits; the sentence shows it.
    """
    if not re.fullmatch("[+-]?[0-9]+(_[0-9]+)*", text.strip()):
        raise ValueError(f"{quoted(text)} is not a whole number")
    if len(text) > MOST_DIGITS:
        raise ValueError(f"{quoted(text)} is too long: a number has {MOST_DIGITS} digits at most")
    return int(text)


def seconds(text: str) -> float:
    """Read a time: 0 .. 10^9 seconds.

    Raises
    ------
    ValueError
        It is none; the sentence shows it.
    """
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found <= 1e9:
        raise ValueError(f"it takes seconds from 0 to 10^9, not {quoted(text)}")
    return found


def quoted(text: str) -> str:
    """Quote what was typed for an error message, shortened if it is long."""
    if len(text) <= SHOWN:
        return repr(text)
    return f"{text[:SHOWN]!r}.. ({len(text)} characters)"


def counted(number: int) -> str:
    """Format a number for a sentence; one longer than a line becomes a power of two."""
    bits = number.bit_length()
    return str(number) if bits <= 200 else f"more than 2^{bits - 1}"
