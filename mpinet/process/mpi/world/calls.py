"""Calls of a script: whose they are, and on which account."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from sys import _getframe
from typing import Any, TypeVar

from greenlet import getcurrent

from mpinet.process.mpi.world.world import World

F = TypeVar("F", bound=Callable[..., Any])


class Running:
    """The run that this process's scripts belong to; there is one at a time."""

    world: World


running = Running()


def call(method: F) -> F:
    """Make a method one of a script's calls: what it sends is booked on the line that calls it.

    Calls that it makes itself belong to it.
    """
    kind = method.__name__

    @wraps(method)
    def called(*arguments: Any, **named: Any) -> Any:
        world = running.world
        here = world.current
        if here.account is not None:
            return method(*arguments, **named)
        if getcurrent().parent is None:
            raise RuntimeError(f"{kind} is called from a thread; a processor has only one.")
        here.account = account = world.accounts.at(kind, _getframe(1))
        account.calls += 1
        try:
            return method(*arguments, **named)
        finally:
            here.account = None

    return called  # type: ignore[return-value]
