"""Replacement of attributes within a context."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

INHERITED: Any = object()
"""Stand-in for the value of an inherited attribute."""


@contextmanager
def replaced(*places: tuple[Any, str, Any]) -> Iterator[None]:
    """Context manager: sets attributes to given values, and restores them at the end.

    Parameters
    ----------
    *places : tuple of (object, str, object)
        The owner of each attribute, its name, and its value within the context.
    """
    before = [(owner, name, vars(owner).get(name, INHERITED)) for owner, name, _ in places]
    for owner, name, value in places:
        setattr(owner, name, value)
    try:
        yield
    finally:
        for owner, name, value in before:
            if value is INHERITED:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
