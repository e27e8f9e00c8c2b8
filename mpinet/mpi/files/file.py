"""Files as scripts see them: `File`, how it is opened and closed, and what it tells of itself."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

import os
from typing import Any

from mpinet.mpi.communicators.communicator import Intracomm
from mpinet.mpi.communicators.errhandlers import ErrorHandling
from mpinet.mpi.communicators.groups import fixed
from mpinet.mpi.communicators.inquiries import MembersAndHints
from mpinet.mpi.constants import NamedNumber, instance_of
from mpinet.mpi.files.accesses import Accesses
from mpinet.mpi.files.opened import ACCESS_MODES, Opened, error_of, of_system
from mpinet.mpi.files.view import View
from mpinet.mpi.real import REAL, as_int, not_negative
from mpinet.mpi.world.calls import call, running
from mpinet.mpi.world.contexts import SELF, Nowhere
from mpinet.mpi.world.endpoint import CommState
from mpinet.mpi.world.filing import SET

NULL = "the null file"
"""Under this a processor keeps the error handler of FILE_NULL, that of files it will open."""

OPENED = "files"
"""Under this and a communicator's context a processor keeps how many files it has opened there."""

END = 1 << 62
"""A byte behind those of any file."""

REPRESENTATIONS = ("native", "internal")
"""Representations of elements: as in memory."""


NO_FILE = Nowhere(REAL.ERR_FILE)


class File(Accesses, MembersAndHints, ErrorHandling, NamedNumber, REAL.File):  # type: ignore[misc]
    """A file that several processors have opened together, as `mpi4py.MPI.File`.

    Nothing of it is known to the real one below it, which is always the null one.
    """

    _null, _unknown = "FILE_NULL", REAL.ERR_FILE

    _holding: Opened | None

    def __new__(cls, file: File | None = None) -> File:
        """The null file, or another face of a file."""
        if file is None or not instance_of(File, file):
            return cls._of(None)
        return cls._of(file._holding)

    @classmethod
    def _of(cls, opened: Opened | None) -> File:
        made: File = REAL.File.__new__(cls)
        made._holding = opened
        made._scope = NO_FILE if opened is None else opened.scope
        return made

    @property
    def _meaning(self) -> Opened | None:
        return self._holding

    @property
    def _opened(self) -> Opened:
        if self._holding is None:
            raise REAL.Exception(REAL.ERR_FILE)
        return self._holding

    @property
    def _state(self) -> CommState:
        """The running processor's notes on it; of the null file what new ones begin with."""
        kept = running.turns.current.storage()
        state: CommState = kept.setdefault(self._context if self else NULL, CommState())
        return state

    # ---- how it is opened and closed

    @classmethod
    @call
    def Open(
        cls,
        comm: Intracomm,
        filename: Any,
        amode: int = REAL.MODE_RDONLY,
        info: Any = REAL.INFO_NULL,
    ) -> Any:
        """Open a file, as all members of a communicator do.

        Parameters
        ----------
        comm : Intracomm
            The communicator.
        filename : str, bytes or path
            The file, a real one.
        amode : int
            What may be done with it.
        info : Info
            Hints.

        Raises
        ------
        Exception
            ``ERR_AMODE``, ``ERR_NO_SUCH_FILE``, ``ERR_ACCESS``, ..: it cannot be opened.
        """
        amode = _known_mode(as_int(amode))
        path = os.path.abspath(os.fsdecode(filename))
        opened = _opening(instance_of(Intracomm, comm), path, amode)
        flags = next(flag for mode, flag in ACCESS_MODES.items() if amode & mode)
        created = flags
        created |= os.O_CREAT if amode & REAL.MODE_CREATE else 0
        created |= os.O_EXCL if amode & REAL.MODE_EXCL else 0
        # Rank 0 creates the file alone. With `MODE_EXCL` all others would find it there and fail.
        number = opened.open(created) if opened.rank == 0 else 0
        # Two meetings: the others may open only what rank 0 has created, and all must learn of an
        # error on any rank.
        first = opened.meet("Open", [number, amode]).given
        if any(given[1] != amode for given in first):
            number = -1
        elif opened.rank and not first[0][0]:
            number = opened.open(flags)
        numbers = [number for number, *_ in opened.meet("Open", [number]).given]
        if any(numbers):
            # A member that succeeded has to give its descriptor back, since the call fails for all.
            if not number:
                opened.close()
            wrong = next(filter(None, numbers))
            raise REAL.Exception(REAL.ERR_AMODE) if wrong < 0 else error_of(wrong)
        made = cls._of(opened)
        made._state.errhandler = File._of(None)._state.errhandler
        made.Set_info(info)
        if amode & REAL.MODE_APPEND:
            opened.position = opened.file_size()
            opened.meet("Open", [opened.position], SET)
        return made

    @call
    def Close(self) -> None:
        """Close it, when all have called; it becomes FILE_NULL."""
        opened = self._opened
        if opened.split is not None:
            raise REAL.Exception(REAL.ERR_OTHER)
        deleted = opened.amode & REAL.MODE_DELETE_ON_CLOSE
        # All come first: a member that is still writing through the rank's descriptor would lose
        # it.
        opened.meet("Close")
        opened.close()
        running.turns.current.storage().pop(self._context, None)
        running.world.contexts.close(self._context, running.turns.current.id)
        if deleted:
            # Deleted once, and after all members have closed: some file systems keep busy files
            # under another name.
            opened.done_by_first("Close", lambda: os.unlink(opened.path))
        self._scope, self._holding = NO_FILE, None

    def free(self) -> None:
        """Close it, if it is not the null file."""
        if self:
            self.Close()

    @classmethod
    @call
    def Delete(cls, filename: Any, info: Any = REAL.INFO_NULL) -> None:
        """Delete a file."""
        path = os.path.abspath(os.fsdecode(filename))
        with of_system():
            running.world.filing.access(path, 0, END, True, lambda: os.unlink(path))

    # ---- its size

    @call
    def Get_size(self) -> int:
        """Bytes of the file."""
        return self._opened.file_size()

    size = property(Get_size)

    @call
    def Set_size(self, size: int) -> None:
        """Cut the file off, or let it grow, as all others do."""
        size, opened = not_negative(size, REAL.ERR_ARG), self._writable()
        opened.done_by_first("Set_size", lambda: os.ftruncate(opened.descriptor.number, size))

    @call
    def Preallocate(self, size: int) -> None:
        """Let the file have so many bytes at least, as all others do."""
        size, opened = not_negative(size, REAL.ERR_ARG), self._writable()

        def grow() -> None:
            if size:
                os.posix_fallocate(opened.descriptor.number, 0, size)

        opened.done_by_first("Preallocate", grow)

    def _writable(self) -> Opened:
        """Return what is kept of it, if it may be changed."""
        if self._opened.amode & REAL.MODE_RDONLY:
            raise REAL.Exception(REAL.ERR_READ_ONLY)
        return self._opened

    # ---- positions

    @call
    def Seek(self, offset: int, whence: int = REAL.SEEK_SET) -> None:
        """Move the processor's own position."""
        opened = self._opened
        opened.position = self._sought(offset, whence, opened.position)

    @call
    def Seek_shared(self, offset: int, whence: int = REAL.SEEK_SET) -> None:
        """Move the position of all, as all others do."""
        opened = self._opened
        met = opened.meet("Seek_shared", [offset, whence])
        if any(given != met.given[0] for given in met.given):
            raise REAL.Exception(REAL.ERR_NOT_SAME)
        opened.meet("Seek_shared", [self._sought(offset, whence, met.pointer)], SET)

    def _sought(self, offset: int, whence: int, current: int) -> int:
        """Find the position that is meant; `ERR_ARG` if it is before the file."""
        opened = self._opened
        position = as_int(offset)
        if whence == REAL.SEEK_CUR:
            position += current
        elif whence == REAL.SEEK_END:
            position += opened.view.position_at(opened.file_size())
        elif whence != REAL.SEEK_SET:
            raise REAL.Exception(REAL.ERR_ARG)
        return not_negative(position, REAL.ERR_ARG)

    def Get_position(self) -> int:
        """The processor's own position."""
        return self._opened.position

    @call
    def Get_position_shared(self) -> int:
        """The position of all."""
        return running.world.filing.advance(self._opened.name, 0)

    def Get_byte_offset(self, offset: int) -> int:
        """The byte of the file at a position."""
        return self._opened.view.at(not_negative(offset, REAL.ERR_ARG))

    # ---- views

    @call
    def Set_view(
        self,
        disp: int = 0,
        etype: Any = REAL.BYTE,
        filetype: Any = None,
        datarep: str = "native",
        info: Any = REAL.INFO_NULL,
    ) -> None:
        """Say which bytes the processor sees, as all others do; positions are at the beginning.

        Parameters
        ----------
        disp : int
            Bytes before the first copy of the file's type.
        etype : Datatype
            What positions count.
        filetype : Datatype, optional
            Which bytes of each copy are seen (default: all of an element).
        datarep : str
            How elements are represented: as in memory.
        info : Info
            Hints.
        """
        opened = self._opened
        filetype = etype if filetype is None else filetype
        if disp == REAL.DISPLACEMENT_CURRENT and opened.amode & REAL.MODE_SEQUENTIAL:
            disp = opened.view.at(self.Get_position_shared())
        if datarep not in REPRESENTATIONS:
            raise REAL.Exception(REAL.ERR_UNSUPPORTED_DATAREP)
        if disp < 0 or not etype.size or filetype.size % etype.size:
            raise REAL.Exception(REAL.ERR_ARG)
        view = View(as_int(disp), etype, filetype, datarep)
        opened.meet("Set_view", [0], SET)
        opened.view, opened.position = view, 0
        if info:
            self.Set_info(info)

    def Get_view(self) -> tuple[int, Any, Any, str]:
        """Return what `Set_view` has said."""
        view = self._opened.view
        types = (kind if kind.is_predefined else kind.Dup() for kind in (view.etype, view.filetype))
        return view.displacement, *types, view.datarep

    def Get_type_extent(self, datatype: Any) -> int:
        """Bytes of an element in the file, with its gaps."""
        self._opened  # noqa: B018  (of the null file there are none)
        return int(datatype.extent)

    # ---- consistency

    @call
    def Sync(self) -> None:
        """Bring what was written to the device, as all others do."""
        opened = self._opened
        opened.meet("Sync")
        descriptor = opened.descriptor
        if descriptor.written:
            descriptor.written = False
            with of_system():
                os.fsync(descriptor.number)

    @call
    def Set_atomicity(self, flag: bool) -> None:
        """Ask for accesses that are atomic, as all others do; here they are in any case."""
        opened = self._opened
        met = opened.meet("Set_atomicity", [bool(flag)])
        if any(given != met.given[0] for given in met.given):
            raise REAL.Exception(REAL.ERR_NOT_SAME)
        opened.atomic = bool(flag)

    def Get_atomicity(self) -> bool:
        """Tell if accesses were asked to be atomic."""
        return self._opened.atomic

    atomicity = property(Get_atomicity, Set_atomicity)

    # ---- what it tells

    group_size = property(lambda self: len(self._group.members))
    group_rank = property(lambda self: self.rank)

    def Get_amode(self) -> int:
        """Return what may be done with it."""
        return self._opened.amode

    amode = property(Get_amode)

    @property
    def _hinted(self) -> CommState:
        self._opened  # noqa: B018  (the null file has an error handler, and no hints)
        return self._state


def _opening(comm: Intracomm, path: str, amode: int) -> Opened:
    """Return what a member keeps of a file that a communicator's members are to open.

    They number their files, and agree on its name without a message.
    """
    here, contexts = running.turns.current, running.world.contexts
    kept = here.storage()
    key = OPENED, comm._context
    number = kept[key] = kept.get(key, 0) + 1
    # The name follows from the communicator and a count, so members need no message to agree. They
    # all open files in one order.
    known, _ = contexts.name(comm._context)
    name = (known, here.id if known == SELF else -1, "file", number)
    context = contexts.open(name, lambda: (fixed(comm._group),), here.id)
    return Opened(name, contexts.scope(context, here.id), path, amode)


def _known_mode(amode: int) -> int:
    """Return what may be done with a file.

    Raises
    ------
    Exception
        ``ERR_AMODE``: it is contradictory.
    """
    reads_only = amode & REAL.MODE_RDONLY and amode & (REAL.MODE_CREATE | REAL.MODE_EXCL)
    sequence = amode & REAL.MODE_RDWR and amode & REAL.MODE_SEQUENTIAL
    if sum(bool(amode & mode) for mode in ACCESS_MODES) != 1 or reads_only or sequence:
        raise REAL.Exception(REAL.ERR_AMODE)
    return amode
