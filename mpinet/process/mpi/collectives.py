"""Collectives of Python objects."""

from __future__ import annotations

from typing import Any

from mpinet.process.mpi.calls import call, running
from mpinet.process.mpi.membership import Membership
from mpinet.process.mpi.objects import dumps, loads


class Collectives(Membership):
    """Calls that all members make together."""

    @call
    def bcast(self, obj: Any = None, root: int = 0) -> Any:
        """Bring the root's object to all members."""
        data = self._broadcast(dumps(obj) if self.rank == root else b"", root)
        return obj if self.rank == root else loads(data)

    def _broadcast(self, data: bytes, root: int) -> bytes:
        tree = running.world.tree(self._processor(root))
        here = running.world.current.id
        parent = tree.parent(here)
        if parent >= 0:
            data = self._hear(self._group.rank_of(parent), 0)
        for child in tree.children(here):
            self._tell(self._group.rank_of(child), 0, data)
        return data
