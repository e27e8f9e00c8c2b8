"""Groups: ordered sets of processes, as scripts see them by ``MPI.Group``; no message is needed."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mpinet.mpi.constants import NamedNumber, instance_of, serialized
from mpinet.mpi.real import PROC_NULL, REAL, UNDEFINED, as_int
from mpinet.mpi.world.calls import asking, running
from mpinet.mpi.world.ranks import NOBODY, RankTable, compare, rank_table


class Caller(RankTable):
    """Whoever asks, alone."""

    __slots__ = ()

    def __init__(self) -> None:
        # The base's table must not be built: the members depend on the caller.
        self._ranks = None
        self.plain = 0

    @property
    def members(self) -> tuple[int]:  # type: ignore[override]
        """The running processor."""
        return (running.turns.current.id,)

    def rank_of(self, processor: int) -> int:
        """A processor's rank; `UNDEFINED` if it is not the running one."""
        return 0 if processor == running.turns.current.id else UNDEFINED


def fixed(members: RankTable) -> RankTable:
    """Members that stay: of the communicator that each processor has alone, the caller."""
    return rank_table(members.members) if isinstance(members, Caller) else members


def callers_world() -> RankTable:
    """The world of whoever asks."""
    contexts = running.world.contexts
    return contexts.shared(contexts.world_of(asking("world").id)).groups[0]


class Group(NamedNumber, REAL.Group):  # type: ignore[misc]
    """An ordered set of processors, as `mpi4py.MPI.Group`.

    Nothing of it is known to the real group below it, which is always the null one.
    """

    _null, _unknown = "GROUP_NULL", REAL.ERR_GROUP

    _members: RankTable | None
    _constant = ""

    def __new__(cls, group: Group | None = None) -> Group:
        """The null group, or another face of a group."""
        self: Group = REAL.Group.__new__(cls)
        self._members = None if group is None else instance_of(Group, group)._members
        return self

    @classmethod
    def _of_table(cls, members: RankTable) -> Group:
        """A group of these members."""
        group = cls.__new__(cls)
        group._members = members
        return group

    @classmethod
    def _of(cls, processors: Iterable[int]) -> Group:
        """A group of these processors, in this order."""
        return cls._of_table(rank_table(list(processors)))

    @classmethod
    def Create_from_session_pset(cls, session: Any, pset_name: str) -> Group:
        """The group of a session's set of processes."""
        return cls(session.Create_group(pset_name))

    @property
    def _all(self) -> RankTable:
        """The members.

        Raises
        ------
        Exception
            It is the null group.
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
        """Tell if the other group has the same members by rank, or both are the null one."""
        if not isinstance(other, Group):
            return NotImplemented
        one, another = self._members, other._members
        if one is None or another is None:
            return one is another
        return bool(compare(one, another) == REAL.IDENT)

    __hash__ = None

    def __reduce__(self) -> Any:
        return serialized(self, "GROUP_EMPTY") if self._members is NOBODY else super().__reduce__()

    # ---- what it is

    def Get_size(self) -> int:
        """Members."""
        return len(self._all.members)

    def Get_rank(self) -> int:
        """The caller's rank; `UNDEFINED` if it is no member."""
        return self._all.rank_of(asking("Get_rank").id)

    size = property(Get_size)
    rank = property(Get_rank)

    def Compare(self, group: Group) -> int:
        """Compare it with another group: `IDENT`, `SIMILAR` or `UNEQUAL`."""
        return compare(self._all, group._all)

    def Translate_ranks(
        self, ranks: Sequence[int] | None = None, group: Group | None = None
    ) -> list[int]:
        """The ranks that members have in another group (default: the world's)."""
        others = callers_world() if group is None else group._all
        if ranks is None:
            ranks = range(len(self._all.members))
        return [
            PROC_NULL if rank == PROC_NULL else others.rank_of(self._all.processor(rank))
            for rank in ranks
        ]

    # ---- others from it

    def Dup(self) -> Group:
        """The same group once more."""
        return self._of_table(self._all)

    @classmethod
    def Union(cls, group1: Group, group2: Group) -> Group:
        """The members of the first group, and behind them those of the second alone."""
        others = (each for each in group2._all.members if group1._all.rank_of(each) == UNDEFINED)
        return cls._of([*group1._all.members, *others])

    @classmethod
    def Intersection(cls, group1: Group, group2: Group) -> Group:
        """The members of the first group that are in the second, too."""
        both = (each for each in group1._all.members if group2._all.rank_of(each) != UNDEFINED)
        return cls._of(both)

    Intersect = Intersection

    @classmethod
    def Difference(cls, group1: Group, group2: Group) -> Group:
        """The members of the first group that are not in the second."""
        rest = (each for each in group1._all.members if group2._all.rank_of(each) == UNDEFINED)
        return cls._of(rest)

    def Incl(self, ranks: Sequence[int]) -> Group:
        """The members of these ranks, in this order."""
        self._require_different(ranks)
        return self._of(self._all.processor(rank) for rank in ranks)

    def Excl(self, ranks: Sequence[int]) -> Group:
        """The members of all other ranks."""
        self._require_different(ranks)
        left_out = {self._all.processor(rank) for rank in ranks}
        return self._of(rank for rank in self._all.members if rank not in left_out)

    def Range_incl(self, ranks: Sequence[tuple[int, int, int]]) -> Group:
        """The members of the ranks in ranges: first, last and stride each."""
        return self.Incl(_ranges(ranks))

    def Range_excl(self, ranks: Sequence[tuple[int, int, int]]) -> Group:
        """The members of all ranks that are in none of the ranges."""
        return self.Excl(_ranges(ranks))

    @staticmethod
    def _require_different(ranks: Sequence[int]) -> None:
        """Raise an error if a rank is named twice."""
        if len(set(ranks)) < len(ranks):
            raise REAL.Exception(REAL.ERR_RANK)

    def Free(self) -> None:
        """Let it be the null group; the empty one stays what it is."""
        if self._all is not None and not self._constant:
            self._members = None

    def free(self) -> None:
        """Let it be the null group, if it is no constant."""
        if not self._constant:
            self._members = None


def _ranges(ranges: Sequence[tuple[int, int, int]]) -> list[int]:
    """The ranks in ranges, each up to and with its last.

    Raises
    ------
    Exception
        A range makes no headway.
    """
    ranks: list[int] = []
    for numbers in ranges:
        first, last, stride = map(as_int, numbers)
        if stride == 0 or (last - first) * stride < 0:
            raise REAL.Exception(REAL.ERR_RANK)
        ranks.extend(range(first, last + (1 if stride > 0 else -1), stride))
    return ranks


def constant_group(name: str, members: RankTable | None) -> Group:
    """One of MPI's own groups."""
    group = Group()
    group._members = members
    group._constant = name
    return group


GROUP_NULL = constant_group("GROUP_NULL", None)
GROUP_EMPTY = constant_group("GROUP_EMPTY", NOBODY)
