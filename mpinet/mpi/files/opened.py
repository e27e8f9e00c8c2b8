"""A processor's state of an open file, and its access to the bytes."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mpinet.mpi.files.view import View
from mpinet.mpi.messages.buffers import Buffer
from mpinet.mpi.real import REAL
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.contexts import Scope
from mpinet.mpi.world.filing import KEEP, Descriptor, Met

ACCESS_MODES = {
    REAL.MODE_RDONLY: os.O_RDONLY,
    REAL.MODE_WRONLY: os.O_WRONLY,
    REAL.MODE_RDWR: os.O_RDWR,
}

CLASSES = {
    errno.ENOENT: REAL.ERR_NO_SUCH_FILE,
    errno.EEXIST: REAL.ERR_FILE_EXISTS,
    errno.EACCES: REAL.ERR_ACCESS,
    errno.EPERM: REAL.ERR_ACCESS,
    errno.EROFS: REAL.ERR_READ_ONLY,
    errno.ENOSPC: REAL.ERR_NO_SPACE,
    errno.EDQUOT: REAL.ERR_QUOTA,
    errno.EISDIR: REAL.ERR_BAD_FILE,
    errno.ENAMETOOLONG: REAL.ERR_BAD_FILE,
    errno.ETXTBSY: REAL.ERR_FILE_IN_USE,
}
"""MPI error classes of the operating system's errors; all other errors are `ERR_IO`."""


@contextmanager
def of_system() -> Iterator[None]:
    """Context manager: raises the operating system's errors as MPI errors."""
    try:
        yield
    except OSError as error:
        raise error_of(error.errno or 0) from None


def error_of(number: int) -> Exception:
    """Return the MPI error for an error number of the operating system."""
    error: Exception = REAL.Exception(CLASSES.get(number, REAL.ERR_IO))
    return error


class Opened:
    """A file opened by several processors, from the view of one processor.

    Parameters
    ----------
    name : hashable
        Name, the same on all ranks.
    scope : Scope
        The processors that have opened the file.
    path : str
        Path of the file.
    amode : int
        Access mode.
    """

    def __init__(self, name: Hashable, scope: Scope, path: str, amode: int):
        self.name, self.scope, self.path, self.amode = name, scope, path, amode
        self.view: View = View()
        """The view: the bytes of the file visible to the processor."""
        self.position: int = 0
        """Individual file pointer."""
        self.atomic: bool = False
        """True if the processor has requested atomic accesses; accesses are always atomic."""
        self.split: tuple[str, Any] | None = None
        """Name and request of the active split access; None without one."""
        self._met = 0

    @property
    def rank(self) -> int:
        """The processor's rank among the members that have opened the file."""
        return self.scope.group.rank_of(running.turns.current.id)

    @property
    def size(self) -> int:
        """Number of members that have opened the file."""
        return len(self.scope.group.members)

    # ---- collective calls

    def meeting(self, verb: str) -> Callable[..., Met]:
        """Return a function that takes part in the next collective call on the file."""
        # Calls on a file are collective and ordered. The count identifies a meeting for all members
        # without a message.
        number, self._met = self._met, self._met + 1
        place = self.scope.context, self.size, self.rank

        def met(given: Sequence[int] = (), moves: int = KEEP) -> Met:
            return running.world.filing.meet(self.name, number, place, f"File.{verb}", given, moves)

        return met

    def meet(self, verb: str, given: Sequence[int] = (), moves: int = KEEP) -> Met:
        """Wait until all members have made the same call."""
        return self.meeting(verb)(given, moves)

    def done_by_first(self, verb: str, work: Callable[[], None]) -> None:
        """Carry out work on rank 0 after all members have called; all members raise its error."""
        self.meet(verb)
        number = 0
        if self.rank == 0:
            try:
                work()
            except OSError as error:
                number = error.errno or errno.EIO
        # A second meeting distributes the outcome. Without it only rank 0 would know of an error.
        (first, *_), *_ = self.meet(verb, [number]).given
        if first:
            raise error_of(first)

    # ---- the descriptor

    @property
    def descriptor(self) -> Descriptor:
        """This rank's descriptor of the file."""
        return running.world.filing.opened[self.name]

    def open(self, flags: int) -> int:
        """Open the file on this rank, unless open; return the system's error number, or 0."""
        opened = running.world.filing.opened
        found = opened.get(self.name)
        if found is not None:
            # Processors of a rank share a descriptor. A thousand processors with one file each
            # would exceed the limit of open files.
            found.holders += 1
            return 0
        try:
            opened[self.name] = Descriptor(self.path, flags)
        except OSError as error:
            return error.errno or errno.EIO
        return 0

    def close(self) -> None:
        """Close the file on this rank after its last processor has closed it."""
        opened = running.world.filing.opened
        found = opened.get(self.name)
        if found is None:
            return
        found.holders -= 1
        if not found.holders:
            del opened[self.name]
            os.close(found.number)

    # ---- bytes

    def file_size(self) -> int:
        """Return the size of the file in bytes."""
        number = self.descriptor.number
        with of_system():
            size: int = self._access(0, 0, False, lambda: os.fstat(number).st_size)
        return size

    def elements(self, buffer: Buffer) -> int:
        """Return the number of elements by which an access moves a file pointer."""
        return -(-buffer.nbytes // self.view.unit)

    def read(self, position: int, buffer: Buffer) -> int:
        """Read into a buffer from a position on; return the number of bytes.

        Raises
        ------
        Exception
            ``ERR_ACCESS``: the file is write-only.
        """
        if self.amode & REAL.MODE_WRONLY:
            raise REAL.Exception(REAL.ERR_ACCESS)
        pieces, number = self.view.pieces(position, buffer.nbytes), self.descriptor.number

        def act() -> bytes:
            found = []
            for begin, length in pieces:
                found.append(_read(number, begin, length))
                # A short read means the end of the file. Later pieces are also beyond the end.
                if len(found[-1]) < length:
                    break
            return b"".join(found)

        with of_system():
            data: bytes = self._access(*_span(pieces), False, act)
        buffer.write(data)
        return len(data)

    def write(self, position: int, buffer: Buffer) -> int:
        """Write a buffer from a position on; return the number of bytes.

        Raises
        ------
        Exception
            ``ERR_READ_ONLY``: the file is read-only.
        """
        if self.amode & REAL.MODE_RDONLY:
            raise REAL.Exception(REAL.ERR_READ_ONLY)
        pieces, descriptor = self.view.pieces(position, buffer.nbytes), self.descriptor
        data = memoryview(buffer.read())

        def act() -> None:
            done = 0
            for begin, length in pieces:
                _write(descriptor.number, begin, data[done : done + length])
                done += length
            descriptor.written = True

        with of_system():
            self._access(*_span(pieces), True, act)
        return len(data)

    def _access(self, begin: int, end: int, writes: bool, act: Callable[[], Any]) -> Any:
        return running.world.filing.access(self.path, begin, end, writes, act)


def _span(pieces: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the range of bytes that contains some pieces."""
    if not pieces:
        return 0, 0
    return min(begin for begin, _ in pieces), max(begin + length for begin, length in pieces)


def _read(number: int, begin: int, length: int) -> bytes:
    """Read bytes of a file at a position, up to its end."""
    found = bytearray()
    while len(found) < length:
        part = os.pread(number, length - len(found), begin + len(found))
        # `pread` may return fewer bytes before the end, for example on network file systems. Only
        # an empty result means the end.
        if not part:
            break
        found += part
    return bytes(found)


def _write(number: int, begin: int, data: memoryview) -> None:
    """Write bytes to a file at a position."""
    done = 0
    while done < len(data):
        # A write may stop early, at a signal or a quota. The next attempt writes the rest or raises
        # the error.
        done += os.pwrite(number, data[done:], begin + done)
