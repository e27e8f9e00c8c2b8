"""Generalized requests: those that scripts complete themselves."""

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
    """Functions of a script's own that answer for a request which it completes itself.

    Parameters
    ----------
    query, free, cancel : callable or None
        The script's functions: fills a status; is called at the end; is told whether a cancelled
        request had been complete.
    arguments : tuple
        What they get besides.
    named : mapping
        What they get by name.
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
        """Let the script fill a status; the object that it has completed the request with."""
        status = REAL.Status() if status is None else status
        blank(status)
        if self._query is not None:
            self._query(status, *self._arguments, **self._named)
        if self._cancel is None:
            status.Set_cancelled(False)
        return self.given

    def free(self) -> None:
        """Tell the script that the request is of no use any more."""
        if self._free is not None:
            self._free(*self._arguments, **self._named)

    def cancel(self, complete: bool) -> None:
        """Tell the script that the request is cancelled."""
        if self._cancel is not None:
            self._cancel(complete, *self._arguments, **self._named)


class Grequest(Request):
    """Request that the script itself completes, as `mpi4py.MPI.Grequest`."""

    __slots__ = ("_answers", "_promise")

    _answers: Answers
    _promise: Event | None

    def __new__(cls, request: Request | None = None) -> Grequest:
        """Another face of a request."""
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
        """A request that `Complete` completes."""
        answers = Answers(query_fn, free_fn, cancel_fn, tuple(args or ()), dict(kwargs or {}))
        promise = Awaited(running.turns.current, "its own Grequest.Complete")
        made = cls._of(promise, answers.finish)
        made._answers, made._promise = answers, promise
        return made

    @call
    def Complete(self) -> None:
        """Say that it is complete."""
        promise = self._promise
        if promise is None or promise.done:
            raise REAL.Exception(REAL.ERR_REQUEST)
        running.turns.happened(promise)
        if self._event is None:
            self._answers.free()

    @call
    def complete(self, obj: Any = None) -> None:
        """Say that it is complete, and what `wait` gives."""
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
