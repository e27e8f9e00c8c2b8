"""Handles: integers that represent MPI objects (``Comm.handle``), independent of the hosting."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from mpinet.mpi.world.calls import running


def handle_of(kind: str, thing: Hashable) -> int:
    """Return an object's number on the running processor; numbers count from 1 by first use.

    Parameters
    ----------
    kind : str
        Kind of the object; each kind has its own numbers.
    thing : hashable
        The object; equal objects have the same number.
    """
    numbers: dict[Hashable, int] = running.turns.current.storage().setdefault((handle_of, kind), {})
    return numbers.setdefault(thing, len(numbers) + 1)


def thing_of(kind: str, handle: int) -> Any:
    """Return the object with a number on the running processor; None without such an object."""
    things = list(running.turns.current.storage().get((handle_of, kind), ()))
    return things[handle - 1] if 0 < handle <= len(things) else None
