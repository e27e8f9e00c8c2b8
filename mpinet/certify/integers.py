"""Whole numbers in a certificate, which is a stranger's JSON: anything may stand in their place."""

from __future__ import annotations

from typing import TypeGuard

from mpinet.errors import CertificateError


def is_integer(value: object, least: int, most: int) -> TypeGuard[int]:
    """Tell if something is a whole number within bounds; true and false are none."""
    # Python counts true as 1, and JSON has both. A sum with true in it would be accepted and
    # printed as another number.
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def are_integers(given: object, least: int, most: int) -> TypeGuard[list[int]]:
    """Tell if something is a list of whole numbers within bounds."""
    return isinstance(given, list) and all(is_integer(value, least, most) for value in given)


def one_a_node(given: object, name: str, size: int, least: int, most: int) -> list[int]:
    """Return a list of one number per node; raise `CertificateError` if it is none."""
    if not isinstance(given, list) or len(given) != size:
        raise CertificateError(f"its {name} is not one number a node.")
    if not are_integers(given, least, most):
        raise CertificateError(f"a number of its {name} is not {least}..{most}.")
    return given
