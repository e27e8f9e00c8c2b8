"""Epochs: a window's calls that begin and complete accesses."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mpinet.mpi.collectives.algorithms import Collective
from mpinet.mpi.communicators.groups import Group
from mpinet.mpi.real import PROC_NULL, REAL
from mpinet.mpi.windows.accesses import COMPLETE, STARTED
from mpinet.mpi.windows.transfers import Transfers
from mpinet.mpi.world.calls import call, running
from mpinet.mpi.world.events import Awaited


class Synchronization(Transfers):
    """Synchronization calls, as in `mpi4py.MPI.Win`."""

    __slots__ = ()

    # ---- all members

    @call
    def Fence(self, assertion: int = 0) -> None:
        """Wait until all members have called and all earlier accesses are done."""
        member = self._member
        member.require(member.is_idle)
        # A barrier alone is not sufficient: its messages may take shorter routes and overtake
        # accesses in flight.
        member.origin.finish(member.origin.touched)
        Collective.of(self, "Win.Fence").barrier()
        if member.exposure.touches is not None:
            member.exposure.touches.close_all(member.fence)
        # The count is the epoch's number. The target uses it to separate accesses of different
        # fences.
        member.fence += 1
        member.fenced = not assertion & REAL.MODE_NOSUCCEED

    # ---- groups of origins and targets

    @call
    def Start(self, group: Group, assertion: int = 0) -> None:
        """Begin an access epoch to a group, whose members must call `Post`."""
        member = self._member
        member.require(member.started is None and not member.locks and not member.locks_all)
        ranks = self._ranks_of(group)
        member.started = ranks
        # The script guarantees that the targets have posted. Then the targets send no notice, and a
        # wait would never end.
        if assertion & REAL.MODE_NOCHECK:
            return
        origin = member.origin
        # A notice may be for a later epoch of the same target. Notices are therefore counted.
        while missing := [rank for rank in ranks if origin.posted[rank] <= 0]:
            origin.awaited = self._awaited(missing[0], "Post")
            running.turns.wait(origin.awaited)
        origin.posted -= Counter(ranks)

    @call
    def Complete(self) -> None:
        """End the access epoch begun by `Start`."""
        member = self._member
        member.require(member.started is not None)
        ranks, member.started = member.started or (), None
        member.origin.finish(ranks, local=True)
        for rank in ranks:
            member.origin.wish(rank, COMPLETE)
            # The completion follows the accesses in the same queue, therefore the target itself
            # keeps the order. No flush is needed.
            member.origin.done(rank)

    @call
    def Post(self, group: Group, assertion: int = 0) -> None:
        """Begin an exposure epoch for a group."""
        member = self._member
        member.require(member.posted is None)
        member.posted = self._ranks_of(group)
        if not assertion & REAL.MODE_NOCHECK:
            for rank in member.posted:
                member.origin.expose(rank)

    @call
    def Wait(self) -> bool:
        """Wait until all members of the group have completed their accesses."""
        exposure = self._member.exposure
        while missing := self._missing():
            exposure.awaited = self._awaited(missing[0], "Complete")
            running.turns.wait(exposure.awaited)
        self._end_exposure()
        return True

    @call
    def Test(self) -> bool:
        """Return whether all members of the group have completed, after at most one step."""
        if self._missing():
            running.turns.poll()
            if self._missing():
                return False
        self._end_exposure()
        return True

    def _awaited(self, rank: int, verb: str) -> Awaited:
        """Return an event for another member's call."""
        return Awaited(running.turns.current, f"rank {{rank}} to call {verb}", rank, self._context)

    def _missing(self) -> list[int]:
        """Return the origin ranks of the exposure epoch that have not completed their accesses."""
        member = self._member
        member.require(member.posted is not None)
        completed = member.exposure.completed
        return [rank for rank in member.posted or () if completed[rank] <= 0]

    def _end_exposure(self) -> None:
        """End the exposure epoch begun by `Post`."""
        member = self._member
        member.exposure.completed -= Counter(member.posted)
        member.posted = None
        if member.exposure.touches is not None:
            member.exposure.touches.close_all(STARTED)

    def _ranks_of(self, group: Group) -> tuple[int, ...]:
        """Return the ranks in the window of a group's members.

        Raises
        ------
        Exception
            ``ERR_RMA_SYNC``: a processor of the group is not a member of the window.
        """
        ranks = tuple(self._group.rank_of(processor) for processor in group._all.members)
        if any(rank < 0 for rank in ranks):
            raise REAL.Exception(REAL.ERR_RMA_SYNC)
        return ranks

    # ---- passive targets

    @call
    def Lock(self, rank: int, lock_type: int = REAL.LOCK_EXCLUSIVE, assertion: int = 0) -> None:
        """Wait for a member's lock, and begin an access epoch."""
        member = self._member
        member.require_rank(rank)
        if rank == PROC_NULL:
            return
        if lock_type not in (REAL.LOCK_EXCLUSIVE, REAL.LOCK_SHARED):
            raise REAL.Exception(REAL.ERR_LOCKTYPE)
        member.require(member.started is None and not member.locks_all and rank not in member.locks)
        member.lock(rank, lock_type == REAL.LOCK_EXCLUSIVE)

    @call
    def Unlock(self, rank: int) -> None:
        """Wait until all accesses to a member are done, and release its lock."""
        member = self._member
        member.require_rank(rank)
        if rank != PROC_NULL:
            member.require(rank in member.locks and not member.locks_all)
            member.unlock([rank])

    @call
    def Lock_all(self, assertion: int = 0) -> None:
        """Begin accesses to all members; each lock is requested at the first access.

        The caller's own lock is acquired at once, because its own loads and stores need no call.
        """
        member = self._member
        member.require(member.started is None and not member.locks and not member.locks_all)
        member.lock(member.rank, False)
        member.locks_all = True

    @call
    def Unlock_all(self) -> None:
        """Wait until all accesses are done, and release all locks."""
        member = self._member
        member.require(member.locks_all)
        member.locks_all = False
        member.unlock(sorted(member.locks))

    @call
    def Flush(self, rank: int) -> None:
        """Wait until all accesses to a member are done."""
        self._flush([rank])

    @call
    def Flush_all(self) -> None:
        """Wait until all accesses are done at all targets."""
        self._flush(sorted(self._member.origin.touched))

    @call
    def Flush_local(self, rank: int) -> None:
        """Wait until the origin buffers of accesses to a member can be reused."""
        self._flush([rank], local=True)

    @call
    def Flush_local_all(self) -> None:
        """Wait until the origin buffers of all accesses can be reused."""
        self._flush(sorted(self._member.origin.touched), local=True)

    @call
    def Sync(self) -> None:
        """Synchronize memory; gives turns to other processors."""
        self._member.breathe()

    def _flush(self, ranks: Sequence[int], local: bool = False) -> None:
        """Wait until accesses to some members are done."""
        member = self._member
        for rank in ranks:
            member.require_rank(rank)
        member.require(bool(member.locks) or member.locks_all)
        known = [rank for rank in ranks if rank != PROC_NULL]
        if not member.origin.finish(known, local):
            member.breathe()
