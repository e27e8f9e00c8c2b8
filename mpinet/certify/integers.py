"""Validation of whole numbers in certificates, whose untrusted JSON may contain any values."""

from __future__ import annotations

from typing import TypeGuard

from mpinet.errors import CertificateError


def is_integer(value: object, least: int, most: int) -> TypeGuard[int]:
    """Return whether a value is a whole number within bounds; booleans do not count."""
    # Python counts true as 1, and JSON has both. A sum with true in it would be accepted and
    # printed as another number.
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def are_integers(given: object, least: int, most: int) -> TypeGuard[list[int]]:
    """Return whether a value is a list of whole numbers within bounds."""
    return isinstance(given, list) and all(is_integer(value, least, most) for value in given)


def one_a_node(given: object, name: str, size: int, least: int, most: int) -> list[int]:
    """Return a list with one number per node; raise `CertificateError` for any other value."""
    if not isinstance(given, list) or len(given) != size:
        raise CertificateError(f"{name} does not have one number per node.")
    if not are_integers(given, least, most):
        raise CertificateError(f"a number of {name} is not {least}..{most}.")
    return given
