"""Point-to-point messages of buffers: a communicator's upper-case calls, with persistent calls."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from functools import partial
from typing import Any

from numpy import ndarray

from mpinet.mpi.messages.buffers import Buffer
from mpinet.mpi.messages.persistent import Prequest
from mpinet.mpi.messages.requests import Request
from mpinet.mpi.messages.sending import Sending, body_of, buffered, standard, synchronous
from mpinet.mpi.messages.specifications import KNOWN_ARRAYS
from mpinet.mpi.messages.statuses import fill, tell
from mpinet.mpi.real import ANY_SOURCE, ANY_TAG, PROC_NULL, REAL
from mpinet.mpi.world.calls import call, running
from mpinet.mpi.world.endpoint import Endpoint
from mpinet.mpi.world.events import HAPPENED, Event, PostedReceive
from mpinet.mpi.world.message import BODY

frombuffer = REAL.buffer.frombuffer


class BufferMessages(Endpoint):
    """Buffer communication with one rank, as in `mpi4py.MPI.Comm`.

    The arguments are mpi4py's. A send reads the memory at once. Standard and ready sends return at
    once, unless the run uses synchronous sends.
    """

    __slots__ = ()

    Send, Rsend = Sending(standard), Sending(standard)
    Bsend, Ssend = Sending(buffered), Sending(synchronous)

    # ---- blocking

    @call
    def Recv(
        self, buf: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Any = None
    ) -> None:
        """Receive into a buffer."""
        self._receive_into(_incoming(buf, source), source, tag, status)

    @call
    def Sendrecv(
        self,
        sendbuf: Any,
        dest: int,
        sendtag: int = 0,
        recvbuf: Any = None,
        source: int = ANY_SOURCE,
        recvtag: int = ANY_TAG,
        status: Any = None,
    ) -> None:
        """Send a buffer and receive into another buffer."""
        body = body_of(sendbuf, dest)
        into = _incoming(recvbuf, source)
        mail, scope = running.mail, self._scope
        sending = mail.send_standard(scope, dest, sendtag, body)
        # Without a record of calls the receive needs no request, which would take half of the time.
        if sending is not HAPPENED or running.noted:
            self._exchange(sending, into, source, recvtag).Wait(status)
        elif source == PROC_NULL or status is not None:
            self._receive_into(into, source, recvtag, status)
        else:
            unpack(into, mail.receive(scope, source, recvtag)[BODY])

    @call
    def Sendrecv_replace(
        self,
        buf: Any,
        dest: int,
        sendtag: int = 0,
        source: int = ANY_SOURCE,
        recvtag: int = ANY_TAG,
        status: Any = None,
    ) -> None:
        """Send a buffer and receive into the same buffer."""
        self.Isendrecv_replace(buf, dest, sendtag, source, recvtag).Wait(status)

    # ---- nonblocking

    @call
    def Irecv(self, buf: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Request:
        """Begin to receive into a buffer."""
        return self._begin_receive(_incoming(buf, source), source, tag)

    @call
    def Isendrecv(
        self,
        sendbuf: Any,
        dest: int,
        sendtag: int = 0,
        recvbuf: Any = None,
        source: int = ANY_SOURCE,
        recvtag: int = ANY_TAG,
    ) -> Request:
        """Begin to send a buffer and to receive into another buffer."""
        body = body_of(sendbuf, dest)
        into = _incoming(recvbuf, source)
        sending = running.mail.send_standard(self._scope, dest, sendtag, body)
        return self._exchange(sending, into, source, recvtag)

    @call
    def Isendrecv_replace(
        self,
        buf: Any,
        dest: int,
        sendtag: int = 0,
        source: int = ANY_SOURCE,
        recvtag: int = ANY_TAG,
    ) -> Request:
        """Begin to send a buffer and to receive into the same buffer."""
        into = _incoming(buf, dest if source == PROC_NULL else source)
        body = b""
        if into is not None:
            body = into.read() if type(into) is Buffer else into.tobytes()
        sending = running.mail.send_standard(self._scope, dest, sendtag, body)
        return self._exchange(sending, into, source, recvtag)

    # ---- persistent

    @call
    def Recv_init(self, buf: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Prequest:
        """Create a persistent request for a receive into a buffer."""
        into = _incoming(buf, source)
        return Prequest._repeating(partial(self._begin_receive, into, source, tag))

    # ---- parts of these calls

    def _receive_into(self, into: Any, source: int, tag: int, status: Any) -> None:
        """Wait for a message from a rank, and unpack it into a buffer or array."""
        message = self._receive(source, tag)
        if status is not None:
            fill(status, message)
        if message is not None:
            unpack(into, message[BODY])

    def _begin_receive(self, into: Any, source: int, tag: int) -> Request:
        mail, scope = running.mail, self._scope
        if source == PROC_NULL:
            mail.nothing(scope)
            return Request._of(HAPPENED, partial(put, None, None))
        receive = BufferReceive(running.turns.current, scope.envelope(source, tag))
        receive.into = into
        mail.nothing(scope)
        mail.post(receive)
        return Request._of(receive, receive.put)

    def _exchange(self, sending: Event, into: Any, source: int, tag: int) -> Request:
        """Return a request for a send and a receive, complete when both are."""
        received = self._begin_receive(into, source, tag)
        return received if sending is HAPPENED else _both(sending, received)


class BufferReceive(PostedReceive):
    """A posted receive into a buffer or a whole array."""

    __slots__ = ("into",)

    into: Any

    def put(self, status: Any) -> None:
        """Fill a status, and unpack the message; nothing after a cancellation."""
        if status is not None:
            tell(status, self)
        if self.message is not None:
            unpack(self.into, self.message[BODY])


def unpack(into: Any, body: bytes) -> None:
    """Write a received body into a buffer or a whole array.

    Raises
    ------
    Exception
        ``ERR_TRUNCATE``: the body is too long.
    """
    if type(into) is Buffer:
        into.write(body)
    elif len(body) > into.nbytes:
        raise REAL.Exception(REAL.ERR_TRUNCATE)
    else:
        frombuffer(into, False)[: len(body)] = body


def put(receive: PostedReceive | None, buffer: Buffer | None, status: Any) -> None:
    """Unpack a receive's message into a buffer; nothing for `PROC_NULL` or a cancelled receive."""
    tell(status, receive)
    message = None if receive is None else receive.message
    if message is not None and buffer is not None:
        buffer.write(message[BODY])


def _incoming(buf: Any, source: int) -> Any:
    """Return the buffer of a receive, or a whole array; None for `PROC_NULL`."""
    if source == PROC_NULL:
        return None
    # As in `body_of`; a `carray` is also writable.
    known = type(buf) is ndarray and buf.dtype in KNOWN_ARRAYS and running.checks is None
    if known and buf.flags.carray:
        return buf
    return Buffer(buf, writable=True)


def _both(sending: Event, received: Request) -> Request:
    """Return a request that completes when a send has matched and a receive is complete."""
    events = sending, received._event or HAPPENED

    def wait() -> None:
        for event in events:
            running.turns.wait(event)

    both = running.turns.begin(wait)
    for event in events:
        if not event.done:
            event.owner = both.fiber
    return Request._of(both, received._finish)
