"""Requests: nonblocking communication, and its completion by wait and test.

A request has an event that completes it and a function that finishes it (unpacks what has come).
MPI asks for the completion of one, any, some or all of several, by waiting, testing or looking on.
The entry points of that table are three lines each over a few helpers; the file is as long as it
is so that they can be read side by side.
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
"""Fills a status, if it gets one rather than None, and gives what the request gives; called more
than once where somebody asks by `Get_status` before."""


class Request(NamedNumber):
    """Communication that has been begun, as `mpi4py.MPI.Request`.

    Parameters
    ----------
    request : Request, optional
        Another face of this one (default: of none, the null request).
    """

    __slots__ = ("__weakref__", "_begin", "_event", "_finish")

    _null = "REQUEST_NULL"

    _numbered: ClassVar[WeakValueDictionary[int, Request]] = WeakValueDictionary()
    _begin: Callable[[], Request] | None
    _event: Event | None
    _finish: Finish

    def __new__(cls: type[R], request: Request | None = None) -> R:
        """Another face of a request."""
        made = object.__new__(cls)
        if request is None or not instance_of(Request, request):
            made._begin, made._event, made._finish = None, None, blank
            return made
        instance_of(cls._kind(), request)
        made._begin, made._event, made._finish = request._begin, request._event, request._finish
        return made

    @classmethod
    def _of(cls: type[R], event: Event, finish: Finish = blank) -> R:
        """A request that is complete when an event has happened; those who find it so finish it."""
        made = object.__new__(cls)
        made._begin = None
        made._event = event
        made._finish = finish
        return made

    @classmethod
    def _of_fiber(
        cls: type[R], work: Callable[[], Any], fill: Callable[[Any, Any], None] | None = None
    ) -> R:
        """A request that is complete when work has been done beside the script; gives its error.

        Parameters
        ----------
        work : callable
            The work.
        fill : callable, optional
            Lets a status tell of what the work has given (default: of nothing).
        """
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
        # Eager sends share one event. Two of them are still two requests.
        return self._event is other._event and self._event is not HAPPENED

    __hash__ = None

    # ---- numbers that stand for it

    @property
    def handle(self) -> int:
        """A number that stands for it as long as it exists; 0 for the null request."""
        if not self:
            return 0
        # Weak, so a number is valid as long as its request. Compiled code may keep it longer, and
        # then finds nothing.
        self._numbered[id(self)] = self
        return id(self)

    @classmethod
    def fromhandle(cls: type[R], handle: int) -> R:
        """Another face of the request that a number stands for."""
        return cls(cls._numbered[handle] if handle else None)

    # ---- one request

    @call
    def Wait(self, status: Any = None) -> bool:
        """Wait until it is complete."""
        self._wait()
        self._complete(status)
        return True

    @call
    def wait(self, status: Any = None) -> Any:
        """Wait until it is complete; the object that has come."""
        self._wait()
        return self._complete(status)

    @call
    def Test(self, status: Any = None) -> bool:
        """Tell if it is complete, after the machine's next step at the latest."""
        if not self._test():
            return False
        self._complete(status)
        return True

    @call
    def test(self, status: Any = None) -> tuple[bool, Any]:
        """Tell if it is complete, after the machine's next step at the latest; and the object."""
        return (True, self._complete(status)) if self._test() else (False, None)

    @call
    def Get_status(self, status: Any = None) -> bool:
        """Tell if it is complete; it is kept."""
        if not self._test():
            return False
        self._show(status)
        return True

    get_status = Get_status

    @call
    def Cancel(self) -> None:
        """Let a receive that has no message yet be complete without one; sends go on."""
        if self._event is None:
            raise REAL.Exception(REAL.ERR_REQUEST)
        self._cancel(self._event)

    cancel = Cancel

    @call
    def Free(self) -> None:
        """Let it be the null request."""
        if not self:
            raise REAL.Exception(REAL.ERR_REQUEST)
        self._forget()

    def free(self) -> None:
        """Let it be the null request, if it is not."""
        if self:
            self.Free()

    # ---- any one of several

    @classmethod
    @call
    def Waitany(cls, requests: Sequence[Request], status: Any = None) -> int:
        """Wait until one of several is complete; its place, `UNDEFINED` if none is active."""
        return _completed_any(requests, _wait_any(requests), status)[0]

    @classmethod
    @call
    def waitany(cls, requests: Sequence[Request], status: Any = None) -> tuple[int, Any]:
        """Wait until one of several is complete; its place, and the object that has come."""
        return _completed_any(requests, _wait_any(requests), status)

    @classmethod
    @call
    def Testany(cls, requests: Sequence[Request], status: Any = None) -> tuple[int, bool]:
        """The place of one of several that is complete, and whether there is one."""
        done = _test_any(requests)
        return _completed_any(requests, done, status)[0], done != []

    @classmethod
    @call
    def testany(cls, requests: Sequence[Request], status: Any = None) -> tuple[int, bool, Any]:
        """The place of one of several that is complete, whether there is one, and its object."""
        done = _test_any(requests)
        place, found = _completed_any(requests, done, status)
        return place, done != [], found

    @classmethod
    @call
    def Get_status_any(cls, requests: Sequence[Request], status: Any = None) -> tuple[int, bool]:
        """The place of one of several that is complete, and whether there is one; it is kept."""
        done = _test_some(requests)
        if not done:
            blank(status)
            return UNDEFINED, done is None
        requests[done[0]]._show(status)
        return done[0], True

    get_status_any = Get_status_any

    # ---- all of several

    @classmethod
    @call
    def Waitall(cls, requests: Sequence[Request], statuses: list[Any] | None = None) -> bool:
        """Wait until all are complete."""
        _wait_all(requests)
        _complete_all(requests, _enough(statuses, len(requests)))
        return True

    @classmethod
    @call
    def waitall(cls, requests: Sequence[Request], statuses: list[Any] | None = None) -> list[Any]:
        """Wait until all are complete; the objects that have come."""
        _wait_all(requests)
        return _complete_all(requests, _enough(statuses, len(requests)))

    @classmethod
    @call
    def Testall(cls, requests: Sequence[Request], statuses: list[Any] | None = None) -> bool:
        """Tell if all are complete, after the machine's next step at the latest."""
        if not _test_all(requests):
            return False
        _complete_all(requests, _enough(statuses, len(requests)))
        return True

    @classmethod
    @call
    def testall(
        cls, requests: Sequence[Request], statuses: list[Any] | None = None
    ) -> tuple[bool, list[Any] | None]:
        """Tell if all are complete, and the objects that have come."""
        if not _test_all(requests):
            return False, None
        return True, _complete_all(requests, _enough(statuses, len(requests)))

    @classmethod
    @call
    def Get_status_all(cls, requests: Sequence[Request], statuses: list[Any] | None = None) -> bool:
        """Tell if all are complete; they are kept."""
        if not _test_all(requests):
            return False
        for request, status in zip(requests, _enough(statuses, len(requests)), strict=True):
            request._show(status)
        return True

    get_status_all = Get_status_all

    # ---- some of several

    @classmethod
    @call
    def Waitsome(
        cls, requests: Sequence[Request], statuses: list[Any] | None = None
    ) -> list[int] | None:
        """Wait until some are complete; their places, None if none is active."""
        return _completed_some(requests, _wait_some(requests), statuses)[0]

    @classmethod
    @call
    def waitsome(
        cls, requests: Sequence[Request], statuses: list[Any] | None = None
    ) -> tuple[list[int] | None, list[Any] | None]:
        """Wait until some are complete; their places, and the objects that have come."""
        return _completed_some(requests, _wait_some(requests), statuses)

    @classmethod
    @call
    def Testsome(
        cls, requests: Sequence[Request], statuses: list[Any] | None = None
    ) -> list[int] | None:
        """The places of those that are complete, None if none is active."""
        return _completed_some(requests, _test_some(requests), statuses)[0]

    @classmethod
    @call
    def testsome(
        cls, requests: Sequence[Request], statuses: list[Any] | None = None
    ) -> tuple[list[int] | None, list[Any] | None]:
        """The places of those that are complete, and the objects that have come."""
        return _completed_some(requests, _test_some(requests), statuses)

    @classmethod
    @call
    def Get_status_some(
        cls, requests: Sequence[Request], statuses: list[Any] | None = None
    ) -> list[int] | None:
        """The places of those that are complete, None if none is active; they are kept."""
        done = _test_some(requests)
        if done is not None:
            for place, status in zip(done, _enough(statuses, len(done)), strict=True):
                requests[place]._show(status)
        return done

    get_status_some = Get_status_some

    # ---- steps of the above

    @classmethod
    def _kind(cls) -> type[Request]:
        """Return the class that another face can be of."""
        return Request

    def _wait(self) -> None:
        """Wait until it is complete, if it is active."""
        if self._event is not None:
            running.turns.wait(self._event)

    def _test(self) -> bool:
        """Tell if it is complete or not active, after the machine's next step at the latest."""
        event = self._event
        if event is not None and not event.done:
            # A test must fail where a wait would: after a failure it might otherwise be repeated
            # for ever.
            running.turns.doubt(event)
            running.turns.poll()
            return event.done
        return True

    def _show(self, status: Any) -> Any:
        """Tell a status of it, and give the object that has come."""
        return blank(status) if self._event is None else self._finish(status)

    def _complete(self, status: Any) -> Any:
        """Tell a status of it, give the object that has come, and be active no longer."""
        if self._event is None:
            return blank(status)
        # The request is null before it is finished: an error of finishing, such as a truncation,
        # must not leave it active.
        finish = self._finish
        running.mail.completed(self._event)
        self._event, self._finish = None, blank
        return finish(status)

    def _cancel(self, event: Event) -> None:
        """Cancel it as far as that is possible."""
        if isinstance(event, PostedReceive):
            running.mail.cancel(event)

    def _forget(self) -> None:
        """Be the null request; what has been begun comes to its end."""
        event, finish = self._event, self._finish
        self._begin, self._event, self._finish = None, None, blank
        if event is not None and finish is not blank:
            _finish_in_fiber(event, finish)


REQUEST_NULL = Request()


def _finish_in_fiber(event: Event, finish: Finish) -> None:
    """Finish communication when it is complete, though the script does not ask for its end.

    As nobody could be given an error then, it ends the run.
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
    """Return what the active ones of several requests wait for, by place.

    Raises
    ------
    TypeError
        There is something else among them.
    """
    events: dict[int, Event] = {}
    for place, request in enumerate(requests):
        event = instance_of(Request, request)._event
        if event is not None:
            events[place] = event
    return events


def _done(events: Mapping[int, Event]) -> list[int]:
    """The places of what has happened."""
    return [place for place, event in events.items() if event.done]


def _wait_some(requests: Sequence[Request]) -> list[int] | None:
    """The places of those that are complete, one at least; None if none is active."""
    events = _active(requests)
    if not events:
        return None
    running.turns.wait_any(tuple(events.values()))
    # A single request leaves no choice, so it is no choice point.
    if len(events) > 1:
        # With chosen orders all requests that could be complete are to be among the answers. That
        # is known at quiescence only.
        running.mail.settle()
    return _done(events)


def _wait_any(requests: Sequence[Request]) -> list[int] | None:
    """The place of one that is complete; None if none is active."""
    events = _active(requests)
    if not events:
        return None
    running.turns.wait_any(tuple(events.values()))
    return [running.mail.choose(events) if len(events) > 1 else next(iter(events))]


def _test_some(requests: Sequence[Request]) -> list[int] | None:
    """The places of those that are complete; None if none is active."""
    events = _active(requests)
    if not events:
        return None
    if not _done(events):
        running.turns.poll()
    return _done(events)


def _test_any(requests: Sequence[Request]) -> list[int] | None:
    """The place of one that is complete, or no place; None if none is active."""
    done = _test_some(requests)
    return [running.mail.choose(_active(requests))] if done and len(done) > 1 else done


def _wait_all(requests: Sequence[Request]) -> None:
    """Wait until all active ones are complete."""
    # One after the other: the order of waiting does not matter, as all have to be complete.
    for event in _active(requests).values():
        running.turns.wait(event)


def _test_all(requests: Sequence[Request]) -> bool:
    """Tell if all active ones are complete, after the machine's next step at the latest."""
    events = _active(requests).values()
    if not all(event.done for event in events):
        running.turns.poll()
    return all(event.done for event in events)


def _completed_any(
    requests: Sequence[Request], done: list[int] | None, status: Any
) -> tuple[int, Any]:
    """Complete the first of those that are done: its place, and its object."""
    if not done:
        blank(status)
        return UNDEFINED, None
    return done[0], requests[done[0]]._complete(status)


def _completed_some(
    requests: Sequence[Request], done: list[int] | None, statuses: list[Any] | None
) -> tuple[list[int] | None, list[Any] | None]:
    """Complete those that are done: their places, and their objects."""
    if done is None:
        return None, None
    chosen = [requests[place] for place in done]
    return done, _complete_all(chosen, _enough(statuses, len(done)))


def _complete_all(requests: Sequence[Request], statuses: Sequence[Any]) -> list[Any]:
    """Complete requests, and give the objects that have come.

    Raises
    ------
    Exception
        ``ERR_IN_STATUS``: some have failed; their statuses say how.
    """
    found = []
    failed = None
    for request, status in zip(requests, statuses, strict=True):
        try:
            found.append(request._complete(status))
        except REAL.Exception as error:
            # The other requests are completed first. MPI reports all of them in their statuses, and
            # then one error for the call.
            failed = error
            if status is not None:
                status.Set_error(error.Get_error_code())
    if failed is not None:
        raise REAL.Exception(REAL.ERR_IN_STATUS) from failed
    return found


def _enough(statuses: Sequence[Any] | None, number: int) -> list[Any]:
    """A status for each of some requests, None where there is none; a list is made longer."""
    if statuses is None:
        return [None] * number
    if isinstance(statuses, list):
        statuses.extend(REAL.Status() for _ in range(len(statuses), number))
    return [*statuses[:number], *[None] * (number - len(statuses))]
