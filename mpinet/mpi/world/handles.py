"""Handles: integers that stand for MPI's objects (``Comm.handle``), whatever the ranks."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from mpinet.mpi.world.calls import running


def handle_of(kind: str, thing: Hashable) -> int:
    """The number that stands for a thing on the running processor, from 1 as they are asked for.

    Parameters
    ----------
    kind : str
        What it is; every kind has numbers of its own.
    thing : hashable
        Equal ones have the same number.
    """
    numbers: dict[Hashable, int] = running.turns.current.storage().setdefault((handle_of, kind), {})
    return numbers.setdefault(thing, len(numbers) + 1)


def thing_of(kind: str, handle: int) -> Any:
    """Return what a number stands for on the running processor; None if it stands for nothing."""
    things = list(running.turns.current.storage().get((handle_of, kind), ()))
    return things[handle - 1] if 0 < handle <= len(things) else None
