"""Attributes that have other values within a context."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

INHERITED: Any = object()
"""Stand-in for the value of an attribute that its owner does not have itself."""


@contextmanager
def replaced(*places: tuple[Any, str, Any]) -> Iterator[None]:
    """Within it, attributes have other values; then their own again.

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
