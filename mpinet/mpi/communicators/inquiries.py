"""The calls that ask a communicator something, or note something on it, without a message."""

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
"""The names that communicators have from the beginning."""


class MembersAndHints(Endpoint):
    """The members of something that several processors have, and the hints that scripts give it."""

    __slots__ = ()

    def Get_group(self) -> Group:
        """The members."""
        return Group._of_table(self._group)

    group = property(Get_group)

    @property
    def _hinted(self) -> CommState:
        """State that has the hints."""
        return self._state

    def Get_info(self) -> Any:
        """The hints that it has been given."""
        hints = self._hinted.info
        return REAL.Info.Create() if hints is None else hints.Dup()

    def Set_info(self, info: Any) -> None:
        """Give it hints; the machine takes none of them."""
        self._hinted.info = info.Dup() if info else None

    info = property(Get_info, Set_info)


class Labels(MembersAndHints):
    """A name for something that several processors have."""

    __slots__ = ()

    def Get_name(self) -> str:
        """Return the name."""
        raise NotImplementedError

    def Set_name(self, name: str) -> None:
        """Give it a name for the caller."""
        self._state.name = name[: REAL.MAX_OBJECT_NAME - 1]

    @property
    def name(self) -> str:
        """Return the name."""
        return self.Get_name()

    @name.setter
    def name(self, value: str) -> None:
        self.Set_name(value)


class Inquiries(Labels):
    """Rank, size, group, name, hints and kind of a communicator, as `mpi4py.MPI.Comm` has them."""

    __slots__ = ()

    def Get_rank(self) -> int:
        """The caller's rank."""
        return self.rank

    def Get_size(self) -> int:
        """Members."""
        return self.size

    def Compare(self, comm: Inquiries) -> int:
        """Compare it with another one: `IDENT`, `CONGRUENT`, `SIMILAR` or `UNEQUAL`."""
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
        """Tell if its messages go to another group."""
        return self._others is not self._group

    def Is_intra(self) -> bool:
        """Tell if its messages stay within its group."""
        return not self.Is_inter()

    def Get_topology(self) -> int:
        """`CART`, `GRAPH` or `DIST_GRAPH`; `UNDEFINED` if its members are not arranged."""
        topology = self._state.topology
        return UNDEFINED if topology is None else int(topology.kind)

    is_inter = property(Is_inter)
    is_intra = property(Is_intra)
    topology = property(Get_topology)

    @property
    def is_topo(self) -> bool:
        """True if its members are arranged."""
        return self.Get_topology() != UNDEFINED

    # ---- name

    def Get_name(self) -> str:
        """Return the name."""
        return self._state.name or NAMES.get(constant_of(self._name_of_context), "")

    @property
    def _name_of_context(self) -> Any:
        """The same for all members, different from all other communicators'."""
        return running.world.contexts.name(self._context)[0]
