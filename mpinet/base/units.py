"""Units of time and of rates, as people write them, in whole units of a run."""

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
"""Seconds of each unit of time."""

RATES = {
    **{f"{letter}B/s": Fraction(1000**power) for power, letter in enumerate(["", *"kMGT"])},
    **{f"{letter}bit/s": Fraction(1000**power, 8) for power, letter in enumerate(["", *"kMGT"])},
}
"""Bytes a second of each unit of bandwidth."""

QUANTITY = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,12})?) ?([A-Za-z/]*)")


def duration(text: str | int, unit: str) -> int:
    """Read a time, such as ``1500`` or ``1.5us``, as a whole number of units.

    Raises
    ------
    UsageError
        It is none, or not whole in this unit.

    Examples
    --------
    >>> duration("1.5us", "ns")
    1500
    """
    number, word = _parts(text, "a time is whole units, or a number with s, ms, us, ns, ps or fs")
    if word and word not in SECONDS:
        raise UsageError(f"{quoted(str(text))}: {quoted(word)} is no unit of time.")
    return _whole(number * SECONDS[word] / SECONDS[unit] if word else number, text, unit)


def byte_time(text: str | int, unit: str) -> int:
    """Read the time that a byte takes, such as ``4``, ``40ps`` or ``25GB/s``, in whole units.

    Raises
    ------
    UsageError
        It is none, or not whole in this unit.

    Examples
    --------
    >>> byte_time("25GB/s", "ps")
    40
    """
    _, word = _parts(text, "a time per byte is whole units, a time, or a rate such as 25GB/s")
    if word not in RATES:
        return duration(text, unit)
    return _whole(1 / rate(text) / SECONDS[unit], text, unit)


def rate(text: str | int) -> Fraction:
    """Read bytes a second, such as ``25GB/s``, or a plain number of them.

    Raises
    ------
    UsageError
        It is none, or 0.

    Examples
    --------
    >>> rate("8Gbit/s")
    Fraction(1000000000, 1)
    """
    number, word = _parts(text, "a rate is bytes a second, or a number with a unit such as GB/s")
    if word and word not in RATES:
        raise UsageError(f"{quoted(str(text))}: {quoted(word)} is no unit of rates.")
    if number == 0:
        raise UsageError(f"{quoted(str(text))}: a rate is more than 0.")
    return number * RATES[word or "B/s"]


def _parts(text: str | int, allowed: str) -> tuple[Fraction, str]:
    found = QUANTITY.fullmatch(str(text).strip())
    if found is None:
        raise UsageError(f"{quoted(str(text))}: {allowed}.")
    return Fraction(found[1]), found[2]


def _whole(value: Fraction, text: str | int, unit: str) -> int:
    if value.denominator != 1:
        smaller = next((name for name in SECONDS if SECONDS[name] < SECONDS[unit]), None)
        hint = f", such as --unit {smaller}" if smaller else ""
        raise UsageError(
            f"{quoted(str(text))} is {float(value):.6g} {unit}, which is not whole: take a smaller "
            f"unit{hint}."
        )
    return int(value)
