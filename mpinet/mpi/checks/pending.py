"""Open communication of processors: requests and one-sided accesses until their completion."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mpinet.mpi.checks.areas import Area
from mpinet.mpi.messages.buffers import Buffer
from mpinet.mpi.world.events import Event, PostedReceive

ReadBuffer = Callable[[Buffer], bytes]
"""Packs a buffer, without any check."""


class Pending:
    """Communication that has begun and is not completed by its processor yet.

    Parameters
    ----------
    account : int
        Number of the account of the call that began it.
    areas : iterable of Area
        Memory of the call's buffers.
    event : Event or None
        Event that completes a request; None for a one-sided access.
    serials : iterable of (int, int)
        Sent bodies, by sender and number.
    """

    __slots__ = ("account", "areas", "contents", "event", "serials")

    def __init__(
        self,
        account: int,
        areas: Iterable[Area],
        event: Event | None = None,
        serials: Iterable[tuple[int, int]] = (),
    ):
        self.account = account
        self.areas: list[Area] = list(areas)
        self.event = event
        self.serials: list[tuple[int, int]] = list(serials)
        self.contents: list[tuple[Area, bytes]] = []

    def note_contents(self, read: ReadBuffer) -> None:
        """Copy the contents of the buffers, for a comparison at the completion."""
        # A fiber or an access writes its buffer before the completion. Only a receive writes the
        # buffer at the completion itself.
        receives = isinstance(self.event, PostedReceive)
        for area in self.areas:
            if area.buffer is not None and (receives or not area.writable):
                self.contents.append((area, read(area.buffer)))

    def changed(self, read: ReadBuffer) -> Area | None:
        """Return an area whose contents differ from their copy, or None."""
        for area, before in self.contents:
            assert area.buffer is not None
            if read(area.buffer) != before:
                return area
        return None


class Finishing:
    """Function that finishes a request of a checked run, with the request's open communication.

    Parameters
    ----------
    pending : Pending
        The communication.
    finish : callable
        Finishes the request, as in an unchecked run.
    """

    __slots__ = ("finish", "pending")

    def __init__(self, pending: Pending, finish: Callable[[Any], Any]):
        self.pending, self.finish = pending, finish

    def __call__(self, status: Any) -> Any:
        """Finish the request."""
        return self.finish(status)


class Beginning:
    """Function that starts a persistent request of a checked run, with the request's memory.

    Parameters
    ----------
    begin : callable
        Starts the request, as in an unchecked run.
    areas : list of Area
        Memory of the request's buffers.
    note : callable
        Called with the areas before each start.
    """

    __slots__ = ("_areas", "_begin", "_note")

    def __init__(
        self, begin: Callable[[], Any], areas: list[Area], note: Callable[[list[Area]], None]
    ):
        self._begin, self._areas, self._note = begin, areas, note

    def __call__(self) -> Any:
        """Start the request."""
        self._note(self._areas)
        return self._begin()
