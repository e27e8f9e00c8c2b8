"""Communication patterns between the two groups of an intercommunicator.

Each pattern consists of a collective within a group and messages between the groups' leaders, the
members of rank 0. In calls with a root, the root passes `ROOT`, the rest of its group `PROC_NULL`,
and the other group the root's rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from mpinet.mpi.collectives.algorithms import Collective, CollectiveCalls, Role
from mpinet.mpi.collectives.collective import NOTHING_ALIKE, Terms
from mpinet.mpi.collectives.payloads import Bundle, Fold, Part
from mpinet.mpi.real import PROC_NULL, REAL, as_int
from mpinet.mpi.world.endpoint import IntercommEndpoint


class Between:
    """A collective call between two groups, from the view of one member.

    Parameters
    ----------
    comm : IntercommEndpoint
        The communicator.
    kind : str
        Name of the call.
    """

    __slots__ = ("across", "within")

    def __init__(self, comm: IntercommEndpoint, kind: str):
        self.within: Collective = Collective.of(comm._local, kind)
        """The part within the member's own group."""
        self.across: Collective = Collective.of(comm, kind)
        """The part between the groups; sends to and receives from ranks of the remote group."""

    def again(self, start: int) -> Between:
        """Return one start of a persistent collective, initialized as this call."""
        between = Between.__new__(Between)
        between.within, between.across = self.within.again(start), self.across.again(start)
        return between

    @property
    def rank(self) -> int:
        """The member's rank in its group."""
        return self.within.rank

    @property
    def is_leader(self) -> bool:
        """True if the member is the leader of its group."""
        return self.within.rank == 0

    def exchanged(self, own: Any) -> Any:
        """Exchange a body between the leaders of both groups; None for all other members."""
        if not self.is_leader:
            return None
        self.across.send(0, own)
        return self.across.receive(0)

    def barrier(self) -> None:
        """Wait until all members of the remote group have called."""
        self.within.gather(0, b"")
        self.within.broadcast(0, self.exchanged(b""))

    def broadcast(self, root: int, body: Any = None) -> Any:
        """Bring the root's body to all members of the remote group; None for the root's group."""
        if root == REAL.ROOT:
            self.across.send(0, body)
        if root < 0:
            return None
        return self.within.broadcast(0, self.across.receive(root) if self.is_leader else None)

    def gather(self, root: int, item: bytes = b"") -> list[bytes] | None:
        """Bring an item of every member of the remote group to the root; None elsewhere."""
        if root == REAL.ROOT:
            found: list[bytes] = self.across.receive(0).items
            return found
        if root >= 0:
            items = self.within.gather(0, item)
            if items is not None:
                self.across.send(root, Bundle(items))
        return None

    def scatter(self, root: int, items: Sequence[bytes] | None = None) -> bytes | None:
        """Bring an item of the root to every member of the remote group; None elsewhere."""
        if root == REAL.ROOT:
            self.across.send(0, Bundle(list(items or ())))
        if root < 0:
            return None
        return self.within.scatter(0, self.across.receive(root).items if self.is_leader else None)

    def allgather(self, item: bytes) -> list[bytes]:
        """Bring an item of every member to all members of the remote group."""
        items = self.within.gather(0, item)
        theirs = self.exchanged(None if items is None else Bundle(items))
        found: list[bytes] = self.within.broadcast(0, theirs).items
        return found

    def alltoall(self, items: Sequence[bytes]) -> list[bytes]:
        """Bring an item of every member to every member of the remote group."""
        across, size = self.across, len(items)
        for distance in range(size):
            rank = (self.rank + distance) % size
            across.send(rank, items[rank])
        return [across.receive(rank) for rank in range(size)]

    def reduce(self, root: int, own: Part | None, fold: Fold) -> bytes | None:
        """Combine the operands of the remote group at the root; None elsewhere."""
        if root == REAL.ROOT:
            found: bytes = self.across.receive(0)
            return found
        if own is not None:
            body = self.within.reduce(0, own, fold)
            if body is not None:
                self.across.send(root, body)
        return None

    def allreduce(self, own: Part, fold: Fold) -> bytes:
        """Combine each group's operands; all members of the remote group get the result."""
        body = self.exchanged(self.within.reduce(0, own, fold))
        found: bytes = self.within.broadcast(0, body)
        return found

    def reduce_scatter(self, own: Part, fold: Fold, sizes: Sequence[int]) -> bytes:
        """Combine each group's operands; every member of the remote group gets a piece.

        Parameters
        ----------
        own : bytes or Runs
            The member's part.
        fold : Fold
            The reduction.
        sizes : sequence of int
            Size in bytes of the piece of every member of the caller's group.
        """
        whole = self.exchanged(self.within.reduce(0, own, fold))
        return self.within.scatter_pieces(whole, sizes)

    def differs(self, words: str) -> None:
        """Do nothing, because members of two groups are not compared."""


class InterCollectives(CollectiveCalls, IntercommEndpoint):
    """Base of intercommunicators with collectives: creates a member's part in a call."""

    __slots__ = ()

    def _part(self, kind: str, terms: Terms = NOTHING_ALIKE) -> Any:
        return Between(self, kind)

    def _role(self, root: int) -> Role:
        rank = as_int(root)
        if rank not in (REAL.ROOT, PROC_NULL) and not 0 <= rank < self.remote_size:
            raise REAL.Exception(REAL.ERR_ROOT)
        return Role(rank, rank == REAL.ROOT, rank >= 0)

    def _require_one_group(self) -> NoReturn:
        raise REAL.Exception(REAL.ERR_COMM)
