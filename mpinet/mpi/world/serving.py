"""Network servers in scripts: a processor that serves keeps all others from their turns.

Nobody interrupts a processor; so where it waits for clients in an event loop, without a call of
MPI's, others of its rank can neither become its clients nor go on, and those of other ranks wait
for this one's round. Nothing would ever happen again.
"""

from __future__ import annotations

import os
import selectors
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from time import monotonic
from typing import Any

from mpinet.errors import UsageError
from mpinet.mpi.world.world import World

PATIENCE = 10.0
"""Seconds in which a server may hear of nobody, and call nothing of MPI's, while others wait."""

Select = Callable[..., list[Any]]


class Serving:
    """Count of the times that the running processor has served in vain.

    Parameters
    ----------
    world : World
        The run.
    """

    def __init__(self, world: World):
        self._world = world
        self._process = os.getpid()
        self._calls = -1
        self._since = 0.0

    def watching(self, select: Select) -> Select:
        """A selector's method that ends the run where a processor serves nobody."""

        def watched(selector: Any, timeout: float | None = None) -> list[Any]:
            if not self._may_block_others():
                return select(selector, timeout)
            if self._world.turns.halted:
                self._world.turns.stay()
            self._note_calls()
            end = None if timeout is None else monotonic() + timeout
            while True:
                left = PATIENCE if end is None else min(PATIENCE, end - monotonic())
                ready = select(selector, left)
                if any(_is_network(key.fd) for key, _ in ready):
                    self._since = monotonic()
                elif monotonic() - self._since >= PATIENCE and _listens(selector):
                    self._refuse()
                if ready or (end is not None and monotonic() >= end):
                    return ready

        return watched

    def _may_block_others(self) -> bool:
        """Tell if the caller is a processor itself, no thread or child, and others may wait."""
        world = self._world
        return (
            (world.turns.running > 1 or world.machine.transport.size > 1)
            and current_thread() is main_thread()
            and os.getpid() == self._process
        )

    def _note_calls(self) -> None:
        """Begin anew if MPI has been called since: others may have had turns."""
        calls = sum(account.calls for account in self._world.accounts.accounts)
        if calls != self._calls:
            self._calls, self._since = calls, monotonic()

    def _refuse(self) -> None:
        """End the run."""
        error = UsageError(
            "A network server waits for clients while other processors wait for their turns, which "
            "come only where this one calls MPI; processors reach one another by MPI, not by "
            "sockets."
        )
        self._world.turns.halt(error, "__main__")


@contextmanager
def servers_watched(world: World) -> Iterator[None]:
    """Within it, a processor that serves a network in vain ends the run."""
    serving = Serving(world)
    kinds: list[Any] = [kind for kind in vars(selectors).values() if _selects(kind)]
    methods = [kind.select for kind in kinds]
    for kind, select in zip(kinds, methods, strict=True):
        kind.select = serving.watching(select)
    try:
        yield
    finally:
        for kind, select in zip(kinds, methods, strict=True):
            kind.select = select


def _selects(kind: Any) -> bool:
    """Tell if something is a class of selectors with a way of its own to wait."""
    if not isinstance(kind, type) or not issubclass(kind, selectors.BaseSelector):
        return False
    return kind is not selectors.BaseSelector and "select" in vars(kind)


def _listens(selector: selectors.BaseSelector) -> bool:
    """Tell if one of a selector's files is a socket that waits for clients."""
    return any(_is_listening(key.fd) for key in (selector.get_map() or {}).values())


def _is_listening(descriptor: int) -> bool:
    """Tell if a file is a socket that waits for clients."""
    try:
        with socket.socket(fileno=os.dup(descriptor)) as opened:
            return bool(opened.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
    except OSError:
        return False


def _is_network(descriptor: int) -> bool:
    """Tell if a file is a socket of a network: event loops wake themselves by pairs of others."""
    try:
        with socket.socket(fileno=os.dup(descriptor)) as opened:
            return opened.family in (socket.AF_INET, socket.AF_INET6)
    except OSError:
        return False
