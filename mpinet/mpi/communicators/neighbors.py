"""Neighbor collectives: every member exchanges with its neighbors in a grid or graph.

They are as many messages as there are links, all at once; the machine brings each to its target.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mpinet.mpi.collectives.collective import CallPlan, paired
from mpinet.mpi.collectives.planned import Planned
from mpinet.mpi.collectives.plans import read
from mpinet.mpi.messages.buffers import Blocks, Buffer, TypedBlocks, VectorBlocks
from mpinet.mpi.messages.objects import dumps, loads
from mpinet.mpi.real import PROC_NULL
from mpinet.mpi.world.calls import call, running
from mpinet.mpi.world.contexts import NEIGHBORS, Scope
from mpinet.mpi.world.endpoint import Endpoint
from mpinet.mpi.world.message import BODY


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """One neighbor collective, as one of the members takes part in it.

    It goes on when the communicator is freed, of which it needs nothing any more.
    """

    scope: Scope
    """Scope in which its messages are sent."""
    rank: int
    """The member's own."""
    topology: Any
    """The grid or graph."""
    turn: int
    """Number of the call among the member's."""
    start: int = 0
    """Number of times that the call was started before."""

    @classmethod
    def of(cls, comm: Endpoint) -> Neighborhood:
        """The running processor's next neighbor collective on a communicator."""
        state = comm._state
        state.neighbored += 1
        return cls(comm._scope.part(NEIGHBORS), comm.rank, state.topology, state.neighbored)

    def again(self, start: int) -> Neighborhood:
        """One start of a collective that has been prepared as this call."""
        return replace(self, start=start)

    def exchange(self, bodies: Sequence[bytes], take: Callable[[int, bytes], None]) -> None:
        """Send a body to each target, and take one from each source.

        Bodies over several links between two members find their places: on a grid those that go
        down come from above, on a graph they keep their order.

        Parameters
        ----------
        bodies : sequence of bytes
            A body for each target.
        take : callable
            Gets the place of a source, and its body.
        """
        mail, topology = running.mail, self.topology
        # A tag for each kind of link: two neighbours on a ring of two exchange in both directions
        # at once.
        first = paired(self.turn, self.start) * topology.ways
        targets = topology.targets(self.rank)
        # All sends before any receive. They are eager, so no order of the neighbours can deadlock.
        for place, (target, body) in enumerate(zip(targets, bodies, strict=True)):
            if target != PROC_NULL:
                mail.send(self.scope, target, first + topology.way(place), body)
        for place, source in enumerate(topology.sources(self.rank)):
            if source != PROC_NULL:
                tag = first + topology.way_from(place)
                take(place, mail.receive(self.scope, source, tag)[BODY])


class ExchangePlan(CallPlan):
    """Plan of a neighbor collective."""

    __slots__ = ()

    def part(self, comm: Endpoint, kind: str) -> Neighborhood:
        """The running processor's part in its next neighbor collective on a communicator."""
        return Neighborhood.of(comm)


def _gathering(kind: type[Blocks], comm: Any, sendbuf: Any, recvbuf: Any) -> CallPlan:
    """Plan to bring one buffer to all targets, and the sources' to the blocks of another."""
    indegree, outdegree = comm.degrees
    own, into = Buffer(sendbuf), kind(recvbuf, indegree, True)
    return ExchangePlan(lambda part: part.exchange([own.read()] * outdegree, into.write))


def _exchange(kind: type[Blocks], comm: Any, sendbuf: Any, recvbuf: Any) -> CallPlan:
    """Plan to bring a block of a buffer to each target, and the sources' to another's."""
    indegree, outdegree = comm.degrees
    out_of, into = kind(sendbuf, outdegree), kind(recvbuf, indegree, True)
    return ExchangePlan(lambda part: part.exchange(read(out_of, outdegree), into.write))


class NeighborCollectives(Endpoint):
    """Exchanges with all neighbors, as `mpi4py.MPI.Topocomm` has them."""

    __slots__ = ()

    # ---- the neighbors

    @property
    def degrees(self) -> tuple[int, int]:
        """Numbers of neighbors that the caller receives from, and that it sends to."""
        sources, targets = self.inoutedges
        return len(sources), len(targets)

    @property
    def indegree(self) -> int:
        """Number of neighbors that the caller receives from."""
        return self.degrees[0]

    @property
    def outdegree(self) -> int:
        """Number of neighbors that the caller sends to."""
        return self.degrees[1]

    @property
    def inoutedges(self) -> tuple[list[int], list[int]]:
        """Sources and destinations of the caller."""
        topology, rank = self._state.topology, self.rank
        return topology.sources(rank), topology.targets(rank)

    @property
    def inedges(self) -> list[int]:
        """Sources: whom the caller receives from."""
        return self.inoutedges[0]

    @property
    def outedges(self) -> list[int]:
        """Destinations: whom the caller sends to."""
        return self.inoutedges[1]

    # ---- objects

    @call
    def neighbor_allgather(self, sendobj: Any) -> list[Any]:
        """Bring an object to all neighbors; theirs, None beyond the end of a grid."""
        return self._swap_objects([dumps(sendobj)] * self.outdegree)

    @call
    def neighbor_alltoall(self, sendobj: list[Any]) -> list[Any]:
        """Bring an object to each neighbor; theirs, None beyond the end of a grid."""
        items = list(sendobj)
        if len(items) != self.outdegree:
            raise ValueError(f"expecting {self.outdegree} items, got {len(items)}")
        return self._swap_objects([dumps(item) for item in items])

    def _swap_objects(self, bodies: Sequence[bytes]) -> list[Any]:
        """Send a pickled object to each target; the sources' objects."""
        found = [None] * self.indegree

        def take(place: int, body: bytes) -> None:
            found[place] = loads(body)

        Neighborhood.of(self).exchange(bodies, take)
        return found

    # ---- buffers

    Neighbor_allgather = Planned(_gathering, Blocks)
    Neighbor_allgatherv = Planned(_gathering, VectorBlocks)
    Neighbor_alltoall = Planned(_exchange, Blocks)
    Neighbor_alltoallv = Planned(_exchange, VectorBlocks)
    Neighbor_alltoallw = Planned(_exchange, TypedBlocks)
