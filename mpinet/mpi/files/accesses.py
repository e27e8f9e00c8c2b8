"""The calls that read and write a file: where, together or alone, at once or begun."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mpinet.mpi.files.opened import Opened
from mpinet.mpi.messages.buffers import Buffer
from mpinet.mpi.messages.requests import Request
from mpinet.mpi.messages.statuses import fill_bytes
from mpinet.mpi.real import REAL, not_negative
from mpinet.mpi.world.calls import call, running
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
            return met.pointer + sum(before for before, *_ in met.given[:rank])

        return find

    return where


class Accesses:
    """The calls of a file that read and write."""

    __slots__ = ()

    @property
    def _opened(self) -> Opened:
        """The running processor's notes on it."""
        raise NotImplementedError

    def _access(self, where: Where, spec: Any, writes: bool) -> Callable[[], int]:
        """Prepare an access; called, it reads or writes, and tells how many bytes."""
        opened, buffer = self._opened, Buffer(spec, writable=not writes)
        find, move = where(opened, buffer), opened.write if writes else opened.read
        return lambda: move(find(), buffer)

    def _read(self, where: Where, spec: Any, status: Any) -> None:
        fill_bytes(status, self._access(where, spec, False)())

    def _write(self, where: Where, spec: Any, status: Any) -> None:
        fill_bytes(status, self._access(where, spec, True)())

    def _begin(self, where: Where, spec: Any, writes: bool) -> Request:
        """Begin an access; its request."""
        access, found = self._access(where, spec, writes), [0]

        def work() -> None:
            found[0] = access()

        completion = running.turns.begin(work)

        def finish(status: Any) -> None:
            if completion.error is not None:
                raise completion.error
            fill_bytes(status, found[0])

        return Request._of(completion, finish)

    def _iread(self, where: Where, spec: Any) -> Request:
        return self._begin(where, spec, False)

    def _iwrite(self, where: Where, spec: Any) -> Request:
        return self._begin(where, spec, True)

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
        opened.split = None
        request.Wait(status)

    # ---- reading

    @call
    def Read_at(self, offset: int, buf: Any, status: Any = None) -> None:
        """Fill a buffer from a position on."""
        self._read(at(offset), buf, status)

    @call
    def Read_at_all(self, offset: int, buf: Any, status: Any = None) -> None:
        """Fill a buffer from a position on, as all others do."""
        self._read(together(at(offset), "Read_at_all"), buf, status)

    @call
    def Read(self, buf: Any, status: Any = None) -> None:
        """Fill a buffer from the processor's own position on."""
        self._read(individual, buf, status)

    @call
    def Read_all(self, buf: Any, status: Any = None) -> None:
        """Fill a buffer from the processor's own position on, as all others do."""
        self._read(together(individual, "Read_all"), buf, status)

    @call
    def Read_shared(self, buf: Any, status: Any = None) -> None:
        """Fill a buffer from the position of all on."""
        self._read(shared, buf, status)

    @call
    def Read_ordered(self, buf: Any, status: Any = None) -> None:
        """Fill a buffer from the position of all on, one behind the other by rank."""
        self._read(ordered("Read_ordered"), buf, status)

    @call
    def Iread_at(self, offset: int, buf: Any) -> Request:
        """Begin what `Read_at` does."""
        return self._iread(at(offset), buf)

    @call
    def Iread_at_all(self, offset: int, buf: Any) -> Request:
        """Begin what `Read_at_all` does."""
        return self._iread(together(at(offset), "Iread_at_all"), buf)

    @call
    def Iread(self, buf: Any) -> Request:
        """Begin what `Read` does."""
        return self._iread(individual, buf)

    @call
    def Iread_all(self, buf: Any) -> Request:
        """Begin what `Read_all` does."""
        return self._iread(together(individual, "Iread_all"), buf)

    @call
    def Iread_shared(self, buf: Any) -> Request:
        """Begin what `Read_shared` does."""
        return self._iread(shared, buf)

    @call
    def Read_at_all_begin(self, offset: int, buf: Any) -> None:
        """Begin what `Read_at_all` does; `Read_at_all_end` waits for its end."""
        self._split("Read_at_all", together(at(offset), "Read_at_all_begin"), buf, False)

    @call
    def Read_at_all_end(self, buf: Any, status: Any = None) -> None:
        """Wait for the end of what `Read_at_all_begin` has begun."""
        self._end("Read_at_all", status)

    @call
    def Read_all_begin(self, buf: Any) -> None:
        """Begin what `Read_all` does; `Read_all_end` waits for its end."""
        self._split("Read_all", together(individual, "Read_all_begin"), buf, False)

    @call
    def Read_all_end(self, buf: Any, status: Any = None) -> None:
        """Wait for the end of what `Read_all_begin` has begun."""
        self._end("Read_all", status)

    @call
    def Read_ordered_begin(self, buf: Any) -> None:
        """Begin what `Read_ordered` does; `Read_ordered_end` waits for its end."""
        self._split("Read_ordered", ordered("Read_ordered_begin"), buf, False)

    @call
    def Read_ordered_end(self, buf: Any, status: Any = None) -> None:
        """Wait for the end of what `Read_ordered_begin` has begun."""
        self._end("Read_ordered", status)

    # ---- writing

    @call
    def Write_at(self, offset: int, buf: Any, status: Any = None) -> None:
        """Write a buffer at a position."""
        self._write(at(offset), buf, status)

    @call
    def Write_at_all(self, offset: int, buf: Any, status: Any = None) -> None:
        """Write a buffer at a position, as all others do."""
        self._write(together(at(offset), "Write_at_all"), buf, status)

    @call
    def Write(self, buf: Any, status: Any = None) -> None:
        """Write a buffer at the processor's own position."""
        self._write(individual, buf, status)

    @call
    def Write_all(self, buf: Any, status: Any = None) -> None:
        """Write a buffer at the processor's own position, as all others do."""
        self._write(together(individual, "Write_all"), buf, status)

    @call
    def Write_shared(self, buf: Any, status: Any = None) -> None:
        """Write a buffer at the position of all."""
        self._write(shared, buf, status)

    @call
    def Write_ordered(self, buf: Any, status: Any = None) -> None:
        """Write a buffer at the position of all, one behind the other by rank."""
        self._write(ordered("Write_ordered"), buf, status)

    @call
    def Iwrite_at(self, offset: int, buf: Any) -> Request:
        """Begin what `Write_at` does."""
        return self._iwrite(at(offset), buf)

    @call
    def Iwrite_at_all(self, offset: int, buf: Any) -> Request:
        """Begin what `Write_at_all` does."""
        return self._iwrite(together(at(offset), "Iwrite_at_all"), buf)

    @call
    def Iwrite(self, buf: Any) -> Request:
        """Begin what `Write` does."""
        return self._iwrite(individual, buf)

    @call
    def Iwrite_all(self, buf: Any) -> Request:
        """Begin what `Write_all` does."""
        return self._iwrite(together(individual, "Iwrite_all"), buf)

    @call
    def Iwrite_shared(self, buf: Any) -> Request:
        """Begin what `Write_shared` does."""
        return self._iwrite(shared, buf)

    @call
    def Write_at_all_begin(self, offset: int, buf: Any) -> None:
        """Begin what `Write_at_all` does; `Write_at_all_end` waits for its end."""
        self._split("Write_at_all", together(at(offset), "Write_at_all_begin"), buf, True)

    @call
    def Write_at_all_end(self, buf: Any, status: Any = None) -> None:
        """Wait for the end of what `Write_at_all_begin` has begun."""
        self._end("Write_at_all", status)

    @call
    def Write_all_begin(self, buf: Any) -> None:
        """Begin what `Write_all` does; `Write_all_end` waits for its end."""
        self._split("Write_all", together(individual, "Write_all_begin"), buf, True)

    @call
    def Write_all_end(self, buf: Any, status: Any = None) -> None:
        """Wait for the end of what `Write_all_begin` has begun."""
        self._end("Write_all", status)

    @call
    def Write_ordered_begin(self, buf: Any) -> None:
        """Begin what `Write_ordered` does; `Write_ordered_end` waits for its end."""
        self._split("Write_ordered", ordered("Write_ordered_begin"), buf, True)

    @call
    def Write_ordered_end(self, buf: Any, status: Any = None) -> None:
        """Wait for the end of what `Write_ordered_begin` has begun."""
        self._end("Write_ordered", status)
