"""Send modes, and the calls generated for each: blocking, nonblocking and persistent."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

from numpy import ndarray

from mpinet.mpi.messages.bsend_buffers import claim
from mpinet.mpi.messages.buffers import Buffer
from mpinet.mpi.messages.persistent import Prequest
from mpinet.mpi.messages.requests import Request
from mpinet.mpi.messages.specifications import KNOWN_ARRAYS
from mpinet.mpi.real import PROC_NULL
from mpinet.mpi.world.calls import put_call, running
from mpinet.mpi.world.endpoint import Endpoint
from mpinet.mpi.world.events import HAPPENED, Event

Mode = Callable[[Endpoint, int, int, bytes], Event]
"""Sends a body to a rank with a tag; returns the event that completes the send."""


def standard(comm: Endpoint, dest: int, tag: int, body: bytes) -> Event:
    """Send in the run's standard mode, also used for ready sends."""
    return running.mail.send_standard(comm._scope, dest, tag, body)


def synchronous(comm: Endpoint, dest: int, tag: int, body: bytes) -> Event:
    """Send in synchronous mode: the send completes when a receive has matched."""
    return running.mail.send_synchronously(comm._scope, dest, tag, body)


def buffered(comm: Endpoint, dest: int, tag: int, body: bytes) -> Event:
    """Send in buffered mode, from the attached buffer."""
    if dest != PROC_NULL:
        # The machine copies bodies and needs no buffer. The claim only detects programs that would
        # fail elsewhere.
        claim(comm._context, len(body))
    return running.mail.send(comm._scope, dest, tag, body)


def body_of(buf: Any, dest: int) -> bytes:
    """Return the body for sending a buffer; empty for `PROC_NULL`."""
    if dest == PROC_NULL:
        return b""
    # Whole arrays of known types are the usual argument, and need no `Buffer`. Only checks do.
    known = type(buf) is ndarray and buf.dtype in KNOWN_ARRAYS and running.checks is None
    if known and buf.flags.c_contiguous:
        body: bytes = buf.tobytes()
        return body
    return Buffer(buf).read()


def _taken(self: Any, buf: Any, dest: int, tag: int = 0) -> None:
    """Do nothing; the signature is the signature of all sends."""


class Sending:
    """The calls of a communicator that send in a given mode.

    For the name `Ssend` the calls are `Ssend` (blocking), `Issend` (nonblocking) and, for buffers,
    `Ssend_init` (persistent).

    Parameters
    ----------
    mode : callable
        The mode.
    dumps : callable, optional
        Pickles the sent object (default: a buffer is sent).
    """

    def __init__(self, mode: Mode, dumps: Callable[[Any], bytes] | None = None):
        self._mode, self._dumps = mode, dumps

    def __set_name__(self, owner: type[Any], name: str) -> None:
        mode, dumps = self._mode, self._dumps
        this, what, *address = signature(_taken).parameters.values()
        taken = this, what if dumps is None else what.replace(name="obj"), *address

        def send(comm: Endpoint, what: Any, dest: int, tag: int) -> None:
            body = body_of(what, dest) if dumps is None else dumps(what)
            event = mode(comm, dest, tag, body)
            if event is not HAPPENED:
                running.turns.wait(event)

        def begin(comm: Endpoint, what: Any, dest: int, tag: int) -> Request:
            body = body_of(what, dest) if dumps is None else dumps(what)
            if mode is standard:
                return Request._of(running.mail.send_standard(comm._scope, dest, tag, body))
            return Request._of(mode(comm, dest, tag, body))

        def prepare(comm: Endpoint, buf: Any, dest: int, tag: int) -> Prequest:
            # Checked now, read at each start: MPI sends the contents of the buffer at the start of
            # the request.
            buffer = None if dest == PROC_NULL else Buffer(buf)

            def start() -> Request:
                return Request._of(mode(comm, dest, tag, b"" if buffer is None else buffer.read()))

            return Prequest._repeating(start)

        put_call(owner, name, send, *taken)
        put_call(owner, ("i" if dumps else "I") + name.lower(), begin, *taken)
        if dumps is None:
            put_call(owner, f"{name}_init", prepare, *taken)
