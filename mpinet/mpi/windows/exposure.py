"""A member's side as a target: its memory, its lock, and what others' accesses do there."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

from mpinet.mpi.collectives.operators import PREDEFINED
from mpinet.mpi.messages.buffers import Buffer
from mpinet.mpi.messages.layouts import layout_of
from mpinet.mpi.real import REAL
from mpinet.mpi.windows.accesses import (
    COMBINE,
    COMPLETE,
    FETCH,
    LOCK,
    PUT,
    READS,
    SWAP,
    UNLOCK,
    Access,
    Answer,
    Wish,
    element,
    known,
)
from mpinet.mpi.windows.conflicts import Touches
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.events import Event


@dataclass(slots=True)
class OriginQueue:
    """Line of what has come from one origin, in the order in which it was made."""

    next: int = 1
    """Number of the next access or wish."""
    early: dict[int, Access | Wish] = field(default_factory=dict)
    """Accesses and wishes that came before their turns or wait for the lock, by their numbers."""
    error: int = 0
    """Error of an access since the last answer; 0 if no access has failed."""


class ExposedMemory:
    """Memory that a member exposes.

    Parameters
    ----------
    memory : buffer or None
        The memory; None: what is attached later, by addresses.
    unit : int
        Bytes of a displacement of 1.
    """

    def __init__(self, memory: Any, unit: int):
        self.memory = memory
        self.unit = unit
        self.attached: dict[int, Any] = {}

    def part(self, access: Access, datatype: Any) -> Buffer | None:
        """The elements that are accessed; None if they are not in the memory."""
        offset = access.displacement * self.unit
        if self.memory is not None:
            return Buffer.at(self.memory, offset, access.count, datatype)
        if not access.count:
            return Buffer.at(None, 0, 0, datatype)
        reach = layout_of(datatype).reach(access.count)
        for address, region in self.attached.items():
            inside = address <= offset + reach.low
            if inside and offset + reach.high <= address + region.nbytes:
                return Buffer.at(None, offset, access.count, datatype)
        return None


class Exposure:
    """Exposure of a member's memory: what others may do with it, and have done.

    Parameters
    ----------
    context : int
        The window's context, its part for accesses.
    rank, processor : int
        The member's rank, and who it is.
    members : sequence of int
        The members by rank.
    memory : ExposedMemory
        The memory.
    """

    def __init__(
        self, context: int, rank: int, processor: int, members: Any, memory: ExposedMemory
    ):
        self.memory = memory
        self.completed: Counter[int] = Counter()
        """Number of times that each origin has completed its accesses, less the completions waited
        for; by rank."""
        self.awaited: Event | None = None
        """Event that happens with one more completion; None if the member does not wait for
        that."""
        self.holders = running.world.one_sided.locks.setdefault((context, processor), {})
        self._context = context
        self._rank = rank
        self._processor = processor
        self._members = members
        self._waiting: deque[tuple[int, Wish]] = deque()
        self._lines: dict[int, OriginQueue] = {}
        owned = memory.memory
        self.touches: Touches | None = None if owned is None else Touches(processor, owned.nbytes)
        """Accesses that may still conflict; None for attached memory."""

    def come(self, origin: int, body: Access | Wish) -> None:
        """Do what an origin wants, as soon as all that it wanted before is done."""
        line = self._lines.get(origin)
        if line is None:
            line = self._lines[origin] = OriginQueue()
        # Accesses of one origin may overtake each other where a routing is adaptive. MPI wants
        # those to one target to act in their order.
        line.early[body.order] = body
        self._go_on(origin, line)

    def _go_on(self, origin: int, line: OriginQueue) -> None:
        """Do what is next in a line, up to a wish for a lock that others hold."""
        while (body := line.early.get(line.next)) is not None:
            # The line stops here, not its origin: accesses behind the lock wait at the target, so
            # the origin need not wait for the grant.
            if isinstance(body, Wish) and body.kind == LOCK and not self._lock(origin, body):
                return
            del line.early[line.next]
            line.next += 1
            if isinstance(body, Access):
                self._access(origin, line, body)
            else:
                self._grant(origin, line, body)

    def _grant(self, origin: int, line: OriginQueue, wish: Wish) -> None:
        """Do what an origin wants beside accesses."""
        if wish.kind == COMPLETE:
            self.completed[origin] += 1
            if self.awaited is not None:
                running.turns.happened(self.awaited)
                self.awaited = None
            return
        # A flush or an unlock tells the origin that all before is done. What it does later cannot
        # conflict with that.
        if wish.kind != LOCK and self.touches is not None:
            self.touches.close(origin)
        if wish.key:
            self._answer(origin, line, wish, b"")
        if wish.kind == UNLOCK:
            del self.holders[origin]
            self._pass_on()

    def _lock(self, origin: int, wish: Wish) -> bool:
        """Give an origin the lock if it can have it; else let it wait for it."""
        # Later bodies of the same origin look at the lock again. It is in the queue already and
        # keeps its place.
        if any(waiting == origin for waiting, _ in self._waiting):
            return False
        # Even a shared lock queues behind an exclusive one that waits. Otherwise a stream of
        # readers would starve the writer.
        if self._waiting or not self._free_for(wish):
            self._waiting.append((origin, wish))
            return False
        self.holders[origin] = wish.exclusive, wish.place
        return True

    def _free_for(self, wish: Wish) -> bool:
        """Tell if the lock can be had, as far as its holders go."""
        exclusive = any(alone for alone, _ in self.holders.values())
        return not exclusive and not (wish.exclusive and self.holders)

    def _pass_on(self) -> None:
        """Give the lock to those who wait for it, in their order, as far as it goes."""
        while self._waiting and self._free_for(self._waiting[0][1]):
            origin, _ = self._waiting.popleft()
            # The origin's line may unlock again and so pass the lock on while this loop runs. It
            # must not see a queue that is being taken apart.
            waiting, self._waiting = self._waiting, deque()
            self._go_on(origin, self._lines[origin])
            waiting.extend(self._waiting)
            self._waiting = waiting

    # ---- accesses

    def _access(self, origin: int, line: OriginQueue, access: Access) -> None:
        """Do an access."""
        datatype = known(access.datatype)
        part = self.memory.part(access, datatype)
        found = b""
        if part is None:
            # A put has no answer of its own. The error rides on the next answer, which is the first
            # moment at which the origin can hear of it.
            line.error = REAL.ERR_RMA_RANGE
        else:
            self._note(origin, access, datatype)
            found = _done(access, part, datatype)
        if access.key:
            self._answer(origin, line, access, found)

    def _note(self, origin: int, access: Access, datatype: Any) -> None:
        """Note an access where it may conflict with others."""
        if self.touches is None:
            return
        offset = access.displacement * self.memory.unit
        conflict = self.touches.note(origin, access, offset, datatype)
        if conflict is not None:
            running.world.one_sided.note(conflict)

    def _answer(self, origin: int, line: OriginQueue, body: Access | Wish, data: bytes) -> None:
        """Answer an origin."""
        answer = Answer(body.key, data, line.error)
        line.error = 0
        receiver, account = self._members[origin], body.account
        running.mail.send_active(
            self._processor, receiver, account, self._context, self._rank, answer
        )


def _done(access: Access, part: Buffer, datatype: Any) -> bytes:
    """Do an access to its elements; what they were, if it reads them."""
    # Read before any write: fetching accesses give the value from before, and the whole access is
    # one atomic act here.
    found = part.read() if access.kind != PUT else b""
    if access.kind == PUT:
        part.write(access.data)
    elif access.kind in (COMBINE, FETCH):
        _combine(access, part, found, datatype)
    elif access.kind == SWAP and found == access.expected:
        part.write(access.data)
    return found if access.kind in READS else b""


def _combine(access: Access, part: Buffer, found: bytes, datatype: Any) -> None:
    """Combine elements with what an access brings."""
    if access.op == "REPLACE":
        part.write(access.data)
    elif access.op != "NO_OP":
        op = PREDEFINED[access.op]
        part.write(op._combined(access.data, found, element(datatype)))
