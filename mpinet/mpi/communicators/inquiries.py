"""Local calls that query a communicator or store values on it, without messages."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from typing import Any

from mpinet.mpi.communicators.groups import Group
from mpinet.mpi.real import REAL, UNDEFINED
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.contexts import SELF, WORLD, constant_of
from mpinet.mpi.world.endpoint import CommState, Endpoint
from mpinet.mpi.world.ranks import compare

NAMES = {WORLD: "MPI_COMM_WORLD", SELF: "MPI_COMM_SELF"}
"""Names of the predefined communicators."""


class MembersAndHints(Endpoint):
    """Members and hints of a communicator, window or file."""

    __slots__ = ()

    def Get_group(self) -> Group:
        """Return the group of members."""
        return Group._of_table(self._group)

    group = property(Get_group)

    @property
    def _hinted(self) -> CommState:
        """State that contains the info hints."""
        return self._state

    def Get_info(self) -> Any:
        """Return a copy of the info hints."""
        hints = self._hinted.info
        return REAL.Info.Create() if hints is None else hints.Dup()

    def Set_info(self, info: Any) -> None:
        """Set info hints; the machine ignores all hints."""
        self._hinted.info = info.Dup() if info else None

    info = property(Get_info, Set_info)


class Labels(MembersAndHints):
    """Name calls of a communicator or window."""

    __slots__ = ()

    def Get_name(self) -> str:
        """Return the name of the object."""
        raise NotImplementedError

    def Set_name(self, name: str) -> None:
        """Set the name of the object for the caller."""
        self._state.name = name[: REAL.MAX_OBJECT_NAME - 1]

    @property
    def name(self) -> str:
        """Name of the object."""
        return self.Get_name()

    @name.setter
    def name(self, value: str) -> None:
        self.Set_name(value)


class Inquiries(Labels):
    """Rank, size, group, name, hints and kind of a communicator, as in `mpi4py.MPI.Comm`."""

    __slots__ = ()

    def Get_rank(self) -> int:
        """Return the caller's rank."""
        return self.rank

    def Get_size(self) -> int:
        """Return the number of members."""
        return self.size

    def Compare(self, comm: Inquiries) -> int:
        """Compare with another communicator: `IDENT`, `CONGRUENT`, `SIMILAR` or `UNEQUAL`."""
        if self._context == comm._context:
            return int(REAL.IDENT)
        if self.Is_inter() != comm.Is_inter():
            return int(REAL.UNEQUAL)
        found = {compare(self._group, comm._group), compare(self._others, comm._others)}
        if REAL.UNEQUAL in found:
            return int(REAL.UNEQUAL)
        return int(REAL.SIMILAR if REAL.SIMILAR in found else REAL.CONGRUENT)

    # ---- kind

    def Is_inter(self) -> bool:
        """Return whether this is an intercommunicator."""
        return self._others is not self._group

    def Is_intra(self) -> bool:
        """Return whether this is an intracommunicator."""
        return not self.Is_inter()

    def Get_topology(self) -> int:
        """Return `CART`, `GRAPH` or `DIST_GRAPH`; `UNDEFINED` without a topology."""
        topology = self._state.topology
        return UNDEFINED if topology is None else int(topology.kind)

    is_inter = property(Is_inter)
    is_intra = property(Is_intra)
    topology = property(Get_topology)

    @property
    def is_topo(self) -> bool:
        """True if the communicator has a topology."""
        return self.Get_topology() != UNDEFINED

    # ---- name

    def Get_name(self) -> str:
        """Return the communicator's name."""
        return self._state.name or NAMES.get(constant_of(self._name_of_context), "")

    @property
    def _name_of_context(self) -> Any:
        """Name of the context, equal for all members and unique."""
        return running.world.contexts.name(self._context)[0]
