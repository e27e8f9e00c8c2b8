"""Communication patterns of collectives: trees, exchanges, and all-to-all.

The patterns are independent of objects and buffers. The patterns move bytes, or bodies with a join
operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple, TypeVar

from mpinet.mpi.collectives.collective import NOTHING_ALIKE, CollectiveCall, Terms
from mpinet.mpi.collectives.payloads import Bundle, Combine, Fold, Items, Part
from mpinet.mpi.real import REAL, as_int
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.endpoint import Endpoint

B = TypeVar("B")

NOTHING = b""
"""Content of barriers' messages."""


class Collective(CollectiveCall):
    """A collective call with the communication patterns of its members."""

    __slots__ = ()

    @property
    def within(self) -> Collective:
        """The part within the member's own group; here the whole call."""
        return self

    def broadcast(self, root: int, body: Any = None) -> Any:
        """Bring the root's body to all members.

        Parameters
        ----------
        root : int
            The root's rank.
        body : bytes
            The body, needed only at the root.
        """
        shape = self.shape(root)
        parent = shape.parent
        if parent >= 0:
            body = self.receive(parent)
        for child in shape.children:
            self.send(child, body)
        return body

    def converge(self, root: int, own: B, join: Callable[[B, B], B]) -> B | None:
        """Join the bodies of all members on the way to the root.

        A member joins the bodies of its children in a fixed order, independent of their arrival:
        the reverse order of the broadcast.

        Returns
        -------
        body or None
            The result at the root; None at all other members.
        """
        shape = self.shape(root)
        # In a binomial tree the last informed child has the smallest subtree and is ready first.
        # The fixed order also fixes the rounding of sums.
        for child in reversed(shape.children):
            own = join(own, self.receive(child))
        if shape.parent < 0:
            return own
        self.send(shape.parent, own)
        return None

    def everywhere(self, own: B, join: Callable[[B, B], B]) -> B:
        """Join the bodies of all members; all members get the result."""
        if self.exchanges:
            return self.exchange(own, join)
        result: B = self.broadcast(0, self.converge(0, own, join))
        return result

    def exchange(self, own: B, join: Callable[[B, B], B]) -> B:
        """Join the bodies of all members by recursive doubling; all members get the result.

        In round j partners differ in bit j of their ranks, and both compute the same value. Members
        beyond the largest power of two first send their body to a partner and receive the result at
        the end.
        """
        rank = self.rank
        most = 1 << (self.size.bit_length() - 1)
        if rank >= most:
            self.send(rank - most, own)
            late: B = self.receive(rank - most)
            return late
        if rank + most < self.size:
            own = join(own, self.receive(rank + most))
        bit = 1
        while bit < most:
            partner = rank ^ bit
            self.send(partner, own)
            theirs = self.receive(partner)
            # The lower ranks' part is always the left operand. Noncommutative operators are
            # therefore applied in rank order.
            own = join(own, theirs) if rank < partner else join(theirs, own)
            bit <<= 1
        if rank + most < self.size:
            self.send(rank + most, own)
        return own

    def gather(self, root: int, item: bytes) -> list[bytes] | None:
        """Bring an item of every member to the root; return them by rank there, otherwise None."""
        items = self.converge(root, Items.of(self.rank, item), Items.and_of)
        return None if items is None else items.all()

    def allgather(self, item: bytes) -> list[bytes]:
        """Bring an item of every member to all members; return the items by rank."""
        return self.everywhere(Items.of(self.rank, item), Items.and_of).all()

    def scatter(self, root: int, items: Sequence[bytes] | None = None) -> bytes:
        """Bring an item of the root to every member.

        Parameters
        ----------
        root : int
            The root's rank.
        items : sequence of bytes, optional
            The items by rank, needed only at the root.
        """
        shape = self.shape(root)
        if items is not None:
            bundle = [items[rank] for rank in shape.walk]
        else:
            # A single message carries the items of a whole subtree, and each child gets its slice.
            # The walk puts the items in this order.
            bundle = self.receive(shape.parent).items
        end = len(bundle)
        for child, weight in zip(shape.children, shape.weights, strict=True):
            self.send(child, Bundle(bundle[end - weight : end]))
            end -= weight
        return bundle[0]

    def alltoall(self, items: Sequence[bytes]) -> list[bytes]:
        """Bring an item of every member to every member; return the received items by rank.

        In round k each member sends to the member k ranks further on.
        """
        rank, size = self.rank, self.size
        # Staggered: in each round every member has a different target. If all began with rank 0,
        # its port would be the bottleneck.
        for distance in range(1, size):
            there = (rank + distance) % size
            self.send(there, items[there])
        bodies: list[Any] = [None] * size
        bodies[rank] = items[rank]
        self.receive_from_each(bodies)
        return bodies

    def reduce(self, root: int, own: Part, fold: Fold) -> bytes | None:
        """Combine the operands of all members; return the result at the root, otherwise None."""
        part = self.converge(root, own, fold.join)
        return None if part is None else fold.result(part)

    def allreduce(self, own: Part, fold: Fold) -> bytes:
        """Combine the operands of all members; all members get the result."""
        return fold.result(self.everywhere(own, fold.join))

    def reduce_scatter(self, own: Part, fold: Fold, sizes: Sequence[int]) -> bytes:
        """Combine the operands of all members; every member gets a piece of the result.

        Parameters
        ----------
        own : bytes or Runs
            The member's part.
        fold : Fold
            The reduction.
        sizes : sequence of int
            Size of every member's piece in bytes.
        """
        if self.exchanges:
            return pieces(self.allreduce(own, fold), sizes)[self.rank]
        return self.scatter_pieces(self.reduce(0, own, fold), sizes)

    def scatter_pieces(self, whole: bytes | None, sizes: Sequence[int]) -> bytes:
        """Scatter the pieces of a body from rank 0 (None at all other members)."""
        return self.scatter(0, None if whole is None else pieces(whole, sizes))

    def scan(self, operand: bytes, combine: Combine, inclusive: bool) -> bytes | None:
        """Combine the operands of all members up to each member, by recursive doubling.

        Parameters
        ----------
        operand : bytes
            The member's operand.
        combine : callable
            Combines two operands.
        inclusive : bool
            Whether the result includes the member's own operand.

        Returns
        -------
        bytes or None
            The member's result; None if no operand is included.
        """
        rank = self.rank
        result = operand if inclusive else None
        block = operand
        bit = 1
        while bit < self.size:
            partner = rank ^ bit
            bit <<= 1
            # The missing partners of an incomplete cube have higher ranks, and a prefix never needs
            # them.
            if partner >= self.size:
                continue
            self.send(partner, block)
            theirs = self.receive(partner)
            if partner < rank:
                block = combine(theirs, block)
                result = theirs if result is None else combine(theirs, result)
            else:
                block = combine(block, theirs)
        return result

    def barrier(self) -> None:
        """Wait until all members have called."""
        self.everywhere(NOTHING, lambda one, other: NOTHING)


def pieces(whole: bytes, sizes: Sequence[int]) -> list[bytes]:
    """Split a body into pieces of given sizes."""
    ends = accumulate(sizes)
    return [whole[end - size : end] for end, size in zip(ends, sizes, strict=True)]


class Role(NamedTuple):
    """Role of a member in a collective with a root: the root itself, or a partner of it."""

    root: int
    """The root's rank as named by the member."""
    is_root: bool
    """True if the member is the root."""
    serves: bool
    """True if the member exchanges messages with the root."""


class CollectiveCalls(Endpoint):
    """Base of communicators with collectives: creates a member's part in a call."""

    __slots__ = ()

    def _part(self, kind: str, terms: Terms = NOTHING_ALIKE) -> Any:
        """Return an object for the running processor's part in its next call of a kind."""
        return Collective.of(self, kind, terms)

    def _role(self, root: int) -> Role:
        """Return a member's role for a given root.

        Raises
        ------
        Exception
            ``ERR_ROOT``: the root does not exist.
        """
        rank, group = as_int(root), self._group
        if not 0 <= rank < len(group.members):
            raise REAL.Exception(REAL.ERR_ROOT)
        return Role(rank, rank == group.rank_of(running.turns.current.id), True)

    def _require_one_group(self) -> None:
        """Raise an error unless all members are in a single group, ordered by rank."""
