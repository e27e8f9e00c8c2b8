"""Sessions: handles by which a part of a script begins with MPI, and its sets of processes.

All of it is local. A session leads by a set's name to a group, and `Intracomm.Create_from_group`
from there to a communicator.
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
"""Names of the sets that every session has."""


class Session(Buffered, ErrorHandling, NamedNumber, REAL.Session):  # type: ignore[misc]
    """A session, as `mpi4py.MPI.Session`.

    Nothing of it is known to the real one below it, which is always the null one.
    """

    _null = "SESSION_NULL"

    _number: int

    def __new__(cls, session: Session | None = None) -> Session:
        """The null session, or another face of a session."""
        return cls._of(0 if session is None else instance_of(Session, session)._number)

    @classmethod
    def _of(cls, number: int) -> Session:
        made: Session = REAL.Session.__new__(cls)
        made._number = number
        return made

    @classmethod
    def fromhandle(cls, handle: int) -> Session:
        """The session that a number stands for."""
        return cls._of(handle)

    @property
    def handle(self) -> int:
        """A number that stands for it on this processor; 0 for the null session."""
        return self._number

    @property
    def _meaning(self) -> int | None:
        return self._number or None

    @property
    def _state(self) -> CommState:
        """Hints and error handler.

        Raises
        ------
        Exception
            ``ERR_SESSION``: it is the null session, or one that is over.
        """
        state: CommState | None = asking("Session").storage().get((Session, self._number))
        if state is None:
            raise REAL.Exception(REAL.ERR_SESSION)
        return state

    # ---- beginning and end

    @classmethod
    def Init(cls, info: Any = REAL.INFO_NULL, errhandler: Errhandler | None = None) -> Session:
        """Begin a session."""
        kept = asking("Session").storage()
        number = kept[Session] = kept.get(Session, 0) + 1
        state = kept[Session, number] = CommState()
        state.info = info.Dup() if info else None
        made = cls._of(number)
        if errhandler:
            made.Set_errhandler(errhandler)
        return made

    def Finalize(self) -> None:
        """End it; it becomes the null session."""
        if self._state:
            del asking("Session").storage()[Session, self._number]
        self._number = 0

    def free(self) -> None:
        """End it, if it is not the null session."""
        if self:
            self.Finalize()

    def Get_info(self) -> Any:
        """The hints that it has been given."""
        hints = self._state.info
        return REAL.Info.Create() if hints is None else hints.Dup()

    # ---- sets of processes

    def Get_num_psets(self, info: Any = REAL.INFO_NULL) -> int:
        """Number of sets of processes."""
        return len(SETS) if self._state else 0

    def Get_nth_pset(self, n: int, info: Any = REAL.INFO_NULL) -> str:
        """Name of a set of processes."""
        if not 0 <= as_int(n) < self.Get_num_psets():
            raise REAL.Exception(REAL.ERR_ARG)
        return SETS[as_int(n)]

    def Get_pset_info(self, pset_name: str) -> Any:
        """Hints on a set: its size."""
        found = REAL.Info.Create()
        found.Set("mpi_size", str(len(self._members(pset_name).members)))
        return found

    def Create_group(self, pset_name: str) -> Group:
        """Return the group of a set."""
        return Group._of_table(self._members(pset_name))

    def _members(self, name: str) -> RankTable:
        """Members of a set; `ERR_ARG` if there is none of this name."""
        if name not in SETS or not self._state:
            raise REAL.Exception(REAL.ERR_ARG)
        if name == SETS[0]:
            return callers_world()
        return rank_table([asking("Session").id])

    # ---- memory for buffered sends

    @property
    def _place(self) -> int:
        """Return what stands in place of a context under which memory is attached."""
        return SESSIONS - self._number if self._state else 0
