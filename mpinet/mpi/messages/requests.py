"""Requests: nonblocking communication, completed by wait and test.

A request has an event for its completion, and a function that finishes it (unpacks the message).
MPI defines completion of one, any, some or all of several requests, by waiting, testing or
querying. The entry points for these cases are three lines each and use a few helpers. The file is
long because these entry points are listed next to each other.
"""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar
from weakref import WeakValueDictionary

from mpinet.mpi.constants import NamedNumber, instance_of
from mpinet.mpi.messages.statuses import blank
from mpinet.mpi.real import REAL, UNDEFINED
from mpinet.mpi.world.calls import call, running
from mpinet.mpi.world.events import HAPPENED, Event, PostedReceive

R = TypeVar("R", bound="Request")

Finish = Callable[[Any], Any]
"""Function that finishes a request: fills a status, unless it is None, and returns the request's
value. `Get_status` may call it repeatedly.
"""


class Request(NamedNumber):
    """Nonblocking communication, as `mpi4py.MPI.Request`.

    Parameters
    ----------
    request : Request, optional
        Request to be shared by the new object (default: the null request).
    """

    __slots__ = ("__weakref__", "_begin", "_event", "_finish")

    _null = "REQUEST_NULL"

    _numbered: ClassVar[WeakValueDictionary[int, Request]] = WeakValueDictionary()
    _begin: Callable[[], Request] | None
    _event: Event | None
    _finish: Finish

    def __new__(cls: type[R], request: Request | None = None) -> R:
        """Create another Python object for the same request."""
        made = object.__new__(cls)
        if request is None or not instance_of(Request, request):
            made._begin, made._event, made._finish = None, None, blank
            return made
        instance_of(cls._kind(), request)
        made._begin, made._event, made._finish = request._begin, request._event, request._finish
        return made

    @classmethod
    def _of(cls: type[R], event: Event, finish: Finish = blank) -> R:
        """Return a request that completes with an event; the completing call runs `finish`."""
        made = object.__new__(cls)
        made._begin = None
        made._event = event
        made._finish = finish
        return made

    @classmethod
    def _of_fiber(
        cls: type[R], work: Callable[[], Any], fill: Callable[[Any, Any], None] | None = None
    ) -> R:
        """Return a request that completes when a fiber has run `work`; `fill` sets a status."""
        given: list[Any] = []
        completion = running.turns.begin(lambda: given.append(work()))

        def finish(status: Any) -> None:
            if completion.error is not None:
                raise completion.error
            blank(status) if fill is None else fill(status, given[0])

        return cls._of(completion, finish)

    def __bool__(self) -> bool:
        return self._event is not None or self._begin is not None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Request):
            return NotImplemented
        if self is other:
            return True
        if not self or not other:
            return not self and not other
        if self._begin is not None:
            return self._begin is other._begin
        # Eager sends share one event, but each is a separate request.
        return self._event is other._event and self._event is not HAPPENED

    __hash__ = None

    # ---- handles

    @property
    def handle(self) -> int:
        """Number of the request, valid during its lifetime; 0 for the null request."""
        if not self:
            return 0
        # Weak: a number is valid as long as its request. Compiled code may keep it longer and then
        # finds no request.
        self._numbered[id(self)] = self
        return id(self)

    @classmethod
    def fromhandle(cls: type[R], handle: int) -> R:
        """Return another object for the request with a handle."""
        return cls(cls._numbered[handle] if handle else None)

    # ---- a single request

    @call
    def Wait(self, status: Any = None) -> bool:
        """Wait until the request is complete."""
        self._wait()
        self._complete(status)
        return True

    @call
    def wait(self, status: Any = None) -> Any:
        """Wait until the request is complete; return the received object."""
        self._wait()
        return self._complete(status)

    @call
    def Test(self, status: Any = None) -> bool:
        """Return whether the request is complete, after at most one step of the machine."""
        if not self._test():
            return False
        self._complete(status)
        return True

    @call
    def test(self, status: Any = None) -> tuple[bool, Any]:
        """Return whether the request is complete, after at most one step, and its object."""
        return (True, self._complete(status)) if self._test() else (False, None)

    @call
    def Get_status(self, status: Any = None) -> bool:
        """Return whether the request is complete, without freeing it."""
        if not self._test():
            return False
        self._show(status)
        return True

    get_status = Get_status

    @call
    def Cancel(self) -> None:
        """Cancel an unmatched receive; sends continue."""
        if self._event is None:
            raise REAL.Exception(REAL.ERR_REQUEST)
        self._cancel(self._event)

    cancel = Cancel

    @call
    def Free(self) -> None:
        """Free the request and make it the null request."""
        if not self:
            raise REAL.Exception(REAL.ERR_REQUEST)
        self._forget()

    def free(self) -> None:
        """Free the request unless it is null."""
        if self:
            self.Free()

    # ---- any of several requests

    @classmethod
    @call
    def Waitany(cls, requests: Sequence[Request], status: Any = None) -> int:
        """Wait until a request is complete; return its index, `UNDEFINED` if none is active."""
        return _completed_any(requests, _wait_any(requests), status)[0]

    @classmethod
    @call
    def waitany(cls, requests: Sequence[Request], status: Any = None) -> tuple[int, Any]:
        """Wait until a request is complete; return its index and the received object."""
        return _completed_any(requests, _wait_any(requests), status)

    @classmethod
    @call
    def Testany(cls, requests: Sequence[Request], status: Any = None) -> tuple[int, bool]:
        """Return the index of a complete request (if any), and whether any is complete."""
        done = _test_any(requests)
        return _completed_any(requests, done, status)[0], done != []

    @classmethod
    @call
    def testany(cls, requests: Sequence[Request], status: Any = None) -> tuple[int, bool, Any]:
        """Return the index of a complete request, whether any is complete, and its object."""
        done = _test_any(requests)
        place, found = _completed_any(requests, done, status)
        return place, done != [], found

    @classmethod
    @call
    def Get_status_any(cls, requests: Sequence[Request], status: Any = None) -> tuple[int, bool]:
        """Return whether any request is complete, and its index, without freeing it."""
        done = _test_some(requests)
        if not done:
            blank(status)
            return UNDEFINED, done is None
        requests[done[0]]._show(status)
        return done[0], True

    get_status_any = Get_status_any

    # ---- all of several requests

    @classmethod
    @call
    def Waitall(cls, requests: Sequence[Request], statuses: list[Any] | None = None) -> bool:
        """Wait until all requests are complete."""
        _wait_all(requests)
        _complete_all(requests, _enough(statuses, len(requests)))
        return True

    @classmethod
    @call
    def waitall(cls, requests: Sequence[Request], statuses: list[Any] | None = None) -> list[Any]:
        """Wait until all requests are complete; return the received objects."""
        _wait_all(requests)
        return _complete_all(requests, _enough(statuses, len(requests)))

    @classmethod
    @call
    def Testall(cls, requests: Sequence[Request], statuses: list[Any] | None = None) -> bool:
        """Return whether all requests are complete, after at most one step of the machine."""
        if not _test_all(requests):
            return False
        _complete_all(requests, _enough(statuses, len(requests)))
        return True

    @classmethod
    @call
    def testall(
        cls, requests: Sequence[Request], statuses: list[Any] | None = None
    ) -> tuple[bool, list[Any] | None]:
        """Return whether all requests are complete, and the received objects."""
        if not _test_all(requests):
            return False, None
        return True, _complete_all(requests, _enough(statuses, len(requests)))

    @classmethod
    @call
    def Get_status_all(cls, requests: Sequence[Request], statuses: list[Any] | None = None) -> bool:
        """Return whether all requests are complete, without freeing them."""
        if not _test_all(requests):
            return False
        for request, status in zip(requests, _enough(statuses, len(requests)), strict=True):
            request._show(status)
        return True

    get_status_all = Get_status_all

    # ---- some of several requests

    @classmethod
    @call
    def Waitsome(
        cls, requests: Sequence[Request], statuses: list[Any] | None = None
    ) -> list[int] | None:
        """Wait until requests are complete; return their indices, None if none is active."""
        return _completed_some(requests, _wait_some(requests), statuses)[0]

    @classmethod
    @call
    def waitsome(
        cls, requests: Sequence[Request], statuses: list[Any] | None = None
    ) -> tuple[list[int] | None, list[Any] | None]:
        """Wait until requests are complete; return their indices and the received objects."""
        return _completed_some(requests, _wait_some(requests), statuses)

    @classmethod
    @call
    def Testsome(
        cls, requests: Sequence[Request], statuses: list[Any] | None = None
    ) -> list[int] | None:
        """Return the indices of complete requests; None if none is active."""
        return _completed_some(requests, _test_some(requests), statuses)[0]

    @classmethod
    @call
    def testsome(
        cls, requests: Sequence[Request], statuses: list[Any] | None = None
    ) -> tuple[list[int] | None, list[Any] | None]:
        """Return the indices of complete requests, and the received objects."""
        return _completed_some(requests, _test_some(requests), statuses)

    @classmethod
    @call
    def Get_status_some(
        cls, requests: Sequence[Request], statuses: list[Any] | None = None
    ) -> list[int] | None:
        """Return the indices of complete requests, without freeing them; None if none is active."""
        done = _test_some(requests)
        if done is not None:
            for place, status in zip(done, _enough(statuses, len(done)), strict=True):
                requests[place]._show(status)
        return done

    get_status_some = Get_status_some

    # ---- parts of these calls

    @classmethod
    def _kind(cls) -> type[Request]:
        """Return the class allowed for another object of the request."""
        return Request

    def _wait(self) -> None:
        """Wait until the request is complete, if it is active."""
        if self._event is not None:
            running.turns.wait(self._event)

    def _test(self) -> bool:
        """Return whether the request is complete or inactive, after at most one step."""
        event = self._event
        if event is not None and not event.done:
            # A test must fail like a wait would. Otherwise it might be repeated forever after a
            # failure.
            running.turns.doubt(event)
            running.turns.poll()
            return event.done
        return True

    def _show(self, status: Any) -> Any:
        """Fill a status and return the received object; the request stays active."""
        return blank(status) if self._event is None else self._finish(status)

    def _complete(self, status: Any) -> Any:
        """Fill a status, return the received object, and make the request inactive."""
        event, finish = self._event, self._finish
        if event is not None:
            # The request becomes null first: an error in `finish`, for example a truncation, must
            # not leave the request active.
            self._event, self._finish = None, blank
            if running.mail.logged:
                running.mail.completed(event)
        # Sends have nothing to finish.
        return None if status is None and finish is blank else finish(status)

    def _cancel(self, event: Event) -> None:
        """Cancel the request's communication if possible."""
        if isinstance(event, PostedReceive):
            running.mail.cancel(event)

    def _forget(self) -> None:
        """Become the null request; the communication continues to its end."""
        event, finish = self._event, self._finish
        self._begin, self._event, self._finish = None, None, blank
        if event is not None and finish is not blank:
            _finish_in_fiber(event, finish)


REQUEST_NULL = Request()


def _finish_in_fiber(event: Event, finish: Finish) -> None:
    """Finish a freed request's communication in a fiber when it is complete.

    An error ends the run, because no call of the script could raise it.
    """
    if event.done:
        finish(None)
        return

    def work() -> None:
        running.turns.wait(event)
        try:
            finish(None)
        except Exception as error:
            running.turns.stop(error)

    running.turns.begin(work)


# ---- several requests


def _active(requests: Sequence[Request]) -> dict[int, Event]:
    """Return the events of the active requests, by index.

    Raises
    ------
    TypeError
        An element is not a request.
    """
    events: dict[int, Event] = {}
    for place, request in enumerate(requests):
        event = instance_of(Request, request)._event
        if event is not None:
            events[place] = event
    return events


def _done(events: Mapping[int, Event]) -> list[int]:
    """Return the indices of the events that have happened."""
    return [place for place, event in events.items() if event.done]


def _wait_some(requests: Sequence[Request]) -> list[int] | None:
    """Wait for complete requests and return their indices; None if none is active."""
    events = _active(requests)
    if not events:
        return None
    running.turns.wait_any(tuple(events.values()))
    # A single request leaves no choice and is no choice point.
    if len(events) > 1:
        # With chosen orders, all requests that could be complete must be in the result. They are
        # known only at quiescence.
        running.mail.settle()
    return _done(events)


def _wait_any(requests: Sequence[Request]) -> list[int] | None:
    """Wait for a complete request and return its index; None if none is active."""
    events = _active(requests)
    if not events:
        return None
    running.turns.wait_any(tuple(events.values()))
    return [running.mail.choose(events) if len(events) > 1 else next(iter(events))]


def _test_some(requests: Sequence[Request]) -> list[int] | None:
    """Return the indices of complete requests; None if none is active."""
    events = _active(requests)
    if not events:
        return None
    if not _done(events):
        running.turns.poll()
    return _done(events)


def _test_any(requests: Sequence[Request]) -> list[int] | None:
    """Return the index of a complete request as a list, possibly empty; None if none is active."""
    done = _test_some(requests)
    return [running.mail.choose(_active(requests))] if done and len(done) > 1 else done


def _wait_all(requests: Sequence[Request]) -> None:
    """Wait until all active requests are complete."""
    # One after the other: the order of the waits does not matter, because all requests must
    # complete.
    for event in _active(requests).values():
        if not event.done:
            running.turns.wait(event)


def _test_all(requests: Sequence[Request]) -> bool:
    """Return whether all active requests are complete, after at most one step of the machine."""
    events = _active(requests).values()
    if not all(event.done for event in events):
        running.turns.poll()
    return all(event.done for event in events)


def _completed_any(
    requests: Sequence[Request], done: list[int] | None, status: Any
) -> tuple[int, Any]:
    """Complete the first of the given requests; return its index and object."""
    if not done:
        blank(status)
        return UNDEFINED, None
    return done[0], requests[done[0]]._complete(status)


def _completed_some(
    requests: Sequence[Request], done: list[int] | None, statuses: list[Any] | None
) -> tuple[list[int] | None, list[Any] | None]:
    """Complete the given requests; return their indices and objects."""
    if done is None:
        return None, None
    chosen = [requests[place] for place in done]
    return done, _complete_all(chosen, _enough(statuses, len(done)))


def _complete_all(requests: Sequence[Request], statuses: Sequence[Any]) -> list[Any]:
    """Complete requests and return the received objects.

    Raises
    ------
    Exception
        ``ERR_IN_STATUS``: requests have failed; their statuses contain the errors.
    """
    found = []
    failed = None
    for request, status in zip(requests, statuses, strict=True):
        try:
            found.append(request._complete(status))
        except REAL.Exception as error:
            # The remaining requests are completed first. MPI reports all of them in their statuses,
            # followed by one error for the call.
            failed = error
            if status is not None:
                status.Set_error(error.Get_error_code())
    if failed is not None:
        raise REAL.Exception(REAL.ERR_IN_STATUS) from failed
    return found


def _enough(statuses: Sequence[Any] | None, number: int) -> list[Any]:
    """Return a status or None for each request; a list of statuses is extended."""
    if statuses is None:
        return [None] * number
    if isinstance(statuses, list):
        statuses.extend(REAL.Status() for _ in range(len(statuses), number))
    return [*statuses[:number], *[None] * (number - len(statuses))]
