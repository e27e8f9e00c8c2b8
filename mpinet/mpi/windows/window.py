"""Windows for scripts: `Win`, its creation, end and inquiries."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.mpi.collectives.algorithms import Collective
from mpinet.mpi.communicators.attributes import Attributes
from mpinet.mpi.communicators.communicator import Intracomm, own
from mpinet.mpi.communicators.context_ids import agreed_and_gathered, next_agreement
from mpinet.mpi.communicators.errhandlers import ErrorHandling
from mpinet.mpi.communicators.groups import fixed
from mpinet.mpi.communicators.inquiries import Labels
from mpinet.mpi.constants import NamedNumber, instance_of
from mpinet.mpi.real import PROC_NULL, REAL, as_int, not_negative
from mpinet.mpi.windows.exposure import ExposedMemory
from mpinet.mpi.windows.member import Member
from mpinet.mpi.windows.segments import shared_segment
from mpinet.mpi.windows.synchronization import Synchronization
from mpinet.mpi.world.calls import call, running
from mpinet.mpi.world.contexts import COLLECTIVES, ONE_SIDED, Nowhere

NONCONTIGUOUS = "alloc_shared_noncontig"
"""Info key: the members' parts of shared memory need not be contiguous."""

LINE = 64
"""Alignment of noncontiguous parts of shared memory, in bytes."""

TOO_MUCH = 1 << 63
"""Size in bytes that exceeds any address space."""


NO_WINDOW = Nowhere(REAL.ERR_WIN)


class Win(Labels, Attributes, ErrorHandling, Synchronization, NamedNumber, np.ndarray):
    """Memory exposed to members of a communicator, as `mpi4py.MPI.Win`.

    A window is an array of the caller's exposed bytes and supports the buffer protocol, as in
    mpi4py.
    """

    __slots__ = ("_holding", "_scope")

    _null, _unknown = "WIN_NULL", REAL.ERR_WIN

    _holding: Member | None

    def __new__(cls, win: Win | None = None) -> Win:
        """Create the null window, or another object for a window."""
        if win is None or not instance_of(Win, win):
            return cls._of(None)
        return cls._of(win._holding)

    @classmethod
    def _of(cls, member: Member | None) -> Win:
        """Return an object for a window of the running processor."""
        memory = None if member is None else member.memory.memory
        # The array shares the memory and owns none. Every object of a window must show the same
        # bytes.
        exposed = np.zeros(0, np.uint8) if not memory else np.frombuffer(memory, np.uint8)
        made: Win = np.ndarray.__new__(cls, len(exposed), np.uint8, exposed)
        made._holding, made._scope = member, NO_WINDOW if member is None else member.scope
        return made

    @property
    def _meaning(self) -> Member | None:
        return self._holding

    __repr__ = object.__repr__
    __str__ = object.__str__
    # The array's methods would compare and copy memory. Without the copy methods, `copy` acts like
    # pickle.
    __lt__ = __le__ = __gt__ = __ge__ = vars(object)["__lt__"]
    __copy__ = __deepcopy__ = None  # type: ignore[assignment]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__reduce__()

    @property
    def _member(self) -> Member:
        if self._holding is None:
            raise REAL.Exception(REAL.ERR_WIN)
        return self._holding

    # ---- creation

    @classmethod
    @call
    def Create(
        cls,
        memory: Any,
        disp_unit: int = 1,
        info: Any = REAL.INFO_NULL,
        comm: Intracomm | None = None,
    ) -> Any:
        """Expose the caller's memory to the members of a communicator.

        Parameters
        ----------
        memory : buffer or None
            The memory.
        disp_unit : int
            Displacement unit in bytes.
        info : Info
            Hints.
        comm : Intracomm, optional
            The communicator, whose members all call (default: the caller alone).
        """
        nothing = memory is None or memory is REAL.BOTTOM
        exposed = REAL.buffer.frombuffer(bytearray() if nothing else memory, False)
        made = WindowCreation(comm, disp_unit, exposed.nbytes)
        return made.window(cls, exposed, REAL.WIN_FLAVOR_CREATE, info, given=memory)

    @classmethod
    @call
    def Allocate(
        cls,
        size: int,
        disp_unit: int = 1,
        info: Any = REAL.INFO_NULL,
        comm: Intracomm | None = None,
    ) -> Any:
        """Allocate memory of the caller and expose it to the members of a communicator.

        Parameters
        ----------
        size : int
            Size in bytes.
        disp_unit, info, comm
            As for `Create`.
        """
        made = WindowCreation(comm, disp_unit, not_negative(size, REAL.ERR_SIZE))
        exposed = REAL.buffer.frombuffer(np.zeros(size, np.uint8), False)
        return made.window(cls, exposed, REAL.WIN_FLAVOR_ALLOCATE, info)

    @classmethod
    @call
    def Allocate_shared(
        cls,
        size: int,
        disp_unit: int = 1,
        info: Any = REAL.INFO_NULL,
        comm: Intracomm | None = None,
    ) -> Any:
        """Allocate memory shared by all members of a communicator for loads and stores.

        Loads and stores are not messages. The members' parts follow one another by rank.

        Parameters
        ----------
        size : int
            Size of the caller's part in bytes.
        disp_unit, info, comm
            As for `Create`.
        """
        made = WindowCreation(comm, disp_unit, not_negative(size, REAL.ERR_SIZE))
        lengths = made.sizes[:, 0]
        # Summed as Python integers: in int64 the sum of such lengths could wrap around and look
        # small.
        if sum(lengths.tolist()) >= TOO_MUCH:
            raise REAL.Exception(REAL.ERR_SIZE)
        if info and info.Get(NONCONTIGUOUS) == "true":
            # Parts on separate cache lines: the hint allows gaps, and real libraries use gaps
            # against false sharing.
            lengths = -(-lengths // LINE) * LINE
        ends = np.cumsum(lengths)
        segment = shared_segment(made.part(), int(ends[-1]))
        begins = (ends - lengths).tolist()
        parts = [
            segment[begin : begin + int(length)]
            for begin, length in zip(begins, made.sizes[:, 0], strict=True)
        ]
        exposed = REAL.buffer.frombuffer(parts[made.rank], False)
        return made.window(cls, exposed, REAL.WIN_FLAVOR_SHARED, info, given=parts, whole=segment)

    @classmethod
    @call
    def Create_dynamic(cls, info: Any = REAL.INFO_NULL, comm: Intracomm | None = None) -> Any:
        """Create a window for memory attached later, which members access by addresses.

        Parameters
        ----------
        info, comm
            As for `Create`.
        """
        return WindowCreation(comm, 1, 0).window(cls, None, REAL.WIN_FLAVOR_DYNAMIC, info)

    def Attach(self, memory: Any) -> None:
        """Expose further memory of a dynamic window, by its address."""
        region = REAL.buffer.frombuffer(memory, False)
        self._dynamic()[region.address] = region

    def Detach(self, memory: Any) -> None:
        """Stop exposing attached memory of a dynamic window."""
        address = REAL.buffer.frombuffer(memory, False).address
        if self._dynamic().pop(address, None) is None:
            raise REAL.Exception(REAL.ERR_RMA_ATTACH)

    def _dynamic(self) -> dict[int, Any]:
        """Return the attached memory of a dynamic window by address."""
        member = self._member
        if member.flavor != REAL.WIN_FLAVOR_DYNAMIC:
            raise REAL.Exception(REAL.ERR_RMA_FLAVOR)
        return member.memory.attached

    def Shared_query(self, rank: int) -> tuple[Any, int]:
        """Return a member's memory for the caller's loads and stores, and its displacement unit.

        Parameters
        ----------
        rank : int
            The member's rank; `PROC_NULL` for the lowest member with memory.
        """
        member = self._member
        member.require_rank(rank)
        if rank == PROC_NULL:
            rank = next((each for each, row in enumerate(member.sizes) if row[0]), 0)
        unit = int(member.sizes[rank][1])
        if member.flavor == REAL.WIN_FLAVOR_SHARED:
            return REAL.buffer.frombuffer(member.given[rank], False), unit
        if rank == member.rank and member.memory.memory is not None:
            return member.memory.memory, unit
        return REAL.buffer.fromaddress(0, 0), unit

    # ---- end

    @call
    def Free(self) -> None:
        """Free the window after all members have called; it becomes WIN_NULL."""
        member, context = self._member, self._context
        here = running.turns.current
        member.require(member.is_idle)
        # Freeing is collective, and a member may leave at once. An access in flight would find no
        # window at its target.
        member.origin.finish(member.origin.touched)
        Collective.of(self, "Win.Free").barrier()
        self._delete_all()
        # After the barrier no access is in flight. A remaining handler would keep the memory alive.
        running.mail.on_active(context + ONE_SIDED, here.id, None)
        running.world.one_sided.locks.pop((context + ONE_SIDED, here.id), None)
        running.world.contexts.close(context, here.id)
        running.world.collectives.end(here, context + COLLECTIVES)
        here.storage().pop(context, None)
        self._scope, self._holding = NO_WINDOW, None

    def free(self) -> None:
        """Free the window unless it is null."""
        if self:
            self.Free()

    # ---- inquiries

    def Get_name(self) -> str:
        """Return the window's name."""
        return self._state.name if self else "MPI_WIN_NULL"

    group_size = property(lambda self: len(self._group.members))
    group_rank = property(lambda self: self.rank)

    def tomemory(self) -> Any:
        """Return the caller's exposed memory."""
        memory = self._member.memory.memory
        return REAL.buffer.fromaddress(0, 0) if memory is None else memory[:]

    @property
    def attrs(self) -> tuple[int, int, int]:
        """Address of the memory, its size, and the displacement unit, both in bytes."""
        memory = self._member.memory
        if not memory.memory:
            return 0, 0, memory.unit
        return memory.memory.address, memory.memory.nbytes, memory.unit

    @property
    def flavor(self) -> int:
        """Kind of call that created the window."""
        return int(self._member.flavor)

    @property
    def model(self) -> int:
        """Unified memory model: accesses and the caller's loads and stores use the same memory."""
        return int(REAL.WIN_UNIFIED)

    def _known(self) -> dict[int, Any]:
        address, nbytes, unit = self.attrs
        return {
            REAL.WIN_BASE: address,
            REAL.WIN_SIZE: nbytes,
            REAL.WIN_DISP_UNIT: unit,
            REAL.WIN_CREATE_FLAVOR: self.flavor,
            REAL.WIN_MODEL: self.model,
        }


class WindowCreation:
    """A call that creates a window, from the view of a member.

    The members agree on a name and exchange the sizes of their memories. An access beyond a
    target's memory then fails at its origin.

    Parameters
    ----------
    comm : Intracomm or None
        The communicator; None for the caller alone.
    unit : int
        Displacement unit in bytes.
    nbytes : int
        Size of the caller's exposed memory in bytes.
    """

    sizes: Ints
    """Size of each member's exposed memory and displacement unit, in bytes. Shape (members, 2)."""

    def __init__(self, comm: Intracomm | None, unit: int, nbytes: int):
        self._comm: Any = own() if comm is None else instance_of(Intracomm, comm)
        self._unit = as_int(unit)
        if self._unit <= 0:
            raise REAL.Exception(REAL.ERR_DISP)
        self.rank: int = self._comm.rank
        """Rank of the caller."""
        agreed, self.sizes = agreed_and_gathered(next_agreement(self._comm), (nbytes, self._unit))
        self._name = (*agreed, "window")

    def part(self) -> Collective:
        """Return a new collective call of the members, for further agreements."""
        return next_agreement(self._comm)

    def window(
        self,
        cls: type[Win],
        exposed: Any,
        flavor: int,
        info: Any,
        given: Any = None,
        whole: Any = None,
    ) -> Win:
        """Create and return the window.

        Parameters
        ----------
        cls : type
            Class of the window.
        exposed : buffer or None
            The caller's exposed memory.
        flavor : int
            Kind of creation call.
        info : Info
            Hints.
        given : object
            Object kept alive as long as the window.
        whole : ndarray of uint8, optional
            Memory of all members.
        """
        here = running.turns.current
        contexts = running.world.contexts
        context = contexts.open(self._name, lambda: (fixed(self._comm._group),), here.id)
        scope = contexts.scope(context, here.id)
        member = Member(scope, ExposedMemory(exposed, self._unit), self.sizes, flavor, given, whole)
        made = cls._of(member)
        made.Set_info(info)
        return made
