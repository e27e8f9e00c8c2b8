"""Parsers for numbers in command lines, topology strings and files.

Python's own parsers accept more (digits of all scripts; `str.isdigit` even accepts superscripts,
which `int` refuses) and less (thousands of digits raise an error).
"""

from __future__ import annotations

import re

MOST_DIGITS = 1000
"""Most digits of a number; larger numbers have no meaning here."""

SHOWN = 60
"""Most characters of the user's text that an error message quotes."""


def is_whole(text: str) -> bool:
    """Return whether a text is an unsigned whole number of digits 0..9 that `whole` accepts."""
    return re.fullmatch("[0-9]+", text) is not None and len(text) <= MOST_DIGITS


def looks_whole(text: str) -> bool:
    """Return whether a text consists of an optional sign and digits 0..9, of any length."""
    return re.fullmatch("[+-]?[0-9]+", text) is not None


def whole(text: str) -> int:
    """Parse a whole number.

    Raises
    ------
    ValueError
        The text is not a whole number, or has more than `MOST_DIGITS` digits; the message quotes
        it.
    """
    if not re.fullmatch("[+-]?[0-9]+(_[0-9]+)*", text.strip()):
        raise ValueError(f"{quoted(text)} is not a whole number")
    if len(text) > MOST_DIGITS:
        raise ValueError(f"{quoted(text)} is too long: a number has {MOST_DIGITS} digits at most")
    return int(text)


def seconds(text: str) -> float:
    """Parse a time from 0 to 10^9 seconds.

    Raises
    ------
    ValueError
        The text is not a time in this range; the message quotes it.
    """
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found <= 1e9:
        raise ValueError(f"a time is 0 to 10^9 seconds, not {quoted(text)}")
    return found


def time_limit(text: str) -> float:
    """Parse a time limit: more than 0 and at most 10^9 seconds.

    Raises
    ------
    ValueError
        The text is not such a time; the message quotes it.
    """
    found = seconds(text)
    if not found:
        raise ValueError(f"a time limit is more than 0 seconds, not {quoted(text)}")
    return found


def quoted(text: str) -> str:
    """Quote the user's text for an error message, shortened if it is long."""
    if len(text) <= SHOWN:
        return repr(text)
    return f"{text[:SHOWN]!r}.. ({len(text)} characters)"


def counted(number: int) -> str:
    """Format a number for a sentence; a number of more than 200 bits becomes a power of two."""
    bits = number.bit_length()
    return str(number) if bits <= 200 else f"more than 2^{bits - 1}"
