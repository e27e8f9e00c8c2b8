"""The patterns in which the members of an intercommunicator's two groups send and receive.

Each is one within a group, as the machine does that, and messages between the groups' leaders, the
members of rank 0. In calls with a root, the root says `ROOT`, the rest of its group
`PROC_NULL`, and the other group the root's rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mpinet.mpi.collectives import algorithms
from mpinet.mpi.collectives.collective import Collective
from mpinet.mpi.collectives.payloads import Bundle, Fold, Part
from mpinet.mpi.real import PROC_NULL, REAL, as_int
from mpinet.mpi.world.endpoint import IntercommEndpoint


class Between:
    """One collective call between two groups, as one of the members takes part in it.

    Parameters
    ----------
    comm : IntercommEndpoint
        The communicator.
    kind : str
        The call's name.
    """

    __slots__ = ("across", "within")

    def __init__(self, comm: IntercommEndpoint, kind: str):
        self.within: Collective = Collective.of(comm._local, kind)
        """The part within the member's own group."""
        self.across: Collective = Collective.of(comm, kind)
        """The part between the groups; it sends to ranks of the other one and receives from
        them."""

    def again(self, start: int) -> Between:
        """One start of a collective that has been prepared as this call."""
        between = Between.__new__(Between)
        between.within, between.across = self.within.again(start), self.across.again(start)
        return between

    @property
    def rank(self) -> int:
        """The member's rank in its group."""
        return self.within.rank

    @property
    def is_leader(self) -> bool:
        """True if the member is_leader for its group."""
        return self.within.rank == 0

    def exchanged(self, own: Any) -> Any:
        """Exchange what each group's speaker says, for the one of the other."""
        if not self.is_leader:
            return None
        self.across.send(0, own)
        return self.across.receive(0)


def known_remote_root(comm: IntercommEndpoint, root: int) -> int:
    """The rank that says who is the root.

    Raises
    ------
    Exception
        ``ERR_ROOT``: it does not.
    """
    rank = as_int(root)
    if rank not in (REAL.ROOT, PROC_NULL) and not 0 <= rank < comm.remote_size:
        raise REAL.Exception(REAL.ERR_ROOT)
    return rank


def barrier(between: Between) -> None:
    """Wait until all members of the other group have called."""
    algorithms.gather(between.within, 0, b"")
    algorithms.broadcast(between.within, 0, between.exchanged(b""))


def broadcast(between: Between, root: int, body: Any = None) -> Any:
    """Bring the root's body to all members of the other group; None for the rest."""
    if root == REAL.ROOT:
        between.across.send(0, body)
    if root < 0:
        return None
    return algorithms.broadcast(
        between.within, 0, between.across.receive(root) if between.is_leader else None
    )


def gather(between: Between, root: int, item: bytes = b"") -> list[bytes] | None:
    """Bring an item of every member of the other group to the root; None for the rest."""
    if root == REAL.ROOT:
        found: list[bytes] = between.across.receive(0).items
        return found
    if root >= 0:
        items = algorithms.gather(between.within, 0, item)
        if items is not None:
            between.across.send(root, Bundle(items))
    return None


def scatter(between: Between, root: int, items: Sequence[bytes] = ()) -> bytes | None:
    """Bring an item of the root's to every member of the other group; None for the rest."""
    if root == REAL.ROOT:
        between.across.send(0, Bundle(list(items)))
    if root < 0:
        return None
    return algorithms.scatter(
        between.within, 0, between.across.receive(root).items if between.is_leader else None
    )


def allgather(between: Between, item: bytes) -> list[bytes]:
    """Bring an item of every member to all of the other group."""
    items = algorithms.gather(between.within, 0, item)
    theirs = between.exchanged(None if items is None else Bundle(items))
    found: list[bytes] = algorithms.broadcast(between.within, 0, theirs).items
    return found


def alltoall(between: Between, items: Sequence[bytes]) -> list[bytes]:
    """Bring an item of every member to every one of the other group."""
    across, size = between.across, len(items)
    for distance in range(size):
        rank = (between.rank + distance) % size
        across.send(rank, items[rank])
    return [across.receive(rank) for rank in range(size)]


def reduce(between: Between, root: int, own: Part | None, fold: Fold) -> bytes | None:
    """Combine the operands of the other group at the root; None for the rest."""
    if root == REAL.ROOT:
        found: bytes = between.across.receive(0)
        return found
    if own is not None:
        body = algorithms.reduce(between.within, 0, own, fold)
        if body is not None:
            between.across.send(root, body)
    return None


def allreduce(between: Between, own: Part, fold: Fold) -> bytes:
    """Combine each group's operands for all members of the other one."""
    body = between.exchanged(algorithms.reduce(between.within, 0, own, fold))
    found: bytes = algorithms.broadcast(between.within, 0, body)
    return found


def reduce_scatter(between: Between, own: Part, fold: Fold, sizes: Sequence[int]) -> bytes:
    """Combine each group's operands; for every member of the other one a piece of the result.

    Parameters
    ----------
    between : Between
        The call.
    own : bytes or Runs
        The member's part.
    fold : Fold
        How parts become one.
    sizes : sequence of int
        Bytes of the piece of every member of the caller's group.
    """
    whole = between.exchanged(algorithms.reduce(between.within, 0, own, fold))
    return algorithms.scatter_pieces(between.within, whole, sizes)
