"""Parsing and printing of times and rates with units; values are exact fractions."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Literal, TypeAlias

from mpinet.base.numerals import quoted
from mpinet.errors import UsageError

Unit: TypeAlias = Literal["s", "ms", "us", "ns", "ps", "fs"]
"""Names of the units of time."""

SECONDS = {
    "s": Fraction(1),
    "ms": Fraction(1, 10**3),
    "us": Fraction(1, 10**6),
    "ns": Fraction(1, 10**9),
    "ps": Fraction(1, 10**12),
    "fs": Fraction(1, 10**15),
}
"""Length of each unit of time in seconds."""

RATES = {
    **{f"{letter}B/s": Fraction(1000**power) for power, letter in enumerate(["", *"kMGT"])},
    **{f"{letter}bit/s": Fraction(1000**power, 8) for power, letter in enumerate(["", *"kMGT"])},
}
"""Size of each unit of bandwidth in bytes per second."""

QUANTITY = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,12}|/0*[1-9][0-9]{0,17})?) ?([A-Za-z/]*)")
"""Number, as a decimal or as a fraction such as ``10/3``, and unit."""


def duration(text: str | int, unit: str) -> Fraction:
    """Parse a time, such as ``1500`` or ``1.5us``, and return it in `unit`.

    Raises
    ------
    UsageError
        The text is not a time.

    Examples
    --------
    >>> duration("1.5us", "ns"), duration("10/3ps", "fs")
    (Fraction(1500, 1), Fraction(10000, 3))
    """
    number, word = _parts(text, "a time is a number, alone or with s, ms, us, ns, ps or fs")
    if word and word not in SECONDS:
        raise UsageError(f"{quoted(str(text))}: {quoted(word)} is not a unit; {_meant(word)}.")
    return number * SECONDS[word] / SECONDS[unit] if word else number


def _meant(word: str) -> str:
    """Return a correction for an unknown unit: the valid units of time, or of the intended rate."""
    found = re.fullmatch(r"([kMGT]?)(?:bps|bits/s|b/s)", word)
    if found:
        return f"bits a second are {found[1]}bit/s, bytes a second {found[1]}B/s"
    if re.fullmatch(r"[kMGT]?Bps", word):
        return f"bytes a second are {word[:-3]}B/s"
    return "times have s, ms, us, ns, ps or fs"


def byte_time(text: str | int, unit: str) -> Fraction:
    """Parse the time per byte, such as ``4``, ``40ps`` or ``25GB/s``, and return it in `unit`.

    Raises
    ------
    UsageError
        The text is neither a time nor a rate.

    Examples
    --------
    >>> byte_time("25GB/s", "ps"), byte_time("300GB/s", "ns")
    (Fraction(40, 1), Fraction(1, 300))
    """
    _, word = _parts(text, "a time per byte is a number, a time, or a rate such as 25GB/s")
    if word not in RATES:
        return duration(text, unit)
    return 1 / rate(text) / SECONDS[unit]


def fitting(time: float | Fraction, unit: str) -> str:
    """Return the largest unit in which a time is at least 1.

    Examples
    --------
    >>> fitting(38820600, "ps"), fitting(0, "ps"), fitting(Fraction(1, 3), "fs")
    ('us', 'ps', 'fs')
    """
    seconds = Fraction(time) * SECONDS[unit]
    return next((name for name, size in SECONDS.items() if seconds >= size), "fs" if time else unit)


def readable(time: float | Fraction, unit: str) -> str:
    """Format a time with six digits, in the largest unit in which the number is at least 1.

    Examples
    --------
    >>> readable(38820600, "ps"), readable(Fraction(10, 3), "ps"), readable(0, "ns")
    ('38.8206 us', '3.33333 ps', '0')
    """
    if not time:
        return "0"
    name = fitting(time, unit)
    number = float(Fraction(time) * SECONDS[unit] / SECONDS[name])
    # A number of seconds may be large and is written without an exponent.
    return f"{number:.6g} {name}" if number < 1e6 else f"{number:,.0f} {name}"


def rate(text: str | int) -> Fraction:
    """Parse a rate in bytes per second, with a unit (``25GB/s``) or without.

    Raises
    ------
    UsageError
        The text is not a rate, or the rate is 0.

    Examples
    --------
    >>> rate("8Gbit/s")
    Fraction(1000000000, 1)
    """
    number, word = _parts(text, "a rate is bytes a second, or a number with a unit such as GB/s")
    if word and word not in RATES:
        raise UsageError(f"{quoted(str(text))}: {quoted(word)} is not a unit of rates.")
    if number == 0:
        raise UsageError(f"{quoted(str(text))}: a rate must be above 0.")
    return number * RATES[word or "B/s"]


def _parts(text: str | int, allowed: str) -> tuple[Fraction, str]:
    found = QUANTITY.fullmatch(str(text).strip())
    if found is None:
        raise UsageError(f"{quoted(str(text))}: {allowed}.")
    return Fraction(found[1]), found[2]
