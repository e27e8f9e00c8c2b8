"""Sessions: handles with which a part of a script initializes MPI, and their process sets.

All calls are local. The name of a process set yields a group, and `Intracomm.Create_from_group`
creates a communicator of the group.
"""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from typing import Any

from mpinet.mpi.communicators.errhandlers import Errhandler, ErrorHandling
from mpinet.mpi.communicators.groups import Group, callers_world
from mpinet.mpi.constants import NamedNumber, instance_of
from mpinet.mpi.messages.bsend_buffers import SESSIONS, Buffered
from mpinet.mpi.real import REAL, as_int
from mpinet.mpi.world.calls import asking
from mpinet.mpi.world.endpoint import CommState
from mpinet.mpi.world.ranks import RankTable, rank_table

SETS = ("mpi://WORLD", "mpi://SELF")
"""Names of the process sets of every session."""


class Session(Buffered, ErrorHandling, NamedNumber, REAL.Session):  # type: ignore[misc]
    """A session, as `mpi4py.MPI.Session`.

    The underlying real session is always the null session.
    """

    _null = "SESSION_NULL"

    _number: int

    def __new__(cls, session: Session | None = None) -> Session:
        """Create the null session, or another object for a session."""
        return cls._of(0 if session is None else instance_of(Session, session)._number)

    @classmethod
    def _of(cls, number: int) -> Session:
        made: Session = REAL.Session.__new__(cls)
        made._number = number
        return made

    @classmethod
    def fromhandle(cls, handle: int) -> Session:
        """Return the session with a number."""
        return cls._of(handle)

    @property
    def handle(self) -> int:
        """Number of the session on this processor; 0 for the null session."""
        return self._number

    @property
    def _meaning(self) -> int | None:
        return self._number or None

    @property
    def _state(self) -> CommState:
        """Hints and error handler of the session.

        Raises
        ------
        Exception
            ``ERR_SESSION``: the session is null or finalized.
        """
        state: CommState | None = asking("Session").storage().get((Session, self._number))
        if state is None:
            raise REAL.Exception(REAL.ERR_SESSION)
        return state

    # ---- begin and end

    @classmethod
    def Init(cls, info: Any = REAL.INFO_NULL, errhandler: Errhandler | None = None) -> Session:
        """Create a new session."""
        kept = asking("Session").storage()
        number = kept[Session] = kept.get(Session, 0) + 1
        state = kept[Session, number] = CommState()
        state.info = info.Dup() if info else None
        made = cls._of(number)
        if errhandler:
            made.Set_errhandler(errhandler)
        return made

    def Finalize(self) -> None:
        """Finalize the session; it becomes null."""
        if self._state:
            del asking("Session").storage()[Session, self._number]
        self._number = 0

    def free(self) -> None:
        """Finalize the session unless it is null."""
        if self:
            self.Finalize()

    def Get_info(self) -> Any:
        """Return a copy of the session's hints."""
        hints = self._state.info
        return REAL.Info.Create() if hints is None else hints.Dup()

    # ---- process sets

    def Get_num_psets(self, info: Any = REAL.INFO_NULL) -> int:
        """Return the number of process sets."""
        return len(SETS) if self._state else 0

    def Get_nth_pset(self, n: int, info: Any = REAL.INFO_NULL) -> str:
        """Return the name of a process set."""
        if not 0 <= as_int(n) < self.Get_num_psets():
            raise REAL.Exception(REAL.ERR_ARG)
        return SETS[as_int(n)]

    def Get_pset_info(self, pset_name: str) -> Any:
        """Return the hints of a process set: its size."""
        found = REAL.Info.Create()
        found.Set("mpi_size", str(len(self._members(pset_name).members)))
        return found

    def Create_group(self, pset_name: str) -> Group:
        """Return the group of a process set."""
        return Group._of_table(self._members(pset_name))

    def _members(self, name: str) -> RankTable:
        """Return the members of a process set; `ERR_ARG` for an unknown name."""
        if name not in SETS or not self._state:
            raise REAL.Exception(REAL.ERR_ARG)
        if name == SETS[0]:
            return callers_world()
        return rank_table([asking("Session").id])

    # ---- buffers for buffered sends

    @property
    def _place(self) -> int:
        """Stands for a context in the storage key of the attached buffer."""
        return SESSIONS - self._number if self._state else 0
