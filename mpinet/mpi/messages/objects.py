"""Point-to-point messages of pickled objects: a communicator's lower-case calls."""

from __future__ import annotations

import sys
import warnings
from functools import partial
from operator import index
from typing import Any

from mpinet.mpi.messages.requests import Request
from mpinet.mpi.messages.sending import Sending, buffered, synchronous
from mpinet.mpi.messages.statuses import fill, tell
from mpinet.mpi.real import ANY_SOURCE, ANY_TAG, PROC_NULL, REAL
from mpinet.mpi.world.calls import call, running
from mpinet.mpi.world.endpoint import Endpoint
from mpinet.mpi.world.events import HAPPENED, PostedReceive
from mpinet.mpi.world.message import BODY, Message

dumps, loads = REAL.pickle.dumps, REAL.pickle.loads

NOTHING = b"N."
"""Pickle of the object represented by an empty body, None."""


class ObjectMessages(Endpoint):
    """Object communication with one rank, as in `mpi4py.MPI.Comm`."""

    __slots__ = ()

    bsend, ssend = Sending(buffered, dumps), Sending(synchronous, dumps)

    @call
    def send(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Send an object."""
        sending = running.mail.send_standard(self._scope, dest, tag, dumps(obj))
        if sending is not HAPPENED:
            running.turns.wait(sending)

    @call
    def isend(self, obj: Any, dest: int, tag: int = 0) -> Request:
        """Begin to send an object."""
        return Request._of(running.mail.send_standard(self._scope, dest, tag, dumps(obj)))

    @call
    def recv(
        self,
        buf: Any = None,
        source: int = ANY_SOURCE,
        tag: int = ANY_TAG,
        status: Any = None,
    ) -> Any:
        """Receive an object."""
        return self._received(buf, source, tag, status)

    @call
    def irecv(self, buf: Any = None, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Request:
        """Begin to receive an object of at most `buf` bytes (default: mpi4py's limit)."""
        room = None if source == PROC_NULL else _room(buf)
        receive = self._post(source, tag)
        return Request._of(receive or HAPPENED, partial(fetched, receive, room))

    @call
    def sendrecv(
        self,
        sendobj: Any,
        dest: int,
        sendtag: int = 0,
        recvbuf: Any = None,
        source: int = ANY_SOURCE,
        recvtag: int = ANY_TAG,
        status: Any = None,
    ) -> Any:
        """Send an object, and receive one."""
        sending = running.mail.send_standard(self._scope, dest, sendtag, dumps(sendobj))
        found = self._received(recvbuf, source, recvtag, status)
        if sending is not HAPPENED:
            running.turns.wait(sending)
        return found

    def _received(self, buf: Any, source: int, tag: int, status: Any) -> Any:
        if buf is None and status is None and source != PROC_NULL:  # usual, fast
            return loads(running.mail.receive(self._scope, source, tag)[BODY] or NOTHING)
        room = None if buf is None else _room_given(buf, source)
        return loaded(self._receive(source, tag), room, status)


def loaded(message: Message | None, room: int | None = None, status: Any = None) -> Any:
    """Return the object of a message, and fill a status if given.

    Parameters
    ----------
    message : Message or None
        The message. None (from `PROC_NULL`) and an empty body both return None.
    room : int or None
        Maximum size of the body in bytes.
    status : Status, optional
        Status to fill.

    Raises
    ------
    Exception
        ``ERR_TRUNCATE``: the body is larger.
    """
    if status is not None:
        fill(status, message)
    if message is None:
        return None
    data = message[BODY]
    if room is not None and len(data) > room:
        raise REAL.Exception(REAL.ERR_TRUNCATE)
    return loads(data) if data else None


def fetched(receive: PostedReceive | None, room: int | None, status: Any) -> Any:
    """Return the object of a receive; None for `PROC_NULL` or a cancelled receive."""
    tell(status, receive)
    return loaded(None if receive is None else receive.message, room)


def _room_given(buf: Any, source: int) -> int | None:
    """Return the capacity of a blocking receive, from mpi4py's deprecated argument."""
    warnings.warn("the 'buf' argument is deprecated", UserWarning, stacklevel=5)
    return None if source == PROC_NULL else _room(buf)


def _room(buf: Any) -> int:
    """Return the capacity of a receive in bytes, from a buffer, a number, or the default."""
    if buf is None:
        room: int = sys.modules["mpi4py"].rc.irecv_bufsz
        return room
    if hasattr(buf, "__index__") and not hasattr(buf, "__len__"):
        return index(buf)
    return int(REAL.buffer.frombuffer(buf).nbytes)
