"""One collective call, as one of the members takes part in it."""

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
"""Collectives of buffers, which can also be begun, and prepared."""

KINDS = {
    name: number
    for number, name in enumerate(
        [*OBJECTS, *BUFFERS, *(f"I{name.lower()}" for name in BUFFERS)]
        + [f"{name}_init" for name in BUFFERS]
        + ["Win.Fence", "Win.Free"]
    )
}
"""Numbers of all collectives: those of different kinds do not match."""


class Terms(NamedTuple):
    """Terms of a collective call that all its members have to say alike, if they apply."""

    root: int = -1
    """The root's rank."""
    op: Any = None
    """Operator that combines. Type: Op or callable."""
    nbytes: int = -1
    """Bytes of each member's operand."""

    def number(self, size: int) -> int:
        """A number for them, the same on all ranks; others have others."""
        place = 0 if self.op is None else getattr(self.op, "place", 1)
        return ((self.nbytes + 1) * PLACES + place) * (size + 1) + self.root + 1

    @property
    def words(self) -> tuple[str, ...]:
        """The same for people."""
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
"""Numbers by which a member's calls, in their order, become one number."""

PLACES = 64
"""More than there are operators of MPI's own."""


class CollectiveCall:
    """One collective call, as one of the members takes part in it.

    Messages of several collectives of one communicator that are under way together do not mix,
    since each has a tag of its own; so have those that should not have met.

    Parameters
    ----------
    scope : Scope
        Where its messages are sent.
    rank : int
        The member's own.
    tag : int
        The call's tag, the same for all members.
    number : int
        Its number among those of its communicator; 0: it is compared with no other call.
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
        """The running processor's next collective on a communicator.

        Members call a communicator's collectives in one order, so that each can count them.
        """
        scope = comm._scope.part(COLLECTIVES)
        # Sends nothing. It only raises the error of a communicator that is revoked, before the call
        # is counted.
        running.mail.nothing(scope)
        here, calls = running.turns.current, running.world.collectives
        storage = here.storage()
        number, said = storage.get(scope.context, NO_CALLS)
        number += 1
        size = len(scope.others.members)
        # Terms are part of the tag. So messages of calls that do not match never meet, and the
        # mismatch shows as a wait that can be explained.
        tag = number if terms is NOTHING_ALIKE else paired(number, terms.number(size))
        tag = tag * len(KINDS) + KINDS[kind]
        # A polynomial hash of all calls in their order. Comparing members at the end takes one
        # number each and no list.
        storage[scope.context] = number, (said * FACTOR + tag) % PRIME
        # The first of the rank's members notes the call for all of them: they would note the same.
        if (scope.context, tag) not in calls and here.account is not None:
            call = CalledCollective(number, here.id, here.account, terms.words)
            among = size if scope.group is scope.others else size + len(scope.group.members)
            calls.note((scope.context, tag), call, among)
        return cls(scope, comm.rank, tag, number)

    def differs(self, words: str) -> None:
        """Note, for the end of the run, that the member does not call it as others do.

        Parameters
        ----------
        words : str
            What it says that others do not.
        """
        here, context = running.turns.current, self._scope.context
        storage, calls = here.storage(), running.world.collectives
        if context in storage and here.account is not None:
            number, said = storage[context]
            storage[context] = number, (said + 1) % PRIME
            call = CalledCollective(self._number, here.id, here.account, (words,))
            calls.note((context, -self._tag), call, calls.among[context])

    def again(self, start: int) -> Self:
        """One start of a collective that has been prepared as this call.

        Members prepare collectives in one order, and may start them in any; so a start has a tag
        of the call's number and its own.
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
            What nobody changes any more; its length is its bytes.
        """
        running.mail.send(self._scope, rank, self._tag, body)

    def receive(self, rank: int) -> Any:
        """Wait for a body from a member."""
        return running.mail.receive(self._scope, rank, self._tag)[BODY]

    def shape(self, root: int) -> Shape:
        """The tree along which a root informs the members, or receives from them."""
        trees = running.world.trees
        if trees.pattern is TargetPattern.DIRECT:
            return StarTree(self.rank, self.size, root)
        # The network's tree covers all processors. A smaller communicator would have members whose
        # parents are no members.
        if self._whole and trees.suit and trees.pattern in (None, TargetPattern.TREE):
            tree = running.world.tree(self._members.members[root])
            if tree is not None:
                return MachineTree(self._members, running.turns.current.slot, tree)
        return Binomial(self.rank, self.size, root)

    @property
    def exchanges(self) -> bool:
        """True if members exchange with partners rather than by way of a root."""
        trees = running.world.trees
        if trees.pattern is not None:
            return trees.pattern is TargetPattern.EXCHANGE
        return self._whole and isinstance(self._members.members, range) and trees.doubling

    @property
    def _members(self) -> RankTable:
        """The members."""
        return self._scope.others

    @property
    def _whole(self) -> bool:
        """True if all processors of the machine are members."""
        return self.size == running.world.size


class CallPlan(NamedTuple):
    """Plan of a collective call, and the terms that all members have to say alike."""

    do: Callable[[Any], None]
    """Does it, given the member's `part` in the call; reads the memory that it sends then."""
    terms: Terms = NOTHING_ALIKE
    """Terms that the member states."""

    def part(self, comm: Any, kind: str) -> Any:
        """The running processor's part in its next call of a kind on a communicator."""
        return comm._part(kind, self.terms)


def paired(one: int, other: int) -> int:
    """Cantor's number of a pair: no other pair of numbers from 0 on has it."""
    both = one + other
    return both * (both + 1) // 2 + other
