"""Attached buffers: the memory that scripts provide for buffered sends.

The machine needs none of it: a body is copied when it is sent. But a script is to see where its
buffer would be too small. A message is in the buffer until it sets out, with the next step.
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
"""Stand-in for a context: the buffer is attached for all communicators."""

SESSIONS = -1
"""Less a session's number it stands in place of a context, too."""


class Attached:
    """One processor's buffer.

    Parameters
    ----------
    memory : buffer or None
        What is attached; None: as much as it takes.
    """

    __slots__ = ("_room", "_step", "_used", "given")

    def __init__(self, memory: Any):
        automatic = memory is None or memory is REAL.BUFFER_AUTOMATIC
        self.given: Any = REAL.BUFFER_AUTOMATIC if automatic else memory
        """Object that the script gets back on detaching."""
        self._room = None if automatic else REAL.buffer.frombuffer(memory).nbytes
        self._step = 0
        self._used = 0

    def claim(self, size: int, step: int) -> None:
        """Put a message of so many bytes into it after a step.

        Raises
        ------
        Exception
            ``ERR_BUFFER``: it does not fit.
        """
        if self._room is None:
            return
        # Messages leave the buffer when they set out, with the machine's next step. So each step
        # finds it empty.
        if step > self._step:
            self._step, self._used = step, 0
        self._used += size + REAL.BSEND_OVERHEAD
        if self._used > self._room:
            # A refused message takes no room: a smaller one may still fit.
            self._used -= size + REAL.BSEND_OVERHEAD
            raise REAL.Exception(REAL.ERR_BUFFER)


def claim(context: int, size: int) -> None:
    """Put a message that the running processor sends into its attached buffer.

    Parameters
    ----------
    context : int
        The communicator's; a buffer that is attached to it goes before the one for all.
    size : int
        Bytes of the body.

    Raises
    ------
    Exception
        ``ERR_BUFFER``: none is attached, or it is full.
    """
    kept = running.turns.current.kept or {}
    buffer = kept.get((Attached, context)) or kept.get((Attached, WHOLE)) or _of_session(kept)
    if buffer is None:
        raise REAL.Exception(REAL.ERR_BUFFER)
    buffer.claim(size, running.world.transit.now)


def _of_session(kept: dict[Any, Any]) -> Attached | None:
    """The first buffer that is attached to a session: all communicators may be of that one."""
    for key, buffer in kept.items():
        if isinstance(buffer, Attached) and key[1] < WHOLE:
            return buffer
    return None


def attach(context: int, memory: Any) -> None:
    """Attach memory for what stands under a context, or in its place."""
    kept = running.turns.current.storage()
    if (Attached, context) in kept:
        raise REAL.Exception(REAL.ERR_BUFFER)
    kept[Attached, context] = Attached(memory)


def detach(context: int) -> Any:
    """Detach what is attached there, and give it back."""
    buffer = running.turns.current.storage().pop((Attached, context), None)
    if buffer is None:
        raise REAL.Exception(REAL.ERR_BUFFER)
    return buffer.given


class Buffered:
    """Base of what memory for buffered sends is attached to."""

    __slots__ = ()

    @property
    def _place(self) -> int:
        """The context under which it is attached, or what stands in place of one."""
        raise NotImplementedError

    @call
    def Attach_buffer(self, buf: Any) -> None:
        """Attach memory for buffered sends."""
        attach(self._place, buf)

    @call
    def Detach_buffer(self) -> Any:
        """Detach the memory, and give it back."""
        return detach(self._place)

    @call
    def Flush_buffer(self) -> None:
        """Wait until nothing needs the memory: at once, as bodies are copies."""

    @call
    def Iflush_buffer(self) -> Request:
        """Begin to wait until nothing needs the memory."""
        return Request._of(HAPPENED)


class AttachedBuffers(Buffered, Endpoint):
    """Buffers that are attached to a communicator, as `mpi4py.MPI.Comm` has it."""

    __slots__ = ()

    @property
    def _place(self) -> int:
        """Return the communicator's own context."""
        return self._context


def Attach_buffer(buf: Any) -> None:
    """Attach memory for buffered sends in all communicators."""
    attach(WHOLE, buf)


def Detach_buffer() -> Any:
    """Detach the memory for all communicators, and give it back."""
    return detach(WHOLE)


def Flush_buffer() -> None:
    """Wait until nothing needs the memory: at once, as bodies are copies."""


def Iflush_buffer() -> Request:
    """Begin to wait until nothing needs the memory."""
    return Request._of(HAPPENED)
