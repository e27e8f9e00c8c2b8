"""Point-to-point messages of buffers: a communicator's upper-case calls, with persistent calls."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from functools import partial
from typing import Any

from mpinet.mpi.messages.buffers import Buffer
from mpinet.mpi.messages.persistent import Prequest
from mpinet.mpi.messages.requests import Request
from mpinet.mpi.messages.sending import Sending, body_of, buffered, standard, synchronous
from mpinet.mpi.messages.statuses import fill, tell
from mpinet.mpi.real import ANY_SOURCE, ANY_TAG, PROC_NULL
from mpinet.mpi.world.calls import call, running
from mpinet.mpi.world.endpoint import Endpoint
from mpinet.mpi.world.events import HAPPENED, Event, PostedReceive
from mpinet.mpi.world.message import BODY


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
        buffer = _incoming(buf, source)
        message = self._receive(source, tag)
        if status is not None:
            fill(status, message)
        if message is not None and buffer is not None:
            buffer.write(message[BODY])

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
        self.Isendrecv(sendbuf, dest, sendtag, recvbuf, source, recvtag).Wait(status)

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
        buffer = _incoming(recvbuf, source)
        return self._exchange(body, dest, sendtag, buffer, source, recvtag)

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
        buffer = _incoming(buf, dest if source == PROC_NULL else source)
        body = b"" if buffer is None else buffer.read()
        return self._exchange(body, dest, sendtag, buffer, source, recvtag)

    # ---- persistent

    @call
    def Recv_init(self, buf: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Prequest:
        """Create a persistent request for a receive into a buffer."""
        buffer = _incoming(buf, source)
        return Prequest._repeating(partial(self._begin_receive, buffer, source, tag))

    # ---- parts of these calls

    def _begin_receive(self, buffer: Buffer | None, source: int, tag: int) -> Request:
        receive = self._post(source, tag)
        return Request._of(receive or HAPPENED, partial(put, receive, buffer))

    def _exchange(
        self,
        body: bytes,
        dest: int,
        sendtag: int,
        buffer: Buffer | None,
        source: int,
        recvtag: int,
    ) -> Request:
        """Return a request for a send and a receive, complete when both are."""
        sending = running.mail.send_standard(self._scope, dest, sendtag, body)
        received = self._begin_receive(buffer, source, recvtag)
        return received if sending is HAPPENED else _both(sending, received)


def put(receive: PostedReceive | None, buffer: Buffer | None, status: Any) -> None:
    """Unpack a receive's message into a buffer; nothing for `PROC_NULL` or a cancelled receive."""
    tell(status, receive)
    message = None if receive is None else receive.message
    if message is not None and buffer is not None:
        buffer.write(message[BODY])


def _incoming(buf: Any, source: int) -> Buffer | None:
    """Return the buffer of a receive; None for `PROC_NULL`."""
    return None if source == PROC_NULL else Buffer(buf, writable=True)


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
