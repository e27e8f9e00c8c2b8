"""The calls that read and write a file: where, together or alone, at once or begun."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

from mpinet.mpi.files.opened import Opened
from mpinet.mpi.messages.buffers import Buffer
from mpinet.mpi.messages.requests import Request
from mpinet.mpi.messages.statuses import fill_bytes
from mpinet.mpi.real import REAL, not_negative
from mpinet.mpi.world.calls import put_call, running
from mpinet.mpi.world.filing import ADD

Finding = Callable[[], int]
"""Gives the position at which an access begins, when it does."""

Where = Callable[[Opened, Buffer], Finding]
"""Finds out where an access of a buffer's length begins, in the order of the processor's calls."""


def at(offset: int) -> Where:
    """Begin at a position that is given.

    Raises
    ------
    Exception
        ``ERR_ARG``: it is below 0; ``ERR_UNSUPPORTED_OPERATION``: the file is read in sequence.
    """

    def where(opened: Opened, buffer: Buffer) -> Finding:
        position = not_negative(offset, REAL.ERR_ARG)
        if opened.amode & REAL.MODE_SEQUENTIAL:
            raise REAL.Exception(REAL.ERR_UNSUPPORTED_OPERATION)
        return lambda: position

    return where


def individual(opened: Opened, buffer: Buffer) -> Finding:
    """Find the processor's own position, which moves on."""
    if opened.amode & REAL.MODE_SEQUENTIAL:
        raise REAL.Exception(REAL.ERR_UNSUPPORTED_OPERATION)
    # Taken when the call is made, not when it is carried out. Begun accesses have to lie one behind
    # the other, in the order of the calls.
    position = opened.position
    opened.position += opened.elements(buffer)
    return lambda: position


def shared(opened: Opened, buffer: Buffer) -> Finding:
    """Find the position of all, which moves on: in a round by processor."""
    elements = opened.elements(buffer)
    return lambda: running.world.filing.advance(opened.name, elements)


def together(where: Where, verb: str) -> Where:
    """Begin at the place that another rule says, when all have called."""

    def together(opened: Opened, buffer: Buffer) -> Finding:
        # Both numbers are drawn at the call. A begun access runs later in a fiber, when other calls
        # may have drawn theirs.
        found, meet = where(opened, buffer), opened.meeting(verb)

        def find() -> int:
            meet()
            return found()

        return find

    return together


def ordered(verb: str) -> Where:
    """Begin at the position of all, one behind the other by rank, when all have called."""

    def where(opened: Opened, buffer: Buffer) -> Finding:
        elements, meet, rank = opened.elements(buffer), opened.meeting(verb), opened.rank

        def find() -> int:
            met = meet([elements], ADD)
            # Every member knows all lengths, so each computes its own place. No rank has to wait
            # for the one before it.
            return met.pointer + sum(before for before, *_ in met.given[:rank])

        return find

    return where


class Accessing:
    """The calls of a file that read, or write, at places of one kind.

    Of those that are called `Read_at_all` they are `Read_at_all` itself; `Iread_at_all`, which
    begins what it does; and `Read_at_all_begin` with `Read_at_all_end`, its two parts.

    Parameters
    ----------
    place : callable
        Gives the rule of a call's places, from the call's name and what else says where.
    """

    def __init__(self, place: Callable[..., Where]):
        self._place = place

    def __set_name__(self, owner: type[Any], name: str) -> None:
        place, writes = self._place, name.startswith("Write")

        # `call` hands all arguments over by place.
        def do(file: Any, *given: Any) -> None:
            *where, buf, status = given
            fill_bytes(status, file._access(place(name, *where), buf, writes)())

        def begin(file: Any, *given: Any) -> Request:
            *where, buf = given
            request: Request = file._begin(place(f"I{name.lower()}", *where), buf, writes)
            return request

        def begin_part(file: Any, *given: Any) -> None:
            *where, buf = given
            file._split(name, place(f"{name}_begin", *where), buf, writes)

        def end_part(file: Any, buf: Any, status: Any = None) -> None:
            file._end(name, status)

        _, *where = signature(place).parameters.values()
        # The parameters are taken from a call that is written out, so that names and defaults stand
        # in one place.
        file, buf, status = signature(end_part).parameters.values()
        own = file, *where, buf
        put_call(owner, name, do, *own, status)
        if not name.endswith("_ordered"):
            put_call(owner, f"I{name.lower()}", begin, *own)
        if name.endswith(("_all", "_ordered")):
            put_call(owner, f"{name}_begin", begin_part, *own)
            put_call(owner, f"{name}_end", end_part)


class Accesses:
    """The calls of a file that read and write."""

    __slots__ = ()

    Read_at = Accessing(lambda name, offset: at(offset))
    Read_at_all = Accessing(lambda name, offset: together(at(offset), name))
    Read = Accessing(lambda name: individual)
    Read_all = Accessing(lambda name: together(individual, name))
    Read_shared = Accessing(lambda name: shared)
    Read_ordered = Accessing(ordered)
    Write_at = Accessing(lambda name, offset: at(offset))
    Write_at_all = Accessing(lambda name, offset: together(at(offset), name))
    Write = Accessing(lambda name: individual)
    Write_all = Accessing(lambda name: together(individual, name))
    Write_shared = Accessing(lambda name: shared)
    Write_ordered = Accessing(ordered)

    @property
    def _opened(self) -> Opened:
        """The running processor's notes on it."""
        raise NotImplementedError

    def _access(self, where: Where, spec: Any, writes: bool) -> Callable[[], int]:
        """Prepare an access; called, it reads or writes, and tells how many bytes."""
        opened, buffer = self._opened, Buffer(spec, writable=not writes)
        find, move = where(opened, buffer), opened.write if writes else opened.read
        return lambda: move(find(), buffer)

    def _begin(self, where: Where, spec: Any, writes: bool) -> Request:
        """Begin an access; its request."""
        return Request._of_fiber(self._access(where, spec, writes), fill_bytes)

    def _split(self, verb: str, where: Where, spec: Any, writes: bool) -> None:
        """Begin the one access in two parts that there may be at a time."""
        if self._opened.split is not None:
            raise REAL.Exception(REAL.ERR_OTHER)
        self._opened.split = verb, self._begin(where, spec, writes)

    def _end(self, verb: str, status: Any) -> None:
        """Wait for the end of the access in two parts."""
        opened = self._opened
        if opened.split is None or opened.split[0] != verb:
            raise REAL.Exception(REAL.ERR_OTHER)
        _, request = opened.split
        # Cleared before the wait: an access that fails must not block the next one for ever.
        opened.split = None
        request.Wait(status)
