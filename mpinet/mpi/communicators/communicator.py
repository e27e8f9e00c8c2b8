"""Communicators for scripts: `Comm`, `Intracomm`, `Intercomm`, and their constructors.

A communicator consists of a group and a context, which separates its messages from others. An
intercommunicator has a local and a remote group. The base classes in other files define most calls.
The constructors (`Dup`, `Split`, `Create` and more) create the three classes from one another,
therefore the classes share this long file.
"""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from hashlib import sha256
from threading import Lock
from typing import Any, NoReturn

from mpinet.mpi.collectives import Collectives
from mpinet.mpi.collectives.intercomm_algorithms import InterCollectives
from mpinet.mpi.communicators.attributes import Attributes
from mpinet.mpi.communicators.context_ids import (
    agreed_and_gathered,
    agreed_id,
    agreement,
    next_agreement,
)
from mpinet.mpi.communicators.creation import (
    bind,
    comm_object,
    constant,
    new_comm,
    new_comm_for_member,
    null_comm,
    with_hints,
)
from mpinet.mpi.communicators.errhandlers import Errhandler, ErrorHandling
from mpinet.mpi.communicators.fault_tolerance import FaultTolerance
from mpinet.mpi.communicators.groups import Caller, Group
from mpinet.mpi.communicators.inquiries import Inquiries
from mpinet.mpi.communicators.intercommunicator import (
    Leaders,
    agreed_between_groups,
    agreed_over_bridge,
    local_context_name,
    sides_of,
    split_group,
    split_groups,
)
from mpinet.mpi.communicators.spawning import PARENT, Joining, joined
from mpinet.mpi.communicators.virtual_topologies import KINDS, TopologyCreation
from mpinet.mpi.constants import NamedNumber, instance_of, serialized
from mpinet.mpi.messages.bsend_buffers import Attached, AttachedBuffers
from mpinet.mpi.messages.matched_probes import Probes
from mpinet.mpi.messages.memory import BufferMessages
from mpinet.mpi.messages.objects import ObjectMessages
from mpinet.mpi.messages.persistent import PartitionedMessages
from mpinet.mpi.messages.requests import Request
from mpinet.mpi.real import REAL, UNDEFINED, as_int
from mpinet.mpi.world.calls import call, on_behalf_of, running
from mpinet.mpi.world.contexts import (
    AGREEMENTS,
    COLLECTIVES,
    GROUPS,
    NOWHERE,
    PAIRS,
    SELF,
    TAG_LIMIT,
    WORLD,
    Scope,
    constant_of,
)
from mpinet.mpi.world.endpoint import CommState
from mpinet.mpi.world.failure import Aborted
from mpinet.mpi.world.host import host
from mpinet.mpi.world.processor import Processor
from mpinet.mpi.world.ranks import RankTable, rank_table

CONSTANTS = {WORLD: "COMM_WORLD", SELF: "COMM_SELF"}
"""Predefined communicators, by context."""

PKL5 = "pkl5"
"""Storage key, together with a context, for the hidden communicator of pkl5's messages."""

RESOURCE, SHARED_MEMORY = "mpi_hw_resource_type", "mpi_shared_memory"
"""Info key for the hardware resource of a split, and the resource type available on every
machine.
"""


class Comm(
    ObjectMessages,
    BufferMessages,
    PartitionedMessages,
    Probes,
    AttachedBuffers,
    Inquiries,
    Attributes,
    ErrorHandling,
    FaultTolerance,
    Collectives,
    NamedNumber,
    REAL.Comm,  # type: ignore[misc]
):
    """A communicator, as `mpi4py.MPI.Comm`.

    The underlying real communicator contains only this process and serves only mpi4py's packing.
    """

    __slots__ = ("_constant", "_holder", "_scope")

    _null, _unknown = "COMM_NULL", REAL.ERR_COMM

    _constant: bool
    _holder: Processor | None

    def __new__(cls, comm: Comm | None = None) -> Comm:
        """Create the null communicator, or another object for a communicator."""
        if comm is None or not instance_of(Comm, comm):
            null: Comm = REAL.Comm.__new__(cls)
            null._scope = NOWHERE
            null._holder = None
            return null
        cls._require(comm)
        one: Comm = comm_object(cls, comm._context)
        return one

    @classmethod
    def _require(cls, comm: Comm) -> None:
        """Raise an error unless this class can represent a communicator."""

    @property
    def _meaning(self) -> int | None:
        return None if self._scope is NOWHERE else self._context

    @classmethod
    def _of(cls, context: int) -> Any:
        return known_as(context)

    def __reduce__(self) -> Any:
        if not self:
            return super().__reduce__()
        return serialized(self, CONSTANTS.get(constant_of(self._name_of_context), ""))

    def Get_name(self) -> str:
        """Return the communicator's name."""
        return super().Get_name() if self else "MPI_COMM_NULL"

    # ---- derived communicators

    @call
    def Dup(self, info: Any = None) -> Any:
        """Return a communicator of the same members, with copied attributes."""
        return self.Dup_with_info(info or self._state.info)

    @call
    def Dup_with_info(self, info: Any) -> Any:
        """Return a communicator of the same members, with hints."""
        made = self._duplicate()
        made.Set_info(info)
        return made

    @call
    def Clone(self) -> Any:
        """Return a communicator of the same members."""
        return self._duplicate()

    @call
    def Idup(self, info: Any = None) -> tuple[Any, Request]:
        """Begin to create a communicator of the same members."""
        made = null_comm(type(self))
        # The number of the agreement is assigned now, and the fiber sends the messages. Later calls
        # must not use the same number.
        name, groups, holding = self._naming(), self._groups(), CommState()
        self._inherit(holding)
        hints = info or self._state.info
        holding.info = hints.Dup() if hints else None

        def work() -> None:
            bind(made, name(), lambda: groups)
            running.turns.current.storage()[made._context] = holding

        return made, Request._of_fiber(work)

    @call
    def Idup_with_info(self, info: Any) -> tuple[Any, Request]:
        """Begin to create a communicator of the same members, with hints."""
        return self.Idup(info)

    def _duplicate(self) -> Any:
        """Return a communicator of the same members."""
        made = new_comm(type(self), self._naming()(), self._groups)
        self._inherit(made._state)
        return made

    def _naming(self) -> Callable[[], Hashable]:
        """Begin the next agreement on a name; return a function that completes it."""
        part = next_agreement(self)
        return lambda: (*agreed_id(part), 0)

    def _groups(self) -> tuple[RankTable, ...]:
        """Return the group, or both groups of an intercommunicator."""
        groups: tuple[RankTable, ...] = running.world.contexts.shared(self._context).groups
        return groups

    def _inherit(self, holding: CommState) -> None:
        """Copy topology, error handler and attributes to a duplicate."""
        holding.topology = self._state.topology
        holding.errhandler = self._state.errhandler
        self._copy_to(holding)

    @call
    def Create(self, group: Group) -> Any:
        """Return a communicator of a group of members; COMM_NULL for all other members."""
        members = group._all
        name = (
            *agreed_id(next_agreement(self)),
            members.members[0] if members.members else UNDEFINED,
        )
        return new_comm_for_member(Intracomm, name, members)

    @call
    def Split(self, color: int = 0, key: int = 0) -> Any:
        """Return a communicator of the members with the same color, ordered by key.

        Parameters
        ----------
        color : int
            0 or more; `UNDEFINED` for COMM_NULL.
        key : int
            Order of the members; members with the same key keep their order.
        """
        color = _known_color(color)
        # Members without a color also take part, because no member knows the colors before the
        # gather.
        agreed, rows = agreed_and_gathered(next_agreement(self), (color, as_int(key)))
        if color == UNDEFINED:
            return Intracomm()
        group = self._group
        return new_comm(Intracomm, (*agreed, color), lambda: (split_group(group, rows, color),))

    @call
    def Split_type(self, split_type: int, key: int = 0, info: Any = REAL.INFO_NULL) -> Any:
        """Return a communicator of the members that share a hardware resource, ordered by key.

        Members share memory if their ranks are on the same host, as for `Win.Allocate_shared`.
        Other resources are unknown, and their split returns COMM_NULL.
        """
        if not self._shares_memory(split_type, info):
            return self.Split(UNDEFINED, key)
        # Hosts have no agreed numbers. A hash of the host's identity gives all its ranks the same
        # color.
        return self.Split(int(sha256(host().encode()).hexdigest()[:7], 16), key)

    def _shares_memory(self, split_type: int, info: Any) -> bool:
        """Return whether a call splits by shared memory; raise `ERR_ARG` for an unknown type."""
        guided = (REAL.COMM_TYPE_HW_GUIDED, REAL.COMM_TYPE_RESOURCE_GUIDED)
        known = (*guided, REAL.COMM_TYPE_SHARED, REAL.COMM_TYPE_HW_UNGUIDED, UNDEFINED)
        if split_type not in known:
            raise REAL.Exception(REAL.ERR_ARG)
        if split_type in guided:
            return bool(info) and info.Get(RESOURCE) == SHARED_MEMORY
        return bool(split_type == REAL.COMM_TYPE_SHARED)

    # ---- end

    def Free(self) -> None:
        """Free the communicator; it becomes COMM_NULL. The call is local and sends no message."""
        with on_behalf_of(self._holder):
            self._free()

    def _free(self) -> None:
        """Free the communicator on the running processor."""
        context, here = self._context, running.turns.current
        contexts = running.world.contexts
        constant = constant_of(self._name_of_context) in CONSTANTS
        if constant or not contexts.held(context, here.id):
            raise REAL.Exception(REAL.ERR_COMM)
        # Before the context is closed: delete functions of attributes get the communicator and may
        # still use it.
        self._delete_all()
        contexts.close(context, here.id)
        kept = here.storage()
        # Only this communicator owns pkl5's hidden communicator, which would otherwise stay until
        # the end of the run.
        companion = kept.pop((PKL5, context), None)
        if companion is not None:
            companion[0].Free()
        running.world.collectives.end(here, context + COLLECTIVES)
        for key in (context, (Attached, context), (Lock, context)):
            kept.pop(key, None)
        self._scope = NOWHERE

    Disconnect = Free

    def free(self) -> None:
        """Free the communicator unless it is predefined."""
        if not self or self._constant:
            return
        if constant_of(self._name_of_context) in CONSTANTS:
            self._scope = NOWHERE
        else:
            self.Free()

    @call
    def Abort(self, errorcode: int = 0) -> NoReturn:
        """End the run of all processors."""
        running.turns.stop(Aborted(as_int(errorcode)))

    @classmethod
    def Get_parent(cls) -> Intercomm:
        """Return the intercommunicator with the caller's parents; COMM_NULL without parents."""
        here = running.turns.current
        context = here.storage().get(PARENT)
        if context is None or not running.world.contexts.held(context, here.id):
            return Intercomm()
        parents: Intercomm = comm_object(Intercomm, context)
        return parents

    @classmethod
    @call
    def Join(cls, fd: int) -> Intercomm:
        """Return an intercommunicator with the processor at the other end of a socket.

        COMM_NULL if the socket has no addresses.
        """
        return joined(own(), as_int(fd)) or Intercomm()


class Intracomm(TopologyCreation, Joining, Comm):
    """A communicator with a single group, as `mpi4py.MPI.Intracomm`."""

    __slots__ = ()

    @classmethod
    def _require(cls, comm: Comm) -> None:
        if comm.Is_inter():
            raise TypeError("expecting an intracommunicator")

    @call
    def Create_group(self, group: Group, tag: int = 0) -> Any:
        """Return a communicator of a group of members; only these members call.

        Parameters
        ----------
        group : Group
            The group.
        tag : int
            Distinguishes calls of overlapping groups.
        """
        members = group._all
        if members.rank_of(running.turns.current.id) == UNDEFINED:
            return Intracomm()
        part = agreement(members, self._context + GROUPS, tag)
        return new_comm(Intracomm, (*agreed_id(part), 0), lambda: (members,))

    @classmethod
    @call
    def Create_from_group(
        cls,
        group: Group,
        stringtag: str = "org.mpi4py",
        info: Any = REAL.INFO_NULL,
        errhandler: Errhandler | None = None,
    ) -> Any:
        """Return a communicator of a group; only its members call.

        Parameters
        ----------
        group : Group
            The group.
        stringtag : str
            Distinguishes calls of overlapping groups.
        info : Info
            Hints.
        errhandler : Errhandler, optional
            The communicator's error handler.
        """
        members = group._all
        place = running.world.contexts.number((("groups", stringtag), PAIRS))
        name = (*agreed_id(agreement(members, place + AGREEMENTS, 0)), 0)
        return with_hints(new_comm(Intracomm, name, lambda: (members,)), info, errhandler)

    @call
    def Create_intercomm(
        self, local_leader: int, peer_comm: Intracomm, remote_leader: int, tag: int = 0
    ) -> Any:
        """Return an intercommunicator between the members of this communicator and of another.

        Parameters
        ----------
        local_leader : int
            Rank of the leader in this communicator.
        peer_comm : Intracomm
            A communicator of both leaders; only leaders need it.
        remote_leader : int
            Rank of the remote leader in `peer_comm`.
        tag : int
            Distinguishes several such calls between the same leaders.
        """
        self._others.processor(local_leader)
        agreed, sides = agreed_over_bridge(self, local_leader, peer_comm, remote_leader, tag)
        return new_comm(Intercomm, (*agreed, 0), lambda: sides_of(self._group, sides))


class Intercomm(Leaders, InterCollectives, Comm):
    """A communicator between two groups, as `mpi4py.MPI.Intercomm`."""

    __slots__ = ()

    @classmethod
    def _require(cls, comm: Comm) -> None:
        if not comm.Is_inter():
            raise TypeError("expecting an intercommunicator")

    @classmethod
    @call
    def Create_from_groups(
        cls,
        local_group: Group,
        local_leader: int,
        remote_group: Group,
        remote_leader: int,
        stringtag: str = "org.mpi4py",
        info: Any = REAL.INFO_NULL,
        errhandler: Errhandler | None = None,
    ) -> Any:
        """Return an intercommunicator between two groups; only their members call.

        Parameters
        ----------
        local_group, remote_group : Group
            The caller's group and the remote group.
        local_leader, remote_leader : int
            Ranks of the leaders in their groups.
        stringtag : str
            Distinguishes calls of overlapping groups.
        info : Info
            Hints.
        errhandler : Errhandler, optional
            The communicator's error handler.
        """
        local, remote = local_group._all, remote_group._all
        place = running.world.contexts.number((("two groups", stringtag), PAIRS))
        agreed = agreed_between_groups(local, local_leader, remote, remote_leader, place)
        first = agreed[0] == local.members[local_leader]
        sides = (local, remote) if first else (remote, local)
        return with_hints(new_comm(Intercomm, (*agreed, 0), lambda: sides), info, errhandler)

    @call
    def Merge(self, high: bool = False) -> Any:
        """Return an intracommunicator of both groups.

        Parameters
        ----------
        high : bool
            Whether the caller's group comes last. If both groups pass the same value, the
            intercommunicator's first group comes first.
        """
        agreed, (one, other) = self._agreed((bool(high),), of_all=False)
        # Both sides may pass the same value. Then the known order of the intercommunicator decides,
        # as MPI leaves the order open.
        first, last = self._sides if one[0] <= other[0] else self._sides[::-1]
        return new_comm(
            Intracomm, (*agreed, 0), lambda: (rank_table([*first.members, *last.members]),)
        )

    @call
    def Create(self, group: Group) -> Any:
        """Return an intercommunicator between subgroups of both groups; COMM_NULL elsewhere."""
        agreed, sides = self._agreed(group._all.members, of_all=False)
        return self._between((*agreed, 0), tuple(rank_table(side.tolist()) for side in sides))

    @call
    def Split(self, color: int = 0, key: int = 0) -> Any:
        """Return an intercommunicator of members of both groups with the same color, by key.

        Parameters
        ----------
        color : int
            0 or more; `UNDEFINED` for COMM_NULL.
        key : int
            Order of the members; members with the same key keep their order.
        """
        color = _known_color(color)
        agreed, rows = self._agreed((color, as_int(key)))
        if color == UNDEFINED:
            return Intercomm()
        return self._between((*agreed, color), split_groups(self._sides, rows, color))

    def _naming(self) -> Callable[[], Hashable]:
        agree = self._agreeing((), of_all=False)
        return lambda: (*agree()[0], 0)

    def _between(self, name: Sequence[int], sides: tuple[RankTable, ...]) -> Any:
        """Return an intercommunicator of two groups; COMM_NULL for others or an empty group."""
        here = running.turns.current.id
        if not all(side.members for side in sides):
            return Intercomm()
        if all(side.rank_of(here) == UNDEFINED for side in sides):
            return Intercomm()
        return new_comm(Intercomm, name, lambda: sides)

    @property
    def _local(self) -> Intracomm:
        name = local_context_name(self._name_of_context, self._first)
        local: Intracomm = comm_object(Intracomm, running.world.contexts.number((name, PAIRS)))
        return local

    def _free(self) -> None:
        # Looked up before the intercommunicator is freed, because its name derives from the
        # intercommunicator's name.
        local = self._local
        super()._free()
        local.Free()


Joining._between = Intercomm
FaultTolerance._kinds = Intracomm, Intercomm


def known_as(context: int) -> Any:
    """Return the running processor's communicator of a context, in its specific class."""
    comm = comm_object(Comm, context)
    if comm.Is_inter():
        return comm_object(Intercomm, context)
    return comm_object(KINDS.get(comm.topology, Intracomm), context)


def _known_color(color: int) -> int:
    """Return the color of a split after checking it.

    Raises
    ------
    Exception
        ``ERR_ARG``: the color is negative.
    """
    color = as_int(color)
    if color < 0 and color != UNDEFINED:
        raise REAL.Exception(REAL.ERR_ARG)
    return color


def whole() -> Intracomm:
    """Return the communicator of all processors."""
    contexts = running.world.contexts
    world: Intracomm = constant(Intracomm, WORLD, lambda: (contexts.world,))
    if contexts.spare:
        # With spawned processors there are several worlds, while scripts of a rank share one
        # `COMM_WORLD` object. Therefore the object looks up the caller's world.
        world._scope = CallersWorld()
    return world


class CallersWorld(Scope):
    """Scope of the caller's world, used if there are several worlds."""

    __slots__ = ()

    tags: Any = TAG_LIMIT

    def __init__(self) -> None:
        pass

    @property
    def context(self) -> int:  # type: ignore[override]
        """Number, on this rank, of the context of the caller's world."""
        return running.world.contexts.world_of(running.turns.current.id)

    @property
    def group(self) -> RankTable:  # type: ignore[override]
        """Members of the caller's world."""
        return running.world.contexts.shared(self.context).groups[0]

    others = group


def own() -> Intracomm:
    """Return the communicator of each processor alone, one object for all processors."""
    alone: Intracomm = constant(Intracomm, SELF, lambda: (Caller(),))
    return alone
