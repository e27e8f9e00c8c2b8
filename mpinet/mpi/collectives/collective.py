"""A collective call, from the view of one member."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

from mpinet.mpi.collectives.member_trees import Binomial, MachineTree, Shape, StarTree
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.contexts import COLLECTIVES, Scope
from mpinet.mpi.world.endpoint import Endpoint
from mpinet.mpi.world.message import BODY
from mpinet.mpi.world.mismatch import NO_CALLS, CalledCollective
from mpinet.mpi.world.ranks import RankTable
from mpinet.mpi.world.trees import TargetPattern

OBJECTS = "barrier bcast gather scatter allgather alltoall reduce allreduce scan exscan".split()
"""Collectives of Python objects."""

BUFFERS = (
    "Barrier Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv "
    "Alltoallw Reduce Allreduce Reduce_scatter_block Reduce_scatter Scan Exscan".split()
)
"""Collectives of buffers, which also exist in nonblocking and persistent form."""

KINDS = {
    name: number
    for number, name in enumerate(
        [*OBJECTS, *BUFFERS, *(f"I{name.lower()}" for name in BUFFERS)]
        + [f"{name}_init" for name in BUFFERS]
        + ["Win.Fence", "Win.Free"]
    )
}
"""Numbers of all collectives; calls with different numbers do not match."""


class Terms(NamedTuple):
    """Terms of a collective call on which all members must agree, if they apply."""

    root: int = -1
    """The root's rank."""
    op: Any = None
    """Reduction operator. Type: Op or callable."""
    nbytes: int = -1
    """Size of each member's operand in bytes."""

    def number(self, size: int) -> int:
        """Return a number of the terms, the same on all ranks and different for different terms."""
        place = 0 if self.op is None else getattr(self.op, "place", 1)
        return ((self.nbytes + 1) * PLACES + place) * (size + 1) + self.root + 1

    @property
    def words(self) -> tuple[str, ...]:
        """The terms as words of a report."""
        said = []
        if self.root >= 0:
            said.append(f"with root {self.root}")
        if self.op is not None:
            said.append(f"by {getattr(self.op, 'title', 'a function')}")
        if self.nbytes >= 0:
            said.append(f"of {self.nbytes} bytes")
        return tuple(said)


NOTHING_ALIKE = Terms()

FACTOR, PRIME = 6364136223846793005, 2**61 - 1
"""Constants of a hash of a member's calls in order."""

PLACES = 64
"""A number greater than the count of MPI's predefined operators."""


class CollectiveCall:
    """A collective call, from the view of one member.

    Each call has its own tag. Messages of several concurrent collectives of a communicator
    therefore do not mix, and neither do messages of calls that do not match.

    Parameters
    ----------
    scope : Scope
        Scope of the messages.
    rank : int
        The member's rank.
    tag : int
        The call's tag, the same for all members.
    number : int
        Number of the call on its communicator; 0 for calls that are not compared with others.
    """

    __slots__ = ("_number", "_scope", "_tag", "rank", "size")

    def __init__(self, scope: Scope, rank: int, tag: int, number: int = 0):
        self._number = number
        self._scope = scope
        self._tag = tag
        self.rank = rank
        self.size: int = len(scope.others.members)
        """Number of members."""

    @classmethod
    def of(cls, comm: Endpoint, kind: str, terms: Terms = NOTHING_ALIKE) -> Self:
        """Return the running processor's next collective on a communicator.

        Members call a communicator's collectives in the same order, therefore each member can count
        them.
        """
        scope = comm._scope.part(COLLECTIVES)
        # Sends nothing. The call only raises the error of a revoked communicator, before the
        # collective is counted.
        running.mail.nothing(scope)
        here, calls = running.turns.current, running.world.collectives
        storage = here.storage()
        number, said = storage.get(scope.context, NO_CALLS)
        number += 1
        size = len(scope.others.members)
        # Terms are part of the tag. Messages of mismatched calls never match, and the mismatch
        # appears as a wait with an explanation.
        tag = number if terms is NOTHING_ALIKE else paired(number, terms.number(size))
        tag = tag * len(KINDS) + KINDS[kind]
        # A polynomial hash of all calls in order. The comparison of members at the end takes one
        # number per member and no list.
        storage[scope.context] = number, (said * FACTOR + tag) % PRIME
        # Only the first of the rank's members records the call, because all would record the same.
        if (scope.context, tag) not in calls and here.account is not None:
            call = CalledCollective(number, here.id, here.account, terms.words)
            among = size if scope.group is scope.others else size + len(scope.group.members)
            calls.note((scope.context, tag), call, among)
        return cls(scope, scope.group.rank_of(here.id), tag, number)

    def differs(self, words: str) -> None:
        """Record, for the end of the run, that the member's call differs from its peers'.

        Parameters
        ----------
        words : str
            Description of the difference.
        """
        here, context = running.turns.current, self._scope.context
        storage, calls = here.storage(), running.world.collectives
        if context in storage and here.account is not None:
            number, said = storage[context]
            storage[context] = number, (said + 1) % PRIME
            call = CalledCollective(self._number, here.id, here.account, (words,))
            calls.note((context, -self._tag), call, calls.among[context])

    def again(self, start: int) -> Self:
        """Return one start of a persistent collective, initialized as this call.

        Members initialize collectives in the same order, but may start them in any order. Therefore
        the tag of a start combines the call's number and the start's number.
        """
        number, kind = divmod(self._tag, len(KINDS))
        tag = paired(number, start) * len(KINDS) + kind
        return type(self)(self._scope, self.rank, tag, self._number)

    def send(self, rank: int, body: Any) -> None:
        """Send a body to a member.

        Parameters
        ----------
        rank : int
            The member.
        body : bytes, Items or Runs
            A body that no code modifies any more; its length is its size in bytes.
        """
        running.mail.send(self._scope, rank, self._tag, body)

    def receive(self, rank: int) -> Any:
        """Wait for a body from a member, and return it."""
        return running.mail.receive(self._scope, rank, self._tag)[BODY]

    def receive_from_each(self, bodies: list[Any]) -> None:
        """Wait for a body from each member whose body is None."""
        running.mail.receive_from_each(self._scope, self._tag, bodies)

    def shape(self, root: int) -> Shape:
        """Return the member's position in the tree of a root."""
        trees = running.world.trees
        if trees.pattern is TargetPattern.DIRECT:
            return StarTree(self.rank, self.size, root)
        # The network's tree covers all processors. In a smaller communicator the parent of a member
        # may not be a member.
        if self._whole and trees.suit and trees.pattern in (None, TargetPattern.TREE):
            tree = running.world.tree(self._members.members[root])
            if tree is not None:
                return MachineTree(self._members, running.turns.current.slot, tree)
        return Binomial(self.rank, self.size, root)

    @property
    def exchanges(self) -> bool:
        """True if members exchange with partners instead of using a root."""
        trees = running.world.trees
        if trees.pattern is not None:
            return trees.pattern is TargetPattern.EXCHANGE
        return self._whole and isinstance(self._members.members, range) and trees.doubling

    @property
    def _members(self) -> RankTable:
        """The communicator's members by rank."""
        return self._scope.others

    @property
    def _whole(self) -> bool:
        """True if all processors of the machine are members."""
        return self.size == running.world.size


class CallPlan(NamedTuple):
    """Plan of a collective call, and its terms."""

    do: Callable[[Any], None]
    """Carries out the call, given the member's `part`; reads the send buffer at that time."""
    terms: Terms = NOTHING_ALIKE
    """Terms stated by the member."""

    def part(self, comm: Any, kind: str) -> Any:
        """Return the running processor's part in its next call of a kind on a communicator."""
        return comm._part(kind, self.terms)


def paired(one: int, other: int) -> int:
    """Return Cantor's number of a pair, unique among pairs of nonnegative integers."""
    both = one + other
    return both * (both + 1) // 2 + other
