"""Groups: ordered sets of processes, for scripts ``MPI.Group``; group calls send no messages."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mpinet.mpi.constants import NamedNumber, instance_of, serialized
from mpinet.mpi.real import PROC_NULL, REAL, UNDEFINED, as_int
from mpinet.mpi.world.calls import asking, running
from mpinet.mpi.world.ranks import NOBODY, RankTable, compare, rank_table


class Caller(RankTable):
    """The rank table that contains only the calling processor."""

    __slots__ = ()

    def __init__(self) -> None:
        # The base's table must not be built, because the members depend on the caller.
        self._ranks = None
        self.plain = 0

    @property
    def members(self) -> tuple[int]:  # type: ignore[override]
        """The running processor as the only member."""
        return (running.turns.current.id,)

    def rank_of(self, processor: int) -> int:
        """Return 0 for the running processor, otherwise `UNDEFINED`."""
        return 0 if processor == running.turns.current.id else UNDEFINED


def fixed(members: RankTable) -> RankTable:
    """Return a fixed rank table: `Caller` is replaced by the current caller."""
    return rank_table(members.members) if isinstance(members, Caller) else members


def callers_world() -> RankTable:
    """Return the members of the caller's world."""
    contexts = running.world.contexts
    return contexts.shared(contexts.world_of(asking("world").id)).groups[0]


class Group(NamedNumber, REAL.Group):  # type: ignore[misc]
    """An ordered set of processors, as `mpi4py.MPI.Group`.

    The underlying real group is always the null group.
    """

    _null, _unknown = "GROUP_NULL", REAL.ERR_GROUP

    _members: RankTable | None
    _constant = ""

    def __new__(cls, group: Group | None = None) -> Group:
        """Create the null group, or another object for a group."""
        self: Group = REAL.Group.__new__(cls)
        self._members = None if group is None else instance_of(Group, group)._members
        return self

    @classmethod
    def _of_table(cls, members: RankTable) -> Group:
        """Return a group of the members of a rank table."""
        group = cls.__new__(cls)
        group._members = members
        return group

    @classmethod
    def _of(cls, processors: Iterable[int]) -> Group:
        """Return a group of processors, in the given order."""
        return cls._of_table(rank_table(list(processors)))

    @classmethod
    def Create_from_session_pset(cls, session: Any, pset_name: str) -> Group:
        """Return the group of a session's process set."""
        return cls(session.Create_group(pset_name))

    @property
    def _all(self) -> RankTable:
        """The members of the group by rank.

        Raises
        ------
        Exception
            The group is null.
        """
        if self._members is None:
            raise REAL.Exception(REAL.ERR_GROUP)
        return self._members

    @property
    def _meaning(self) -> tuple[int, ...] | None:
        return None if self._members is None else tuple(self._members.members)

    def __bool__(self) -> bool:
        return self._members is not None

    def __eq__(self, other: object) -> bool:
        """Compare members and their order; null groups are equal."""
        if not isinstance(other, Group):
            return NotImplemented
        one, another = self._members, other._members
        if one is None or another is None:
            return one is another
        return bool(compare(one, another) == REAL.IDENT)

    __hash__ = None

    def __reduce__(self) -> Any:
        return serialized(self, "GROUP_EMPTY") if self._members is NOBODY else super().__reduce__()

    # ---- inquiries

    def Get_size(self) -> int:
        """Return the number of members."""
        return len(self._all.members)

    def Get_rank(self) -> int:
        """Return the caller's rank; `UNDEFINED` if it is not a member."""
        return self._all.rank_of(asking("Get_rank").id)

    size = property(Get_size)
    rank = property(Get_rank)

    def Compare(self, group: Group) -> int:
        """Compare with another group: `IDENT`, `SIMILAR` or `UNEQUAL`."""
        return compare(self._all, group._all)

    def Translate_ranks(
        self, ranks: Sequence[int] | None = None, group: Group | None = None
    ) -> list[int]:
        """Return the ranks of members in another group (default: the world)."""
        others = callers_world() if group is None else group._all
        if ranks is None:
            ranks = range(len(self._all.members))
        return [
            PROC_NULL if rank == PROC_NULL else others.rank_of(self._all.processor(rank))
            for rank in ranks
        ]

    # ---- derived groups

    def Dup(self) -> Group:
        """Return a copy of the group."""
        return self._of_table(self._all)

    @classmethod
    def Union(cls, group1: Group, group2: Group) -> Group:
        """Return the members of the first group, followed by members only in the second."""
        others = (each for each in group2._all.members if group1._all.rank_of(each) == UNDEFINED)
        return cls._of([*group1._all.members, *others])

    @classmethod
    def Intersection(cls, group1: Group, group2: Group) -> Group:
        """Return the members of the first group that are also in the second."""
        both = (each for each in group1._all.members if group2._all.rank_of(each) != UNDEFINED)
        return cls._of(both)

    Intersect = Intersection

    @classmethod
    def Difference(cls, group1: Group, group2: Group) -> Group:
        """Return the members of the first group that are not in the second."""
        rest = (each for each in group1._all.members if group2._all.rank_of(each) == UNDEFINED)
        return cls._of(rest)

    def Incl(self, ranks: Sequence[int]) -> Group:
        """Return the members with given ranks, in this order."""
        self._require_different(ranks)
        return self._of(self._all.processor(rank) for rank in ranks)

    def Excl(self, ranks: Sequence[int]) -> Group:
        """Return the members without the given ranks."""
        self._require_different(ranks)
        left_out = {self._all.processor(rank) for rank in ranks}
        return self._of(rank for rank in self._all.members if rank not in left_out)

    def Range_incl(self, ranks: Sequence[tuple[int, int, int]]) -> Group:
        """Return the members with ranks in ranges, each given by first, last and stride."""
        return self.Incl(_ranges(ranks))

    def Range_excl(self, ranks: Sequence[tuple[int, int, int]]) -> Group:
        """Return the members with ranks outside of all ranges."""
        return self.Excl(_ranges(ranks))

    @staticmethod
    def _require_different(ranks: Sequence[int]) -> None:
        """Raise an error if a rank occurs twice."""
        if len(set(ranks)) < len(ranks):
            raise REAL.Exception(REAL.ERR_RANK)

    def Free(self) -> None:
        """Free the group: the object becomes null. Predefined groups stay."""
        if self._all is not None and not self._constant:
            self._members = None

    def free(self) -> None:
        """Free the group unless it is predefined."""
        if not self._constant:
            self._members = None


def _ranges(ranges: Sequence[tuple[int, int, int]]) -> list[int]:
    """Return the ranks in ranges, including each range's last rank.

    Raises
    ------
    Exception
        A stride is 0 or leads away from the last rank.
    """
    ranks: list[int] = []
    for numbers in ranges:
        first, last, stride = map(as_int, numbers)
        if stride == 0 or (last - first) * stride < 0:
            raise REAL.Exception(REAL.ERR_RANK)
        ranks.extend(range(first, last + (1 if stride > 0 else -1), stride))
    return ranks


def constant_group(name: str, members: RankTable | None) -> Group:
    """Return the object of a predefined group."""
    group = Group()
    group._members = members
    group._constant = name
    return group


GROUP_NULL = constant_group("GROUP_NULL", None)
GROUP_EMPTY = constant_group("GROUP_EMPTY", NOBODY)
