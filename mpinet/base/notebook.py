"""Display of a network or a machine in a notebook.

These know no pictures: the package says who makes cards of them, loaded when one is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Maker = Callable[[Any], str]

_makers: list[Callable[[], Maker]] = []


def shown_by(load: Callable[[], Maker]) -> None:
    """Register how to load the function that makes HTML of an object."""
    _makers[:] = [load]


def shown(thing: Any) -> str | None:
    """Return the object as HTML; None, for its plain text, if no function is registered."""
    return _makers[0]()(thing) if _makers else None
