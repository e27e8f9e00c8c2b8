"""A window as one of its members has it, whichever of its faces a script uses."""

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
"""Most bytes of memory that are looked at for changes where a processor asks again and again."""


class Member:
    """A window, as a member has it.

    Parameters
    ----------
    scope : Scope
        The window's members and its context.
    memory : ExposedMemory
        What the member exposes.
    sizes : ndarray of int64, shape (members, 2)
        Of every member the bytes that it exposes, and those of its unit.
    flavor : int
        How the window was made.
    given : object
        What the script has given as memory, which is to live as long.
    whole : buffer or None
        Of a shared window the memory of all members.
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
        """Number of fences that the member has passed."""
        self.fenced: bool = False
        """True if the last fence lets the member access other members' memories."""
        self.started: tuple[int, ...] | None = None
        """Ranks whose memory the member may access since `Start`; None outside of such an epoch."""
        self.posted: tuple[int, ...] | None = None
        """Ranks that may access the member's memory since `Post`; None outside of such an epoch."""
        self.locks: dict[int, bool] = {}
        """True for each locked rank whose lock the member holds alone."""
        self.locks_all: bool = False
        """True if the member has called `Lock_all`. It then asks for the lock of each rank that it
        accesses."""
        self._seen = -1
        self._syncs = 0
        running.mail.on_active(accesses, here.id, self._come)

    def _come(self, message: Message) -> None:
        """Take a message of another member's."""
        _, source, _, body, _ = message
        assert body is message[BODY]
        if isinstance(body, (Answer, Exposed)):
            self.origin.come(source, body)
        else:
            self.exposure.come(source, body)

    # ---- epochs

    def epoch_of(self, target: int) -> int:
        """The epoch in which a target may be accessed now.

        Raises
        ------
        Exception
            ``ERR_RMA_SYNC``: there is none.
        """
        # A lock goes before a fence: inside a lock epoch only the lock orders accesses.
        if target in self.locks:
            return LOCKED
        if self.locks_all:
            # `Lock_all` on a million members would send a million messages. A shared lock is asked
            # for only where something is accessed.
            self._lock_lazily(target)
            return LOCKED
        if self.started is not None and target in self.started:
            return STARTED
        if not self.fenced:
            raise REAL.Exception(REAL.ERR_RMA_SYNC)
        return self.fence

    def _lock_lazily(self, target: int) -> None:
        """Want the lock of a target; what is sent to it then waits there for that."""
        self.locks[target] = False
        self.origin.wish(target, LOCK)

    def lock(self, target: int, exclusive: bool) -> None:
        """Wait for the lock of a target."""
        event = self.origin.wish(target, LOCK, "give its lock", exclusive)
        assert event is not None
        self.origin.wait_for([event])
        self.locks[target] = exclusive

    def unlock(self, targets: list[int]) -> None:
        """Give locks back when all accesses to their memories are done."""
        origin = self.origin
        events = []
        for target in targets:
            # Where nothing is open the unlock needs no answer. That saves a message and a round
            # trip per epoch.
            answered = "answer" if origin.unanswered(target) else ""
            event = origin.wish(target, UNLOCK, answered)
            origin.done(target)
            del self.locks[target]
            events += [] if event is None else [event]
        waited = origin.wait_for(events)
        waited = origin.finish(targets, local=True) or waited
        # The caller may loop over lock and unlock until another member has stored something. It
        # must not keep that member from its turn.
        if not waited:
            self.breathe()

    def require(self, possible: bool) -> None:
        """Raise an error unless the window is in an epoch that a call is for.

        Raises
        ------
        Exception
            ``ERR_RMA_SYNC``: it is not.
        """
        if not possible:
            raise REAL.Exception(REAL.ERR_RMA_SYNC)

    @property
    def is_idle(self) -> bool:
        """True if neither locks nor beginnings are open."""
        return not (self.locks or self.locks_all or self.started or self.posted)

    # ---- turns

    def breathe(self) -> None:
        """Let others run: the caller may wait for what they do to its memory.

        Nothing but its memory tells whether it waits in vain; so it does where nothing there has
        changed since it called last.
        """
        turns = running.turns
        seen = self._signature()
        # Nothing has changed since the last call, so this is a poll. Only then may the run conclude
        # that the caller waits in vain.
        if seen == self._seen:
            turns.poll()
            return
        self._seen = seen
        # A change of memory is progress that no message shows. It counts like a message to oneself.
        running.mail.to_self += 1
        self._syncs += 1
        if self._syncs % POLLS_A_ROUND == 0:
            turns.poll()

    def _signature(self) -> int:
        """A number that is another one where memory has changed; always, where it is large."""
        memory = self.whole
        # A checksum of large memory at each call would cost more than the call. Then every call
        # counts as progress.
        if memory is None or memory.nbytes > WATCHED:
            return self._seen + 1
        return zlib.crc32(memory)

    # ---- whom it accesses

    def require_rank(self, target: int) -> None:
        """Raise an error unless a rank is one of a member, or of nobody.

        Raises
        ------
        Exception
            ``ERR_RANK``: it is none.
        """
        if target != PROC_NULL and not 0 <= target < len(self.members):
            raise REAL.Exception(REAL.ERR_RANK)
