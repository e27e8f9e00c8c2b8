"""Generalized requests: requests completed by scripts."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mpinet.mpi.messages.requests import Request
from mpinet.mpi.messages.statuses import blank
from mpinet.mpi.real import REAL
from mpinet.mpi.world.calls import call, running
from mpinet.mpi.world.events import Awaited, Event


class Answers:
    """A script's callback functions for a generalized request.

    Parameters
    ----------
    query, free, cancel : callable or None
        The script's functions. `query` fills a status, `free` is called at the end, and `cancel`
        gets whether a cancelled request was complete.
    arguments : tuple
        Further positional arguments of the functions.
    named : mapping
        Keyword arguments of the functions.
    """

    __slots__ = ("_arguments", "_cancel", "_free", "_named", "_query", "given")

    def __init__(
        self,
        query: Callable[..., None] | None,
        free: Callable[..., None] | None,
        cancel: Callable[..., None] | None,
        arguments: tuple[Any, ...],
        named: Mapping[str, Any],
    ):
        self._query = query
        self._free = free
        self._cancel = cancel
        self._arguments = arguments
        self._named = named
        self.given: Any = None

    def finish(self, status: Any) -> Any:
        """Call the script's `query` function to fill a status; return the completion's object."""
        status = REAL.Status() if status is None else status
        blank(status)
        if self._query is not None:
            self._query(status, *self._arguments, **self._named)
        if self._cancel is None:
            status.Set_cancelled(False)
        return self.given

    def free(self) -> None:
        """Call the script's `free` function, because the request is no longer needed."""
        if self._free is not None:
            self._free(*self._arguments, **self._named)

    def cancel(self, complete: bool) -> None:
        """Call the script's `cancel` function, because the request is cancelled."""
        if self._cancel is not None:
            self._cancel(complete, *self._arguments, **self._named)


class Grequest(Request):
    """Request completed by the script, as `mpi4py.MPI.Grequest`."""

    __slots__ = ("_answers", "_promise")

    _answers: Answers
    _promise: Event | None

    def __new__(cls, request: Request | None = None) -> Grequest:
        """Create another Python object for the same generalized request."""
        made = super().__new__(cls, request)
        made._promise = None
        if isinstance(request, Grequest):
            made._answers, made._promise = request._answers, request._promise
        return made

    @classmethod
    def Start(
        cls,
        query_fn: Callable[..., None] | None = None,
        free_fn: Callable[..., None] | None = None,
        cancel_fn: Callable[..., None] | None = None,
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> Grequest:
        """Create a request that `Complete` will complete."""
        answers = Answers(query_fn, free_fn, cancel_fn, tuple(args or ()), dict(kwargs or {}))
        promise = Awaited(running.turns.current, "its own Grequest.Complete")
        made = cls._of(promise, answers.finish)
        made._answers, made._promise = answers, promise
        return made

    @call
    def Complete(self) -> None:
        """Mark the generalized request as complete."""
        promise = self._promise
        if promise is None or promise.done:
            raise REAL.Exception(REAL.ERR_REQUEST)
        running.turns.happened(promise)
        if self._event is None:
            self._answers.free()

    @call
    def complete(self, obj: Any = None) -> None:
        """Mark the generalized request as complete, with the object that `wait` returns."""
        if self._promise is not None:
            self._answers.given = obj
        self.Complete()

    @classmethod
    def _kind(cls) -> type[Request]:
        return Grequest

    def _cancel(self, event: Event) -> None:
        self._answers.cancel(event.done)

    def _complete(self, status: Any) -> Any:
        active = self._event is not None
        given = super()._complete(status)
        if active:
            self._answers.free()
        return given

    def _forget(self) -> None:
        event, self._finish = self._event, blank
        super()._forget()
        if event is not None and event.done:
            self._answers.free()
