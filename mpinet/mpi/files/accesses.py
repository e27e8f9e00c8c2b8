"""The calls that read and write a file: at different positions, individual or collective."""

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
"""Returns the position of an access, when the access is carried out."""

Where = Callable[[Opened, Buffer], Finding]
"""Determines the position of an access, in the order of the processor's calls."""


def at(offset: int) -> Where:
    """Return the rule for accesses at an explicit offset.

    Raises
    ------
    Exception
        ``ERR_ARG``: the offset is negative. ``ERR_UNSUPPORTED_OPERATION``: the file is sequential.
    """

    def where(opened: Opened, buffer: Buffer) -> Finding:
        position = not_negative(offset, REAL.ERR_ARG)
        if opened.amode & REAL.MODE_SEQUENTIAL:
            raise REAL.Exception(REAL.ERR_UNSUPPORTED_OPERATION)
        return lambda: position

    return where


def individual(opened: Opened, buffer: Buffer) -> Finding:
    """Use the individual file pointer, and advance it."""
    if opened.amode & REAL.MODE_SEQUENTIAL:
        raise REAL.Exception(REAL.ERR_UNSUPPORTED_OPERATION)
    # Determined at the call, not when the access is carried out. Nonblocking accesses must follow
    # one another in the order of the calls.
    position = opened.position
    opened.position += opened.elements(buffer)
    return lambda: position


def shared(opened: Opened, buffer: Buffer) -> Finding:
    """Use the shared file pointer, and advance it; within a round in processor order."""
    elements = opened.elements(buffer)
    return lambda: running.world.filing.advance(opened.name, elements)


def together(where: Where, verb: str) -> Where:
    """Return a rule for a collective access: all members call, then another rule applies."""

    def together(opened: Opened, buffer: Buffer) -> Finding:
        # Both values are determined at the call. A nonblocking access runs later in a fiber,
        # possibly after further calls.
        found, meet = where(opened, buffer), opened.meeting(verb)

        def find() -> int:
            meet()
            return found()

        return find

    return together


def ordered(verb: str) -> Where:
    """Return the rule for ordered accesses: shared file pointer, in rank order, collective."""

    def where(opened: Opened, buffer: Buffer) -> Finding:
        elements, meet, rank = opened.elements(buffer), opened.meeting(verb), opened.rank

        def find() -> int:
            met = meet([elements], ADD)
            # Every member knows all lengths and computes its own position. No rank has to wait for
            # the previous rank.
            return met.pointer + sum(before for before, *_ in met.given[:rank])

        return find

    return where


class Accessing:
    """The calls of a file that read or write with a given positioning.

    For the name `Read_at_all` the calls are `Read_at_all` (blocking), `Iread_at_all` (nonblocking),
    and `Read_at_all_begin` with `Read_at_all_end` (split).

    Parameters
    ----------
    place : callable
        Returns the positioning rule, given the call's name and its positioning arguments.
    """

    def __init__(self, place: Callable[..., Where]):
        self._place = place

    def __set_name__(self, owner: type[Any], name: str) -> None:
        place, writes = self._place, name.startswith("Write")

        # `call` passes all arguments by position.
        def do(file: Any, *given: Any) -> None:
            *where, buf, status = given
            opened = file._opened
            position = opened.position
            try:
                fill_bytes(status, file._access(place(name, *where), buf, writes)())
            except BaseException:  # a failed access does not move the pointer
                opened.position = position
                raise

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
        # The parameters are taken from a written-out call, so names and defaults are defined once.
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
        """The running processor's state of the file."""
        raise NotImplementedError

    def _access(self, where: Where, spec: Any, writes: bool) -> Callable[[], int]:
        """Return a function that makes an access and returns its number of bytes."""
        opened, buffer = self._opened, Buffer(spec, writable=not writes)
        find, move = where(opened, buffer), opened.write if writes else opened.read
        return lambda: move(find(), buffer)

    def _begin(self, where: Where, spec: Any, writes: bool) -> Request:
        """Begin a nonblocking file access; return its request."""
        return Request._of_fiber(self._access(where, spec, writes), fill_bytes)

    def _split(self, verb: str, where: Where, spec: Any, writes: bool) -> None:
        """Begin a split access; only one may be active."""
        if self._opened.split is not None:
            raise REAL.Exception(REAL.ERR_OTHER)
        self._opened.split = verb, self._begin(where, spec, writes)

    def _end(self, verb: str, status: Any) -> None:
        """Wait for the end of the split access."""
        opened = self._opened
        if opened.split is None or opened.split[0] != verb:
            raise REAL.Exception(REAL.ERR_OTHER)
        _, request = opened.split
        # Cleared before the wait: a failing access must not block the next one forever.
        opened.split = None
        request.Wait(status)
