"""Epochs: a window's calls that say when accesses may begin, and when they are done."""

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
    """Epochs, as `mpi4py.MPI.Win` has them."""

    __slots__ = ()

    # ---- of all members

    @call
    def Fence(self, assertion: int = 0) -> None:
        """Wait until all members have called, and all accesses before are done."""
        member = self._member
        member.require(member.is_idle)
        # A barrier alone is not enough: its messages may take shorter ways and overtake accesses
        # that are still in flight.
        member.origin.finish(member.origin.touched)
        Collective.of(self, "Win.Fence").barrier()
        if member.exposure.touches is not None:
            member.exposure.touches.close_all(member.fence)
        # The count is the epoch's number. The target needs it to tell accesses of two fences apart
        # that it sees side by side.
        member.fence += 1
        member.fenced = not assertion & REAL.MODE_NOSUCCEED

    # ---- of some members with some others

    @call
    def Start(self, group: Group, assertion: int = 0) -> None:
        """Begin to access the memory of a group, whose members let the caller by `Post`."""
        member = self._member
        member.require(member.started is None and not member.locks and not member.locks_all)
        ranks = self._ranks_of(group)
        member.started = ranks
        # The script vouches that the targets have posted. Then no notice was sent, and waiting for
        # one would be for ever.
        if assertion & REAL.MODE_NOCHECK:
            return
        origin = member.origin
        # Notices may be of a later epoch of the same target. So they are counted and not only
        # noted.
        while missing := [rank for rank in ranks if origin.posted[rank] <= 0]:
            origin.awaited = self._awaited(missing[0], "Post")
            running.turns.wait(origin.awaited)
        origin.posted -= Counter(ranks)

    @call
    def Complete(self) -> None:
        """Access the group's memory no longer."""
        member = self._member
        member.require(member.started is not None)
        ranks, member.started = member.started or (), None
        member.origin.finish(ranks, local=True)
        for rank in ranks:
            member.origin.wish(rank, COMPLETE)
            # The completion travels behind the accesses in the same line, so the target itself
            # keeps the order. No flush is needed.
            member.origin.done(rank)

    @call
    def Post(self, group: Group, assertion: int = 0) -> None:
        """Let a group access the caller's memory."""
        member = self._member
        member.require(member.posted is None)
        member.posted = self._ranks_of(group)
        if not assertion & REAL.MODE_NOCHECK:
            for rank in member.posted:
                member.origin.expose(rank)

    @call
    def Wait(self) -> bool:
        """Wait until all of the group have completed their accesses."""
        exposure = self._member.exposure
        while missing := self._missing():
            exposure.awaited = self._awaited(missing[0], "Complete")
            running.turns.wait(exposure.awaited)
        self._end_exposure()
        return True

    @call
    def Test(self) -> bool:
        """Tell if all of the group have completed their accesses, after the next step at most."""
        if self._missing():
            running.turns.poll()
            if self._missing():
                return False
        self._end_exposure()
        return True

    def _awaited(self, rank: int, verb: str) -> Awaited:
        """The event of another member's call."""
        return Awaited(running.turns.current, f"rank {{rank}} to call {verb}", rank, self._context)

    def _missing(self) -> list[int]:
        """Ranks that have not completed the accesses that the caller lets them make."""
        member = self._member
        member.require(member.posted is not None)
        completed = member.exposure.completed
        return [rank for rank in member.posted or () if completed[rank] <= 0]

    def _end_exposure(self) -> None:
        """Let nobody access the caller's memory any more."""
        member = self._member
        member.exposure.completed -= Counter(member.posted)
        member.posted = None
        if member.exposure.touches is not None:
            member.exposure.touches.close_all(STARTED)

    def _ranks_of(self, group: Group) -> tuple[int, ...]:
        """The ranks of a group's members in the window.

        Raises
        ------
        Exception
            ``ERR_RMA_SYNC``: somebody is no member of it.
        """
        ranks = tuple(self._group.rank_of(processor) for processor in group._all.members)
        if any(rank < 0 for rank in ranks):
            raise REAL.Exception(REAL.ERR_RMA_SYNC)
        return ranks

    # ---- of one member with a target that does nothing for it

    @call
    def Lock(self, rank: int, lock_type: int = REAL.LOCK_EXCLUSIVE, assertion: int = 0) -> None:
        """Wait for a member's lock, and begin to access its memory."""
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
        """Wait until all accesses to a member's memory are done, and give its lock back."""
        member = self._member
        member.require_rank(rank)
        if rank != PROC_NULL:
            member.require(rank in member.locks and not member.locks_all)
            member.unlock([rank])

    @call
    def Lock_all(self, assertion: int = 0) -> None:
        """Begin to access all members' memory; the lock of each is asked for with the first access.

        The caller's own is had at once, since it may load and store there without a call.
        """
        member = self._member
        member.require(member.started is None and not member.locks and not member.locks_all)
        member.lock(member.rank, False)
        member.locks_all = True

    @call
    def Unlock_all(self) -> None:
        """Wait until all accesses are done, and give the locks back."""
        member = self._member
        member.require(member.locks_all)
        member.locks_all = False
        member.unlock(sorted(member.locks))

    @call
    def Flush(self, rank: int) -> None:
        """Wait until all accesses to a member's memory are done."""
        self._flush([rank])

    @call
    def Flush_all(self) -> None:
        """Wait until all accesses are done."""
        self._flush(sorted(self._member.origin.touched))

    @call
    def Flush_local(self, rank: int) -> None:
        """Wait until the memory that accesses to a member's use may be used again."""
        self._flush([rank], local=True)

    @call
    def Flush_local_all(self) -> None:
        """Wait until the memory that accesses use may be used again."""
        self._flush(sorted(self._member.origin.touched), local=True)

    @call
    def Sync(self) -> None:
        """See what others have stored; lets them run."""
        self._member.breathe()

    def _flush(self, ranks: Sequence[int], local: bool = False) -> None:
        """Wait until accesses to some members' memory are done."""
        member = self._member
        for rank in ranks:
            member.require_rank(rank)
        member.require(bool(member.locks) or member.locks_all)
        known = [rank for rank in ranks if rank != PROC_NULL]
        if not member.origin.finish(known, local):
            member.breathe()
