"""A member's state of a window, shared by all of its window objects."""

from __future__ import annotations

import zlib
from typing import Any

from mpinet.base.arrays import Ints
from mpinet.mpi.real import PROC_NULL, REAL
from mpinet.mpi.windows.accesses import LOCK, LOCKED, STARTED, UNLOCK, Answer, Exposed
from mpinet.mpi.windows.exposure import ExposedMemory, Exposure
from mpinet.mpi.windows.origin import Origin
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.contexts import ONE_SIDED, Scope
from mpinet.mpi.world.message import BODY, Message
from mpinet.mpi.world.turns import POLLS_A_ROUND

WATCHED = 1 << 16
"""Maximum size in bytes of memory checked for changes when a processor polls."""


class Member:
    """A member's state of a window.

    Parameters
    ----------
    scope : Scope
        The window's members and its context.
    memory : ExposedMemory
        The member's exposed memory.
    sizes : ndarray of int64, shape (members, 2)
        Size of the exposed memory and displacement unit of every member, in bytes.
    flavor : int
        Kind of creation call.
    given : object
        Memory object given by the script; kept alive as long as the window.
    whole : buffer or None
        The memory of all members of a shared window.
    """

    def __init__(
        self,
        scope: Scope,
        memory: ExposedMemory,
        sizes: Ints,
        flavor: int,
        given: Any = None,
        whole: Any = None,
    ):
        here = running.turns.current
        self.scope = scope
        self.rank = scope.group.rank_of(here.id)
        self.members = scope.group.members
        self.memory, self.sizes, self.flavor, self.given = memory, sizes, flavor, given
        self.whole = memory.memory if whole is None else whole
        accesses = scope.context + ONE_SIDED
        self.origin = Origin(accesses, self.rank, here.id, self.members)
        self.exposure = Exposure(accesses, self.rank, here.id, self.members, memory)
        self.fence: int = 0
        """Number of fences passed by the member."""
        self.fenced: bool = False
        """True if the last fence permits accesses to the memory of other members."""
        self.started: tuple[int, ...] | None = None
        """Target ranks of the access epoch since `Start`; None outside of such an epoch."""
        self.posted: tuple[int, ...] | None = None
        """Origin ranks of the exposure epoch since `Post`; None outside of such an epoch."""
        self.locks: dict[int, bool] = {}
        """By locked rank: True if the lock is exclusive."""
        self.locks_all: bool = False
        """True after `Lock_all`. The member then requests the lock of each rank at its first
        access.
        """
        self._seen = -1
        self._syncs = 0
        running.mail.on_active(accesses, here.id, self._come)

    def _come(self, message: Message) -> None:
        """Handle an access, request or answer of another member."""
        _, source, _, body, _ = message
        assert body is message[BODY]
        if isinstance(body, (Answer, Exposed)):
            self.origin.come(source, body)
        else:
            self.exposure.come(source, body)

    # ---- epochs

    def epoch_of(self, target: int) -> int:
        """Return the epoch in which a target may be accessed now.

        Raises
        ------
        Exception
            ``ERR_RMA_SYNC``: no such epoch is open.
        """
        # A lock takes precedence over a fence: inside a lock epoch only the lock orders accesses.
        if target in self.locks:
            return LOCKED
        if self.locks_all:
            # `Lock_all` on a million members would send a million messages. A shared lock is
            # requested only at the first access to a target.
            self._lock_lazily(target)
            return LOCKED
        if self.started is not None and target in self.started:
            return STARTED
        if not self.fenced:
            raise REAL.Exception(REAL.ERR_RMA_SYNC)
        return self.fence

    def _lock_lazily(self, target: int) -> None:
        """Request the lock of a target without waiting; later accesses wait there for the lock."""
        self.locks[target] = False
        self.origin.wish(target, LOCK)

    def lock(self, target: int, exclusive: bool) -> None:
        """Wait for the lock of a target."""
        event = self.origin.wish(target, LOCK, "give its lock", exclusive)
        assert event is not None
        self.origin.wait_for([event])
        self.locks[target] = exclusive

    def unlock(self, targets: list[int]) -> None:
        """Release locks after all accesses to their targets are done."""
        origin = self.origin
        events = []
        for target in targets:
            # Without open accesses the unlock needs no answer. This saves a message and a round
            # trip per epoch.
            answered = "answer" if origin.unanswered(target) else ""
            event = origin.wish(target, UNLOCK, answered)
            origin.done(target)
            del self.locks[target]
            events += [] if event is None else [event]
        waited = origin.wait_for(events)
        waited = origin.finish(targets, local=True) or waited
        # The caller may loop over lock and unlock until another member has stored a value. The loop
        # must not keep this member from its turn.
        if not waited:
            self.breathe()

    def require(self, possible: bool) -> None:
        """Raise an error unless a call is allowed in the window's current epoch.

        Raises
        ------
        Exception
            ``ERR_RMA_SYNC``: the call is not allowed.
        """
        if not possible:
            raise REAL.Exception(REAL.ERR_RMA_SYNC)

    @property
    def is_idle(self) -> bool:
        """True if no lock and no epoch is open."""
        return not (self.locks or self.locks_all or self.started or self.posted)

    # ---- turns

    def breathe(self) -> None:
        """Give turns to other processors, because the caller may wait for changes of its memory.

        Unchanged memory since the last call means that the caller polls in vain.
        """
        turns = running.turns
        seen = self._signature()
        # Nothing has changed since the last call, therefore this is a poll. Only then may the run
        # conclude that the caller waits in vain.
        if seen == self._seen:
            turns.poll()
            return
        self._seen = seen
        # A change of memory is progress without a message. It counts like a message to the same
        # processor.
        running.mail.to_self += 1
        self._syncs += 1
        if self._syncs % POLLS_A_ROUND == 0:
            turns.poll()

    def _signature(self) -> int:
        """Return a number that changes with the memory; large memory always counts as changed."""
        memory = self.whole
        # A checksum of large memory at each call would cost more than the call. Every call then
        # counts as progress.
        if memory is None or memory.nbytes > WATCHED:
            return self._seen + 1
        return zlib.crc32(memory)

    # ---- targets

    def require_rank(self, target: int) -> None:
        """Raise an error unless a rank is a member's rank or `PROC_NULL`.

        Raises
        ------
        Exception
            ``ERR_RANK``: the rank is neither.
        """
        if target != PROC_NULL and not 0 <= target < len(self.members):
            raise REAL.Exception(REAL.ERR_RANK)
