"""Attached buffers: memory provided by scripts for buffered sends.

The machine does not use this memory, because a body is copied when it is sent. But a script must
get an error if its buffer is too small. A message occupies the buffer until it leaves with the next
step.
"""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from typing import Any

from mpinet.mpi.messages.requests import Request
from mpinet.mpi.real import REAL
from mpinet.mpi.world.calls import call, running
from mpinet.mpi.world.endpoint import Endpoint
from mpinet.mpi.world.events import HAPPENED

WHOLE = -1
"""Stands for all communicators in place of a context."""

SESSIONS = -1
"""A session's number is subtracted from this value to get the session's key."""


class Attached:
    """A buffer attached by a processor for buffered sends.

    Parameters
    ----------
    memory : buffer or None
        Attached memory; None grows automatically.
    """

    __slots__ = ("_room", "_step", "_used", "given")

    def __init__(self, memory: Any):
        automatic = memory is None or memory is REAL.BUFFER_AUTOMATIC
        self.given: Any = REAL.BUFFER_AUTOMATIC if automatic else memory
        """Object returned when the buffer is detached."""
        self._room = None if automatic else REAL.buffer.frombuffer(memory).nbytes
        self._step = 0
        self._used = 0

    def claim(self, size: int, step: int) -> None:
        """Reserve space for a message of `size` bytes sent after a step.

        Raises
        ------
        Exception
            ``ERR_BUFFER``: the message does not fit.
        """
        if self._room is None:
            return
        # Messages leave the buffer with the machine's next step. Each step starts with an empty
        # buffer.
        if step > self._step:
            self._step, self._used = step, 0
        self._used += size + REAL.BSEND_OVERHEAD
        if self._used > self._room:
            # A refused message takes no space: a smaller message may still fit.
            self._used -= size + REAL.BSEND_OVERHEAD
            raise REAL.Exception(REAL.ERR_BUFFER)


def claim(context: int, size: int) -> None:
    """Reserve space for a message of the running processor in its attached buffer.

    Parameters
    ----------
    context : int
        The communicator's context. A buffer attached to it takes precedence over the global buffer.
    size : int
        Size of the body in bytes.

    Raises
    ------
    Exception
        ``ERR_BUFFER``: no buffer is attached, or the buffer is full.
    """
    kept = running.turns.current.kept or {}
    buffer = kept.get((Attached, context)) or kept.get((Attached, WHOLE)) or _of_session(kept)
    if buffer is None:
        raise REAL.Exception(REAL.ERR_BUFFER)
    buffer.claim(size, running.world.transit.now)


def _of_session(kept: dict[Any, Any]) -> Attached | None:
    """Return the first buffer attached to a session; any communicator may belong to it."""
    for key, buffer in kept.items():
        if isinstance(buffer, Attached) and key[1] < WHOLE:
            return buffer
    return None


def attach(context: int, memory: Any) -> None:
    """Attach memory under a context or its replacement."""
    kept = running.turns.current.storage()
    if (Attached, context) in kept:
        raise REAL.Exception(REAL.ERR_BUFFER)
    kept[Attached, context] = Attached(memory)


def detach(context: int) -> Any:
    """Detach the memory of a context or its replacement, and return it."""
    buffer = running.turns.current.storage().pop((Attached, context), None)
    if buffer is None:
        raise REAL.Exception(REAL.ERR_BUFFER)
    return buffer.given


class Buffered:
    """Base of objects to which a buffer for buffered sends can be attached."""

    __slots__ = ()

    @property
    def _place(self) -> int:
        """Key of the attached buffer: a context, or a replacement for it."""
        raise NotImplementedError

    @call
    def Attach_buffer(self, buf: Any) -> None:
        """Attach memory for buffered sends."""
        attach(self._place, buf)

    @call
    def Detach_buffer(self) -> Any:
        """Detach the memory for buffered sends and return it."""
        return detach(self._place)

    @call
    def Flush_buffer(self) -> None:
        """Wait until the memory is no longer needed: returns at once, because bodies are copies."""

    @call
    def Iflush_buffer(self) -> Request:
        """Begin a nonblocking flush; the request is already complete."""
        return Request._of(HAPPENED)


class AttachedBuffers(Buffered, Endpoint):
    """Buffers attached to a communicator, as in `mpi4py.MPI.Comm`."""

    __slots__ = ()

    @property
    def _place(self) -> int:
        """The communicator's context, as key of its attached buffer."""
        return self._context


def Attach_buffer(buf: Any) -> None:
    """Attach memory for buffered sends in all communicators."""
    attach(WHOLE, buf)


def Detach_buffer() -> Any:
    """Detach the memory for all communicators, and return it."""
    return detach(WHOLE)


def Flush_buffer() -> None:
    """Wait until the memory is no longer needed: returns at once, because bodies are copies."""


def Iflush_buffer() -> Request:
    """Begin a nonblocking flush; the request is already complete."""
    return Request._of(HAPPENED)
