"""Rank tables: the ordered processors of a group, and their ranks.

MPI identifies a process by its rank in a group. Most groups are the whole world, or processors at
even distances. These need no table, so a communicator of a million members costs no memory per
member.
"""

from __future__ import annotations

from collections.abc import Sequence

from mpinet.mpi.real import REAL, UNDEFINED


class RankTable:
    """Processors by rank; immutable, and shared on a rank by groups with equal members.

    Parameters
    ----------
    members : sequence of int
        The processors.
    """

    __slots__ = ("__weakref__", "_ranks", "members", "plain")

    members: Sequence[int]
    """The processors."""

    def __init__(self, members: Sequence[int]):
        self.members = members
        self.plain: int = 0
        """Number of ranks if every rank equals its processor's number; otherwise 0."""
        self._ranks: dict[int, int] | None = None

    def rank_of(self, processor: int) -> int:
        """Return a processor's rank; `UNDEFINED` if it is not a member."""
        if self._ranks is None:
            self._ranks = {member: rank for rank, member in enumerate(self.members)}
        return self._ranks.get(processor, UNDEFINED)

    def processor(self, rank: int) -> int:
        """Return the processor of a rank.

        Raises
        ------
        Exception
            ``ERR_RANK``: the rank does not exist.
        """
        if rank >= 0:
            try:
                return self.members[rank]
            except IndexError:
                pass
        raise REAL.Exception(REAL.ERR_RANK)


class RankRange(RankTable):
    """Processors at even distances, stored without a list or a table."""

    __slots__ = ()

    members: range

    def rank_of(self, processor: int) -> int:
        """Return a processor's rank; `UNDEFINED` if it is not a member."""
        members = self.members
        return members.index(processor) if processor in members else UNDEFINED


class WorldRanks(RankRange):
    """All processors: a rank equals its processor's number."""

    __slots__ = ()

    def __init__(self, members: range):
        super().__init__(members)
        self.plain = len(members)

    def rank_of(self, processor: int) -> int:
        """Return a processor's rank."""
        return processor


NOBODY = RankRange(range(0))
"""The members of the empty group."""


def rank_table(processors: Sequence[int]) -> RankTable:
    """Return a rank table of processors, in the given order."""
    if not len(processors):
        return NOBODY
    first, last = processors[0], processors[-1]
    step = processors[1] - first if len(processors) > 1 else 1
    if step == 0 or last - first != step * (len(processors) - 1):
        return RankTable(tuple(processors))
    evenly = range(first, last + (1 if step > 0 else -1), step)
    same = all(one == other for one, other in zip(processors, evenly, strict=True))
    return RankRange(evenly) if same else RankTable(tuple(processors))


def compare(one: RankTable, other: RankTable) -> int:
    """Compare two tables: `IDENT`, `SIMILAR` (another order) or `UNEQUAL`."""
    if one is other or list(one.members) == list(other.members):
        return int(REAL.IDENT)
    alike = len(one.members) == len(other.members) and set(one.members) == set(other.members)
    return int(REAL.SIMILAR if alike else REAL.UNEQUAL)
