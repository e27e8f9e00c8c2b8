"""A file that a processor has open, and the way to its bytes."""

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
"""MPI's classes of the system's errors; of all others it is `ERR_IO`."""


@contextmanager
def of_system() -> Iterator[None]:
    """Within it, errors of the system are raised as MPI's."""
    try:
        yield
    except OSError as error:
        raise error_of(error.errno or 0) from None


def error_of(number: int) -> Exception:
    """MPI's error for one of the system's."""
    error: Exception = REAL.Exception(CLASSES.get(number, REAL.ERR_IO))
    return error


class Opened:
    """A file as one of the processors has it that have opened it together.

    Parameters
    ----------
    name : hashable
        Its name, the same on all ranks.
    scope : Scope
        Those who have opened it.
    path : str
        Where it is.
    amode : int
        What may be done with it.
    """

    def __init__(self, name: Hashable, scope: Scope, path: str, amode: int):
        self.name, self.scope, self.path, self.amode = name, scope, path, amode
        self.view: View = View()
        """View: the bytes of the file that the processor sees."""
        self.position: int = 0
        """Position of the next access."""
        self.atomic: bool = False
        """True if the processor has asked for atomic accesses; all accesses are atomic in any
        case."""
        self.split: tuple[str, Any] | None = None
        """The call in two parts that it has begun: its name, and its request."""
        self._met = 0

    @property
    def rank(self) -> int:
        """The processor's rank among those who have opened it."""
        return self.scope.group.rank_of(running.turns.current.id)

    @property
    def size(self) -> int:
        """Number of those who have opened it."""
        return len(self.scope.group.members)

    # ---- together

    def meeting(self, verb: str) -> Callable[..., Met]:
        """The processor's part in the next call of all; called, it waits for the others."""
        # Calls on a file are collective and ordered. The count names a meeting for all members
        # without a message.
        number, self._met = self._met, self._met + 1
        place = self.scope.context, self.size, self.rank

        def met(given: Sequence[int] = (), moves: int = KEEP) -> Met:
            return running.world.filing.meet(self.name, number, place, f"File.{verb}", given, moves)

        return met

    def meet(self, verb: str, given: Sequence[int] = (), moves: int = KEEP) -> Met:
        """Wait for all others to make the same call."""
        return self.meeting(verb)(given, moves)

    def done_by_first(self, verb: str, work: Callable[[], None]) -> None:
        """Let rank 0 do something when all have called; errors are raised everywhere."""
        self.meet(verb)
        number = 0
        if self.rank == 0:
            try:
                work()
            except OSError as error:
                number = error.errno or errno.EIO
        # A second meeting tells the outcome. An error that rank 0 kept to itself would leave the
        # others believing in the file.
        (first, *_), *_ = self.meet(verb, [number]).given
        if first:
            raise error_of(first)

    # ---- the descriptor

    @property
    def descriptor(self) -> Descriptor:
        """The rank's descriptor of it."""
        return running.world.filing.opened[self.name]

    def open(self, flags: int) -> int:
        """Let the rank open it, if it has not yet; the number of the system's error, or 0."""
        opened = running.world.filing.opened
        found = opened.get(self.name)
        if found is not None:
            # Processors of a rank share one descriptor. A thousand processors with a file each
            # would exceed the limit of open files.
            found.holders += 1
            return 0
        try:
            opened[self.name] = Descriptor(self.path, flags)
        except OSError as error:
            return error.errno or errno.EIO
        return 0

    def close(self) -> None:
        """Let the rank close it, if no other processor of its has it open."""
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
        """Bytes of the file."""
        number = self.descriptor.number
        with of_system():
            size: int = self._access(0, 0, False, lambda: os.fstat(number).st_size)
        return size

    def elements(self, buffer: Buffer) -> int:
        """Count the elements by which an access to all of a buffer moves a position."""
        return -(-buffer.nbytes // self.view.unit)

    def read(self, position: int, buffer: Buffer) -> int:
        """Fill a buffer from a position on; how many bytes there were.

        Raises
        ------
        Exception
            ``ERR_ACCESS``: the file is open for writing alone.
        """
        if self.amode & REAL.MODE_WRONLY:
            raise REAL.Exception(REAL.ERR_ACCESS)
        pieces, number = self.view.pieces(position, buffer.nbytes), self.descriptor.number

        def act() -> bytes:
            found = []
            for begin, length in pieces:
                found.append(_read(number, begin, length))
                # A short read is the end of the file. Pieces behind it lie beyond the end as well.
                if len(found[-1]) < length:
                    break
            return b"".join(found)

        with of_system():
            data: bytes = self._access(*_span(pieces), False, act)
        buffer.write(data)
        return len(data)

    def write(self, position: int, buffer: Buffer) -> int:
        """Write what is in a buffer from a position on; how many bytes there were.

        Raises
        ------
        Exception
            ``ERR_READ_ONLY``: the file is open for reading alone.
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
    """The first byte of some pieces, and the one behind the last."""
    if not pieces:
        return 0, 0
    return min(begin for begin, _ in pieces), max(begin + length for begin, length in pieces)


def _read(number: int, begin: int, length: int) -> bytes:
    """Read bytes of a file, or what there is of them."""
    found = bytearray()
    while len(found) < length:
        part = os.pread(number, length - len(found), begin + len(found))
        # `pread` may return less than asked without being at the end, as on network file systems.
        # Only nothing means the end.
        if not part:
            break
        found += part
    return bytes(found)


def _write(number: int, begin: int, data: memoryview) -> None:
    """Write bytes to a file."""
    done = 0
    while done < len(data):
        # A write may stop early, at a signal or a quota. The next try gets the rest done or raises
        # the reason.
        done += os.pwrite(number, data[done:], begin + done)
