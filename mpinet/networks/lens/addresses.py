"""Addresses of the lens: a word of n digits with a dot in it (docs/papers/lens, 2)."""

from __future__ import annotations

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
"""Digits of the paper's text form; larger radices use decimal digits and commas (ours)."""


def address_text(k: int, digits: list[int], largest: int) -> str:
    """Return the text of an address.

    Parameters
    ----------
    k : int
        Number of digits left of the dot.
    digits : list of int
        All digits, most significant first.
    largest : int
        The larger one of the two radices.
    """
    if largest > len(DIGITS):
        return ".".join(",".join(map(str, part)) for part in (digits[:k], digits[k:]))
    text = "".join(DIGITS[digit] for digit in digits)
    return f"{text[:k]}.{text[k:]}"


def read(text: str, largest: int) -> tuple[int, list[int]]:
    """Return the place of the dot and the digits of an address: the inverse of `address_text`.

    Raises
    ------
    ValueError
        The text has not exactly one dot, or a character that is not a digit.
    """
    left, dot, right = text.partition(".")
    if not dot or "." in right:
        raise ValueError(f"{text!r} does not have exactly one dot")
    if largest > len(DIGITS):
        parts = [part.split(",") if part else [] for part in (left, right)]
        return len(parts[0]), [int(digit) for part in parts for digit in part]
    return len(left), [DIGITS.index(digit) for digit in left + right]
