"""Neighborhood collectives: every member exchanges with its neighbors in a grid or graph.

A call sends one message per link, all at the same time; the machine routes each to its target.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mpinet.mpi.collectives.collective import CallPlan, paired
from mpinet.mpi.collectives.planned import Planned
from mpinet.mpi.messages.buffers import Blocks, Buffer, TypedBlocks, VectorBlocks
from mpinet.mpi.messages.objects import dumps, loads
from mpinet.mpi.real import PROC_NULL
from mpinet.mpi.world.calls import call, running
from mpinet.mpi.world.contexts import NEIGHBORS, Scope
from mpinet.mpi.world.endpoint import Endpoint
from mpinet.mpi.world.message import BODY


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """A neighborhood collective, from the view of one member.

    It continues after the communicator is freed, because it no longer needs the communicator.
    """

    scope: Scope
    """Scope of the messages."""
    rank: int
    """The member's rank."""
    topology: Any
    """The communicator's grid or graph."""
    turn: int
    """Number of this call among the member's neighborhood collectives."""
    start: int = 0
    """Number of earlier starts of a persistent call."""

    @classmethod
    def of(cls, comm: Endpoint) -> Neighborhood:
        """Return the running processor's next neighborhood collective on a communicator."""
        state = comm._state
        state.neighbored += 1
        return cls(comm._scope.part(NEIGHBORS), comm.rank, state.topology, state.neighbored)

    def again(self, start: int) -> Neighborhood:
        """Return one start of a persistent collective, initialized as this call."""
        return replace(self, start=start)

    def exchange(self, bodies: Sequence[bytes], take: Callable[[int, bytes], None]) -> None:
        """Send a body to each target, and receive a body from each source.

        Several links between the same two members are kept apart. On a grid, a body sent downwards
        arrives from above. On a graph, bodies keep their order.

        Parameters
        ----------
        bodies : sequence of bytes
            A body for each target.
        take : callable
            Called with the index of a source and its body.
        """
        mail, topology = running.mail, self.topology
        # A tag for each direction: two neighbors on a ring of length 2 exchange in both directions
        # at once.
        first = paired(self.turn, self.start) * topology.ways
        targets = topology.targets(self.rank)
        # All sends come before any receive. Sends are eager, and no order of the neighbors can
        # deadlock.
        for place, (target, body) in enumerate(zip(targets, bodies, strict=True)):
            if target != PROC_NULL:
                mail.send(self.scope, target, first + topology.way(place), body)
        for place, source in enumerate(topology.sources(self.rank)):
            if source != PROC_NULL:
                tag = first + topology.way_from(place)
                take(place, mail.receive(self.scope, source, tag)[BODY])


class ExchangePlan(CallPlan):
    """Plan of a neighborhood collective."""

    __slots__ = ()

    def part(self, comm: Endpoint, kind: str) -> Neighborhood:
        """Return the running processor's part in its next neighborhood collective."""
        return Neighborhood.of(comm)


def _gathering(kind: type[Blocks], comm: Any, sendbuf: Any, recvbuf: Any) -> CallPlan:
    """Plan to send a buffer to all targets, and receive the sources' buffers in blocks."""
    indegree, outdegree = comm.degrees
    own, into = Buffer(sendbuf), kind(recvbuf, indegree, True)
    return ExchangePlan(lambda part: part.exchange([own.read()] * outdegree, into.write))


def _exchange(kind: type[Blocks], comm: Any, sendbuf: Any, recvbuf: Any) -> CallPlan:
    """Plan to send a block to each target, and receive a block from each source."""
    indegree, outdegree = comm.degrees
    out_of, into = kind(sendbuf, outdegree), kind(recvbuf, indegree, True)
    return ExchangePlan(lambda part: part.exchange(out_of.read(outdegree), into.write))


class NeighborCollectives(Endpoint):
    """Neighborhood collectives, as in `mpi4py.MPI.Topocomm`."""

    __slots__ = ()

    # ---- neighbors

    @property
    def degrees(self) -> tuple[int, int]:
        """Number of sources and number of destinations of the caller."""
        sources, targets = self.inoutedges
        return len(sources), len(targets)

    @property
    def indegree(self) -> int:
        """Number of sources of the caller."""
        return self.degrees[0]

    @property
    def outdegree(self) -> int:
        """Number of destinations of the caller."""
        return self.degrees[1]

    @property
    def inoutedges(self) -> tuple[list[int], list[int]]:
        """Sources and destinations of the caller."""
        topology, rank = self._state.topology, self.rank
        return topology.sources(rank), topology.targets(rank)

    @property
    def inedges(self) -> list[int]:
        """Ranks from which the caller receives."""
        return self.inoutedges[0]

    @property
    def outedges(self) -> list[int]:
        """Ranks to which the caller sends."""
        return self.inoutedges[1]

    # ---- objects

    @call
    def neighbor_allgather(self, sendobj: Any) -> list[Any]:
        """Send an object to all neighbors; return their objects, None beyond a grid's end."""
        return self._swap_objects([dumps(sendobj)] * self.outdegree)

    @call
    def neighbor_alltoall(self, sendobj: list[Any]) -> list[Any]:
        """Send an object to each neighbor; return their objects, None beyond a grid's end."""
        items = list(sendobj)
        if len(items) != self.outdegree:
            raise ValueError(f"expecting {self.outdegree} items, got {len(items)}")
        return self._swap_objects([dumps(item) for item in items])

    def _swap_objects(self, bodies: Sequence[bytes]) -> list[Any]:
        """Send a pickled object to each target; return the sources' objects."""
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
