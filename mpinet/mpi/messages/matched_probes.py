"""Probes and matched probes: a matched message leaves the queue and is received later."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from functools import partial
from typing import Any, TypeVar

from mpinet.mpi.constants import NamedNumber, instance_of, serialized
from mpinet.mpi.messages.buffers import Buffer
from mpinet.mpi.messages.memory import put
from mpinet.mpi.messages.objects import fetched
from mpinet.mpi.messages.requests import Request
from mpinet.mpi.messages.statuses import fill
from mpinet.mpi.real import ANY_SOURCE, ANY_TAG, PROC_NULL, REAL
from mpinet.mpi.world.calls import Renamed, call, running
from mpinet.mpi.world.endpoint import Endpoint
from mpinet.mpi.world.events import HAPPENED, Arrival, PostedReceive
from mpinet.mpi.world.message import Message as Body

M = TypeVar("M", bound="Message")


class Probes(Endpoint):
    """Probe calls of communicators, as in `mpi4py.MPI.Comm`."""

    __slots__ = ()

    @call
    def Probe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Any = None) -> bool:
        """Wait until a matching message has arrived, without removing it from the queue."""
        probe = self._looked_for(source, tag)
        message = None if probe is None else running.mail.await_message(probe)
        if status is not None:
            fill(status, message)
        return True

    probe = Renamed(Probe)

    @call
    def Iprobe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Any = None) -> bool:
        """Return whether a message has arrived, after at most one step of the machine."""
        probe = self._looked_for(source, tag)
        message = None if probe is None else at_hand(probe)
        if message is None and probe is not None:
            return False
        if status is not None:
            fill(status, message)
        return True

    iprobe = Renamed(Iprobe)

    @call
    def Mprobe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Any = None) -> Message:
        """Wait for a message and reserve it: no receive can match the message any more."""
        return Message.Probe(self, source, tag, status)

    mprobe = Renamed(Mprobe)

    @call
    def Improbe(
        self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Any = None
    ) -> Message | None:
        """Reserve a message if one has arrived, after at most one step of the machine."""
        return Message.Iprobe(self, source, tag, status)

    improbe = Renamed(Improbe)

    def _looked_for(self, source: int, tag: int) -> Arrival | None:
        """Return a probe for messages from a rank; None for `PROC_NULL`."""
        if source == PROC_NULL:
            return None
        return Arrival(running.turns.current, self._scope.envelope(source, tag))


def at_hand(probe: Arrival) -> Body | None:
    """Return the message found by a probe, after at most one step of the machine, or None."""
    found = running.mail.probe(probe)
    if found is None:
        # One step before the negative answer: a message may be in flight, and a loop of probes must
        # let time pass.
        running.turns.poll()
        found = running.mail.probe(probe)
    return found


class Message(NamedNumber):
    """A message matched by a probe, as `mpi4py.MPI.Message`.

    Parameters
    ----------
    message : Message, optional
        Message to be shared by the new object (default: the null message).
    """

    __slots__ = ("__weakref__", "_received")

    _null, _unknown = "MESSAGE_NULL", REAL.ERR_ARG

    _received: PostedReceive | None

    def __new__(cls: type[M], message: Message | None = None) -> M:
        """Create another Python object for the same matched message."""
        made = object.__new__(cls)
        made._received = None if message is None else instance_of(Message, message)._received
        return made

    @property
    def _meaning(self) -> PostedReceive | None:
        return self._received

    @classmethod
    def _of(cls: type[M], received: PostedReceive) -> M:
        message = cls()
        message._received = received
        return message

    def __reduce__(self) -> Any:
        if self._received is NO_PROC:
            return serialized(self, "MESSAGE_NO_PROC")
        return super().__reduce__()

    @classmethod
    @call
    def Probe(
        cls, comm: Probes, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Any = None
    ) -> Message:
        """Wait for a message and reserve it: no receive can match the message any more."""
        probe = comm._looked_for(source, tag)
        return cls._taken(
            probe, None if probe is None else running.mail.await_message(probe), status
        )

    probe = Probe

    @classmethod
    @call
    def Iprobe(
        cls, comm: Probes, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Any = None
    ) -> Message | None:
        """Reserve a message if one has arrived, after at most one step of the machine."""
        probe = comm._looked_for(source, tag)
        message = None if probe is None else at_hand(probe)
        if message is None and probe is not None:
            return None
        return cls._taken(probe, message, status)

    iprobe = Iprobe

    @call
    def Recv(self, buf: Any, status: Any = None) -> None:
        """Receive the matched message into a buffer."""
        self._put(buf)(status)

    @call
    def Irecv(self, buf: Any) -> Request:
        """Begin to receive the matched message into a buffer."""
        return Request._of(HAPPENED, self._put(buf))

    @call
    def recv(self, status: Any = None) -> Any:
        """Receive the matched message and return its object."""
        return fetched(self._give(), None, status)

    @call
    def irecv(self) -> Request:
        """Begin to receive the object of the matched message."""
        return Request._of(HAPPENED, partial(fetched, self._give(), None))

    def free(self) -> None:
        """Make this the null message if it is from `PROC_NULL`, unless it is the constant."""
        if self._received is NO_PROC and self is not MESSAGE_NO_PROC:
            self._received = None

    @classmethod
    def _taken(cls, probe: Arrival | None, message: Body | None, status: Any) -> Message:
        """Take a probed message out of the queue; MESSAGE_NO_PROC for `PROC_NULL`."""
        if status is not None:
            fill(status, message)
        if probe is None or message is None:
            return cls._of(NO_PROC)
        # Removed from the queue at once, so no receive of any thread can match it any more.
        running.mail.take(message)
        probe.message = message
        return cls._of(probe)

    def _put(self, buf: Any) -> Any:
        """Return a function that unpacks the message into a buffer."""
        buffer = None if self._received is NO_PROC else Buffer(buf, writable=True)
        return partial(put, self._give(), buffer)

    def _give(self) -> PostedReceive | None:
        """Return the matched receive once; None for `PROC_NULL`; an error for a null message."""
        received = self._received
        if received is None:
            raise REAL.Exception(REAL.ERR_REQUEST)
        # A matched message is received once. The constant is shared and stays unchanged.
        if self is not MESSAGE_NO_PROC:
            self._received = None
        return None if received is NO_PROC else received


NO_PROC: Any = object()
"""Marker of a message from `PROC_NULL`."""

MESSAGE_NULL = Message()
MESSAGE_NO_PROC = Message._of(NO_PROC)
