"""A member as a target: its memory, its lock, and the accesses of origins."""

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
    """Queue of the accesses and requests of one origin, applied in program order."""

    next: int = 1
    """Sequence number of the next access or request."""
    early: dict[int, Access | Wish] = field(default_factory=dict)
    """Accesses and requests that arrived early or wait for the lock, by sequence number."""
    error: int = 0
    """Error of an access since the last answer; 0 without an error."""


class ExposedMemory:
    """Memory exposed by a member in a window.

    Parameters
    ----------
    memory : buffer or None
        The memory; None for memory attached later, by address.
    unit : int
        Displacement unit in bytes.
    """

    def __init__(self, memory: Any, unit: int):
        self.memory = memory
        self.unit = unit
        self.attached: dict[int, Any] = {}

    def part(self, access: Access, datatype: Any) -> Buffer | None:
        """Return the accessed elements; None if they are outside the memory."""
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
    """Exposure of a member's memory: permitted and completed accesses.

    Parameters
    ----------
    context : int
        The window's context, its part for accesses.
    rank, processor : int
        The member's rank and processor number.
    members : sequence of int
        The members' processors by rank.
    memory : ExposedMemory
        The memory.
    """

    def __init__(
        self, context: int, rank: int, processor: int, members: Any, memory: ExposedMemory
    ):
        self.memory = memory
        self.completed: Counter[int] = Counter()
        """By origin's rank: number of calls of `Complete`, minus the number of calls already
        awaited.
        """
        self.awaited: Event | None = None
        """Event for the next `Complete` of an origin; None if the member does not wait for it."""
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
        """Apply an access or request of an origin after all its earlier ones."""
        line = self._lines.get(origin)
        if line is None:
            line = self._lines[origin] = OriginQueue()
        # With adaptive routing, accesses of an origin may overtake each other. MPI requires
        # accesses to the same target to act in order.
        line.early[body.order] = body
        self._go_on(origin, line)

    def _go_on(self, origin: int, line: OriginQueue) -> None:
        """Apply the next entries of a queue, up to a request for a lock held by another origin."""
        while (body := line.early.get(line.next)) is not None:
            # The queue stops here, not its origin. Accesses behind the lock request wait at the
            # target, and the origin need not wait for the grant.
            if isinstance(body, Wish) and body.kind == LOCK and not self._lock(origin, body):
                return
            del line.early[line.next]
            line.next += 1
            if isinstance(body, Access):
                self._access(origin, line, body)
            else:
                self._grant(origin, line, body)

    def _grant(self, origin: int, line: OriginQueue, wish: Wish) -> None:
        """Carry out a request of an origin."""
        if wish.kind == COMPLETE:
            self.completed[origin] += 1
            if self.awaited is not None:
                running.turns.happened(self.awaited)
                self.awaited = None
            return
        # A flush or an unlock shows the origin that all earlier accesses are done. Its later
        # accesses cannot conflict with them.
        if wish.kind != LOCK and self.touches is not None:
            self.touches.close(origin)
        if wish.key:
            self._answer(origin, line, wish, b"")
        if wish.kind == UNLOCK:
            del self.holders[origin]
            self._pass_on()

    def _lock(self, origin: int, wish: Wish) -> bool:
        """Give an origin the lock or queue its request; return whether the lock is given."""
        # Later bodies of the same origin examine the lock again. The request is already in the
        # queue and keeps its position.
        if any(waiting == origin for waiting, _ in self._waiting):
            return False
        # Even a shared lock queues behind a waiting exclusive lock. Otherwise a stream of readers
        # would starve the writer.
        if self._waiting or not self._free_for(wish):
            self._waiting.append((origin, wish))
            return False
        self.holders[origin] = wish.exclusive, wish.place
        return True

    def _free_for(self, wish: Wish) -> bool:
        """Return whether the current holders permit a requested lock."""
        exclusive = any(alone for alone, _ in self.holders.values())
        return not exclusive and not (wish.exclusive and self.holders)

    def _pass_on(self) -> None:
        """Give the lock to waiting origins in order, as far as the lock permits."""
        while self._waiting and self._free_for(self._waiting[0][1]):
            origin, _ = self._waiting.popleft()
            # The origin's queue may unlock again and pass the lock on during this loop. It must not
            # see a partly processed queue.
            waiting, self._waiting = self._waiting, deque()
            self._go_on(origin, self._lines[origin])
            waiting.extend(self._waiting)
            self._waiting = waiting

    # ---- accesses

    def _access(self, origin: int, line: OriginQueue, access: Access) -> None:
        """Apply an access to the exposed memory, and answer if requested."""
        datatype = known(access.datatype)
        part = self.memory.part(access, datatype)
        found = b""
        if part is None:
            # A put has no answer. The error is sent with the next answer, the first opportunity to
            # inform the origin.
            line.error = REAL.ERR_RMA_RANGE
        else:
            self._note(origin, access, datatype)
            found = _done(access, part, datatype)
        if access.key:
            self._answer(origin, line, access, found)

    def _note(self, origin: int, access: Access, datatype: Any) -> None:
        """Record an access for the detection of conflicts."""
        if self.touches is None:
            return
        offset = access.displacement * self.memory.unit
        conflict = self.touches.note(origin, access, offset, datatype)
        if conflict is not None:
            running.world.one_sided.note(conflict)

    def _answer(self, origin: int, line: OriginQueue, body: Access | Wish, data: bytes) -> None:
        """Send the answer to an access or request to its origin."""
        answer = Answer(body.key, data, line.error)
        line.error = 0
        receiver, account = self._members[origin], body.account
        running.mail.send_active(
            self._processor, receiver, account, self._context, self._rank, answer
        )


def _done(access: Access, part: Buffer, datatype: Any) -> bytes:
    """Apply an access to its elements; return the previous elements if it reads."""
    # Read before any write: fetching accesses return the previous value, and the whole access is
    # one atomic action here.
    found = part.read() if access.kind != PUT else b""
    if access.kind == PUT:
        part.write(access.data)
    elif access.kind in (COMBINE, FETCH):
        _combine(access, part, found, datatype)
    elif access.kind == SWAP and found == access.expected:
        part.write(access.data)
    return found if access.kind in READS else b""


def _combine(access: Access, part: Buffer, found: bytes, datatype: Any) -> None:
    """Combine the target's elements with the data of an access."""
    if access.op == "REPLACE":
        part.write(access.data)
    elif access.op != "NO_OP":
        op = PREDEFINED[access.op]
        part.write(op._combined(access.data, found, element(datatype)))
