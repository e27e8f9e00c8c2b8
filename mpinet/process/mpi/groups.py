"""Groups: ordered sets of processors."""

from __future__ import annotations

from collections.abc import Sequence

from mpinet.process.mpi.real import REAL, UNDEFINED


class Group(REAL.Group):  # type: ignore[misc]
    """An ordered set of processors.

    Attributes
    ----------
    members : sequence of int
        The processors, by rank.
    """

    members: Sequence[int]
    _ranks: dict[int, int] | None

    def __new__(cls, members: Sequence[int] = ()) -> Group:
        """A group of processors."""
        group: Group = REAL.Group.__new__(cls)
        group.members = members
        group._ranks = None
        return group

    def rank_of(self, processor: int) -> int:
        """A processor's rank in the group; `UNDEFINED` if it is not in it."""
        if isinstance(self.members, range):
            return processor if processor in self.members else UNDEFINED
        if self._ranks is None:
            self._ranks = {one: rank for rank, one in enumerate(self.members)}
        return self._ranks.get(processor, UNDEFINED)
