"""Addresses that are numbers in parentheses."""

from __future__ import annotations


def address_text(*parts: int) -> str:
    """Numbers as an address: ``(19,6)``."""
    return f"({','.join(map(str, parts))})"


def parts_of(address: str) -> tuple[int, ...]:
    """The numbers in an address.

    Raises
    ------
    ValueError
        The text has not the form of an address.
    """
    if not (address.startswith("(") and address.endswith(")")):
        raise ValueError(address)
    return tuple(map(int, address[1:-1].split(",")))
