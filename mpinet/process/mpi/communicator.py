"""Communicators as scripts see them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from mpinet.process.mpi.calls import running
from mpinet.process.mpi.collectives import Collectives
from mpinet.process.mpi.contexts import SELF, WORLD
from mpinet.process.mpi.groups import Group
from mpinet.process.mpi.membership import Membership
from mpinet.process.mpi.objects import ObjectMessages
from mpinet.process.mpi.real import REAL


class Comm(ObjectMessages, Membership, REAL.Comm):  # type: ignore[misc]
    """A communicator, as `mpi4py.MPI.Comm`.

    The real communicator below it is that of this process alone: it serves mpi4py's packing and
    nothing else.
    """

    def __new__(cls, comm: Comm | None = None) -> Comm:
        """The null communicator, or another face of a communicator."""
        if comm is None or comm.is_null:
            null: Comm = REAL.Comm.__new__(cls)
            return null
        return opened(cls, comm._name_of_context, comm._group, comm._others)

    @property
    def is_null(self) -> bool:
        """Whether it is no communicator (any more)."""
        return not REAL.Comm.__bool__(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Comm):
            return NotImplemented
        if self.is_null or other.is_null:
            return self.is_null and other.is_null
        return self._context == other._context

    def __hash__(self) -> int:
        return hash(None if self.is_null else self._context)

    def Get_rank(self) -> int:  # noqa: N802
        """The caller's rank."""
        return self.rank

    def Get_size(self) -> int:  # noqa: N802
        """Members."""
        return self.size


class Intracomm(Collectives, Comm):
    """A communicator within a group, as `mpi4py.MPI.Intracomm`."""


class Everyone(Intracomm):
    """The world: a processor's rank is its number."""

    @property
    def rank(self) -> int:
        """The caller's rank."""
        return running.world.current.id


class Alone(Intracomm):
    """The communicator of every processor alone, one face for all."""

    @property
    def _group(self) -> Group:  # type: ignore[override]
        """The caller."""
        return Group((running.world.current.id,))

    _others = _group

    @property
    def rank(self) -> int:
        """The caller's rank."""
        return 0

    @property
    def size(self) -> int:
        """Members."""
        return 1


def opened(cls: type[Any], name: Hashable, group: Group, others: Group | None = None) -> Any:
    """A face of a communicator for the running processor."""
    comm = REAL.Comm.__new__(cls, REAL.COMM_SELF)
    comm._name_of_context = name
    comm._group = group
    comm._others = others or group
    comm._context = running.world.contexts.open(name, comm._others.members)
    return comm


def whole() -> Everyone:
    """The communicator of all processors."""
    world: Everyone = opened(Everyone, WORLD, Group(range(running.world.size)))
    return world


def own() -> Alone:
    """The communicator of every processor alone."""
    alone: Alone = REAL.Comm.__new__(Alone, REAL.COMM_SELF)
    alone._name_of_context = SELF
    alone._context = running.world.contexts.number((SELF, 0))
    return alone
