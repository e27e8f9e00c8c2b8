"""Display of a network or a machine in a notebook.

This module cannot draw. The package registers a loader for the function that makes cards, and the
loader is called at the first display.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Maker = Callable[[Any], str]

_makers: list[Callable[[], Maker]] = []


def shown_by(load: Callable[[], Maker]) -> None:
    """Register a loader for the function that converts an object to HTML."""
    _makers[:] = [load]


def shown(thing: Any) -> str | None:
    """Return the object as HTML; None, for a plain text display, if no loader is registered."""
    return _makers[0]()(thing) if _makers else None
