"""Files for scripts: `File`, its opening, closing and inquiries."""

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
"""Storage key for the error handler of FILE_NULL, the default for files opened later."""

OPENED = "files"
"""Storage key, together with a communicator's context, for the number of files opened there."""

END = 1 << 62
"""A byte position beyond any file."""

REPRESENTATIONS = ("native", "internal")
"""Supported data representations, as in memory."""


NO_FILE = Nowhere(REAL.ERR_FILE)


class File(Accesses, MembersAndHints, ErrorHandling, NamedNumber, REAL.File):  # type: ignore[misc]
    """A file opened by several processors together, as `mpi4py.MPI.File`.

    The underlying real file is always the null file.
    """

    _null, _unknown = "FILE_NULL", REAL.ERR_FILE

    _holding: Opened | None

    def __new__(cls, file: File | None = None) -> File:
        """Create the null file, or another object for a file."""
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
        """The running processor's state of the file; FILE_NULL has the defaults of new files."""
        kept = running.turns.current.storage()
        state: CommState = kept.setdefault(self._context if self else NULL, CommState())
        return state

    # ---- opening and closing

    @classmethod
    @call
    def Open(
        cls,
        comm: Intracomm,
        filename: Any,
        amode: int = REAL.MODE_RDONLY,
        info: Any = REAL.INFO_NULL,
    ) -> Any:
        """Open a file on all members of a communicator (collective).

        Parameters
        ----------
        comm : Intracomm
            The communicator.
        filename : str, bytes or path
            The file, a real one.
        amode : int
            Access mode.
        info : Info
            Hints.

        Raises
        ------
        Exception
            ``ERR_AMODE``, ``ERR_NO_SUCH_FILE``, ``ERR_ACCESS`` or another class: the file cannot be
            opened.
        """
        amode = _known_mode(as_int(amode))
        path = os.path.abspath(os.fsdecode(filename))
        opened = _opening(instance_of(Intracomm, comm), path, amode)
        flags = next(flag for mode, flag in ACCESS_MODES.items() if amode & mode)
        created = flags
        created |= os.O_CREAT if amode & REAL.MODE_CREATE else 0
        created |= os.O_EXCL if amode & REAL.MODE_EXCL else 0
        # Rank 0 creates the file alone. With `MODE_EXCL` all other ranks would find the file and
        # fail.
        number = opened.open(created) if opened.rank == 0 else 0
        # Two meetings: the remaining ranks may open the file only after rank 0 has created it, and
        # all ranks must learn of an error on any rank.
        first = opened.meet("Open", [number, amode]).given
        if any(given[1] != amode for given in first):
            number = -1
        elif opened.rank and not first[0][0]:
            number = opened.open(flags)
        numbers = [number for number, *_ in opened.meet("Open", [number]).given]
        if any(numbers):
            # A successful member must return its descriptor, because the call fails for all
            # members.
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
        """Close the file after all members have called; it becomes FILE_NULL."""
        opened = self._opened
        if opened.split is not None:
            raise REAL.Exception(REAL.ERR_OTHER)
        deleted = opened.amode & REAL.MODE_DELETE_ON_CLOSE
        # All members meet first: a member still writing through the rank's descriptor would lose
        # it.
        opened.meet("Close")
        opened.close()
        running.turns.current.storage().pop(self._context, None)
        running.world.contexts.close(self._context, running.turns.current.id)
        if deleted:
            # Deleted once, and after all members have closed it: some file systems keep busy files
            # under another name.
            opened.done_by_first("Close", lambda: os.unlink(opened.path))
        self._scope, self._holding = NO_FILE, None

    def free(self) -> None:
        """Close the file unless it is null."""
        if self:
            self.Close()

    @classmethod
    @call
    def Delete(cls, filename: Any, info: Any = REAL.INFO_NULL) -> None:
        """Delete a file."""
        path = os.path.abspath(os.fsdecode(filename))
        with of_system():
            running.world.filing.access(path, 0, END, True, lambda: os.unlink(path))

    # ---- size

    @call
    def Get_size(self) -> int:
        """Return the size of the file in bytes."""
        return self._opened.file_size()

    size = property(Get_size)

    @call
    def Set_size(self, size: int) -> None:
        """Truncate or extend the file (collective)."""
        size, opened = not_negative(size, REAL.ERR_ARG), self._writable()
        opened.done_by_first("Set_size", lambda: os.ftruncate(opened.descriptor.number, size))

    @call
    def Preallocate(self, size: int) -> None:
        """Extend the file to at least a given size (collective)."""
        size, opened = not_negative(size, REAL.ERR_ARG), self._writable()

        def grow() -> None:
            if size:
                os.posix_fallocate(opened.descriptor.number, 0, size)

        opened.done_by_first("Preallocate", grow)

    def _writable(self) -> Opened:
        """Return the state of a writable file."""
        if self._opened.amode & REAL.MODE_RDONLY:
            raise REAL.Exception(REAL.ERR_READ_ONLY)
        return self._opened

    # ---- file pointers

    @call
    def Seek(self, offset: int, whence: int = REAL.SEEK_SET) -> None:
        """Move the individual file pointer."""
        opened = self._opened
        opened.position = self._sought(offset, whence, opened.position)

    @call
    def Seek_shared(self, offset: int, whence: int = REAL.SEEK_SET) -> None:
        """Move the shared file pointer (collective)."""
        opened = self._opened
        met = opened.meet("Seek_shared", [offset, whence])
        if any(given != met.given[0] for given in met.given):
            raise REAL.Exception(REAL.ERR_NOT_SAME)
        opened.meet("Seek_shared", [self._sought(offset, whence, met.pointer)], SET)

    def _sought(self, offset: int, whence: int, current: int) -> int:
        """Return the requested position; `ERR_ARG` if it is before the file's begin."""
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
        """Return the individual file pointer."""
        return self._opened.position

    @call
    def Get_position_shared(self) -> int:
        """Return the shared file pointer."""
        return running.world.filing.advance(self._opened.name, 0)

    def Get_byte_offset(self, offset: int) -> int:
        """Return the byte of the file at a position."""
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
        """Set the view and reset the file pointers (collective).

        Parameters
        ----------
        disp : int
            Bytes before the first copy of the file type.
        etype : Datatype
            Unit of positions.
        filetype : Datatype, optional
            Visible bytes of each copy (default: all bytes of an element).
        datarep : str
            Data representation, as in memory.
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
        """Return the arguments of the last `Set_view`."""
        view = self._opened.view
        types = (kind if kind.is_predefined else kind.Dup() for kind in (view.etype, view.filetype))
        return view.displacement, *types, view.datarep

    def Get_type_extent(self, datatype: Any) -> int:
        """Return the extent of a datatype in the file, in bytes."""
        self._opened  # noqa: B018  (of the null file there are none)
        return int(datatype.extent)

    # ---- consistency

    @call
    def Sync(self) -> None:
        """Flush written data to the device (collective)."""
        opened = self._opened
        opened.meet("Sync")
        descriptor = opened.descriptor
        if descriptor.written:
            descriptor.written = False
            with of_system():
                os.fsync(descriptor.number)

    @call
    def Set_atomicity(self, flag: bool) -> None:
        """Request atomic accesses (collective); accesses are always atomic here."""
        opened = self._opened
        met = opened.meet("Set_atomicity", [bool(flag)])
        if any(given != met.given[0] for given in met.given):
            raise REAL.Exception(REAL.ERR_NOT_SAME)
        opened.atomic = bool(flag)

    def Get_atomicity(self) -> bool:
        """Return whether atomic accesses were requested."""
        return self._opened.atomic

    atomicity = property(Get_atomicity, Set_atomicity)

    # ---- inquiries

    group_size = property(lambda self: len(self._group.members))
    group_rank = property(lambda self: self.rank)

    def Get_amode(self) -> int:
        """Return the access mode."""
        return self._opened.amode

    amode = property(Get_amode)

    @property
    def _hinted(self) -> CommState:
        self._opened  # noqa: B018  (the null file has an error handler, and no hints)
        return self._state


def _opening(comm: Intracomm, path: str, amode: int) -> Opened:
    """Return the state of a file that a communicator's members are about to open.

    Members number their files and thereby agree on the file's name without a message.
    """
    here, contexts = running.turns.current, running.world.contexts
    kept = here.storage()
    key = OPENED, comm._context
    number = kept[key] = kept.get(key, 0) + 1
    # The name is derived from the communicator and a count, so members agree without a message. All
    # members open files in the same order.
    known, _ = contexts.name(comm._context)
    name = (known, here.id if known == SELF else -1, "file", number)
    context = contexts.open(name, lambda: (fixed(comm._group),), here.id)
    return Opened(name, contexts.scope(context, here.id), path, amode)


def _known_mode(amode: int) -> int:
    """Return an access mode after checking it.

    Raises
    ------
    Exception
        ``ERR_AMODE``: the mode is contradictory.
    """
    reads_only = amode & REAL.MODE_RDONLY and amode & (REAL.MODE_CREATE | REAL.MODE_EXCL)
    sequence = amode & REAL.MODE_RDWR and amode & REAL.MODE_SEQUENTIAL
    if sum(bool(amode & mode) for mode in ACCESS_MODES) != 1 or reads_only or sequence:
        raise REAL.Exception(REAL.ERR_AMODE)
    return amode
