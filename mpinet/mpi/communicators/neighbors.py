"""Neighbor collectives: every member exchanges with its neighbors in a grid or graph.

They are as many messages as there are links, all at once; the machine brings each to its target.
"""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from mpinet.mpi.collectives.collective import paired
from mpinet.mpi.messages.buffers import Blocks, read
from mpinet.mpi.messages.objects import dumps, loads
from mpinet.mpi.messages.requests import Prequest, Request
from mpinet.mpi.real import PROC_NULL, REAL
from mpinet.mpi.world.calls import call, running
from mpinet.mpi.world.contexts import NEIGHBORS
from mpinet.mpi.world.endpoint import Endpoint
from mpinet.mpi.world.message import BODY

Bodies = Sequence[bytes]
Exchange = tuple[Callable[[], Bodies], Callable[[int, bytes], None]]
"""What gives the body for each target, and what takes the body from the source in a place."""

Swap = Callable[[Exchange, int, int], None]
"""Does an exchange, given its number among the caller's, and how often it was started before."""


class NeighborCollectives(Endpoint):
    """Exchanges with all neighbors, as `mpi4py.MPI.Topocomm` has them."""

    __slots__ = ()

    # ---- the neighbors

    @property
    def degrees(self) -> tuple[int, int]:
        """How many neighbors the caller receives from, and how many it sends to."""
        sources, targets = self.inoutedges
        return len(sources), len(targets)

    @property
    def indegree(self) -> int:
        """How many neighbors the caller receives from."""
        return self.degrees[0]

    @property
    def outdegree(self) -> int:
        """How many neighbors the caller sends to."""
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

    def _swap_objects(self, bodies: Bodies) -> list[Any]:
        """Send a pickled object to each target; the sources' objects."""
        found = [None] * self.indegree

        def take(place: int, body: bytes) -> None:
            found[place] = loads(body)

        self._swap((lambda: bodies, take), self._swap_turn())
        return found

    # ---- buffers

    @call
    def Neighbor_allgather(self, sendbuf: Any, recvbuf: Any) -> None:
        """Bring a buffer to all neighbors."""
        self._swap(self._swap_gathering(sendbuf, Blocks, recvbuf), self._swap_turn())

    @call
    def Neighbor_allgatherv(self, sendbuf: Any, recvbuf: Any) -> None:
        """Bring a buffer to all neighbors, which send various lengths."""
        self._swap(self._swap_gathering(sendbuf, Blocks.v, recvbuf), self._swap_turn())

    @call
    def Neighbor_alltoall(self, sendbuf: Any, recvbuf: Any) -> None:
        """Bring a block of a buffer to each neighbor."""
        self._swap(self._swap_blocks(Blocks, sendbuf, recvbuf), self._swap_turn())

    @call
    def Neighbor_alltoallv(self, sendbuf: Any, recvbuf: Any) -> None:
        """Bring a block of a buffer to each neighbor, of various lengths."""
        self._swap(self._swap_blocks(Blocks.v, sendbuf, recvbuf), self._swap_turn())

    @call
    def Neighbor_alltoallw(self, sendbuf: Any, recvbuf: Any) -> None:
        """Bring a block of a buffer to each neighbor, of various lengths and datatypes."""
        self._swap(self._swap_blocks(Blocks.w, sendbuf, recvbuf), self._swap_turn())

    # ---- buffers, begun

    @call
    def Ineighbor_allgather(self, sendbuf: Any, recvbuf: Any) -> Request:
        """Begin to bring a buffer to all neighbors."""
        return self._swap_begun(self._swap_gathering(sendbuf, Blocks, recvbuf))

    @call
    def Ineighbor_allgatherv(self, sendbuf: Any, recvbuf: Any) -> Request:
        """Begin to bring a buffer to all neighbors, which send various lengths."""
        return self._swap_begun(self._swap_gathering(sendbuf, Blocks.v, recvbuf))

    @call
    def Ineighbor_alltoall(self, sendbuf: Any, recvbuf: Any) -> Request:
        """Begin to bring a block of a buffer to each neighbor."""
        return self._swap_begun(self._swap_blocks(Blocks, sendbuf, recvbuf))

    @call
    def Ineighbor_alltoallv(self, sendbuf: Any, recvbuf: Any) -> Request:
        """Begin to bring a block of a buffer to each neighbor, of various lengths."""
        return self._swap_begun(self._swap_blocks(Blocks.v, sendbuf, recvbuf))

    @call
    def Ineighbor_alltoallw(self, sendbuf: Any, recvbuf: Any) -> Request:
        """Begin to bring a block of a buffer to each neighbor, of various lengths and datatypes."""
        return self._swap_begun(self._swap_blocks(Blocks.w, sendbuf, recvbuf))

    # ---- buffers, prepared

    def Neighbor_allgather_init(
        self, sendbuf: Any, recvbuf: Any, info: Any = REAL.INFO_NULL
    ) -> Prequest:
        """Prepare to bring a buffer to all neighbors."""
        return self._swap_prepared(self._swap_gathering(sendbuf, Blocks, recvbuf))

    def Neighbor_allgatherv_init(
        self, sendbuf: Any, recvbuf: Any, info: Any = REAL.INFO_NULL
    ) -> Prequest:
        """Prepare to bring a buffer to all neighbors, which send various lengths."""
        return self._swap_prepared(self._swap_gathering(sendbuf, Blocks.v, recvbuf))

    def Neighbor_alltoall_init(
        self, sendbuf: Any, recvbuf: Any, info: Any = REAL.INFO_NULL
    ) -> Prequest:
        """Prepare to bring a block of a buffer to each neighbor."""
        return self._swap_prepared(self._swap_blocks(Blocks, sendbuf, recvbuf))

    def Neighbor_alltoallv_init(
        self, sendbuf: Any, recvbuf: Any, info: Any = REAL.INFO_NULL
    ) -> Prequest:
        """Prepare to bring a block of a buffer to each neighbor, of various lengths."""
        return self._swap_prepared(self._swap_blocks(Blocks.v, sendbuf, recvbuf))

    def Neighbor_alltoallw_init(
        self, sendbuf: Any, recvbuf: Any, info: Any = REAL.INFO_NULL
    ) -> Prequest:
        """Prepare to bring a block of a buffer to each neighbor, of various datatypes."""
        return self._swap_prepared(self._swap_blocks(Blocks.w, sendbuf, recvbuf))

    # ---- steps of the above

    def _swap_gathering(
        self, sendbuf: Any, division: Callable[..., Blocks], recvbuf: Any
    ) -> Exchange:
        """One buffer for all targets, and a division of the other one for the sources."""
        indegree, outdegree = self.degrees
        return lambda: [read(sendbuf)] * outdegree, division(recvbuf, indegree, writable=True).write

    def _swap_blocks(self, division: Callable[..., Blocks], sendbuf: Any, recvbuf: Any) -> Exchange:
        """Divisions of both buffers."""
        indegree, outdegree = self.degrees
        blocks = division(sendbuf, outdegree)
        return (
            lambda: [blocks.read(place) for place in range(outdegree)],
            division(recvbuf, indegree, writable=True).write,
        )

    def _swap_begun(self, exchange: Exchange) -> Request:
        """Begin an exchange."""
        return _begun(self._swapping(), exchange, self._swap_turn(), 0)

    def _swap_prepared(self, exchange: Exchange) -> Prequest:
        """Prepare an exchange."""
        swap, turn, starts = self._swapping(), self._swap_turn(), count()
        return Prequest.repeating(lambda: _begun(swap, exchange, turn, next(starts)))

    def _swap_turn(self) -> int:
        """The number of the caller's next neighbor collective."""
        holding = self._state
        holding.neighbored += 1
        return holding.neighbored

    def _swap(self, exchange: Exchange, turn: int) -> None:
        """Do an exchange."""
        self._swapping()(exchange, turn, 0)

    def _swapping(self) -> Swap:
        """What sends a body to each target, and takes one from each source.

        Bodies over several links between two members find their places: on a grid those that go
        down come from above, on a graph they keep their order. An exchange that has been begun
        goes on when the communicator is freed.
        """
        mail, rank = running.mail, self.rank
        topology, scope = self._state.topology, self._scope.part(NEIGHBORS)

        def swap(exchange: Exchange, turn: int, start: int) -> None:
            bodies, take = exchange
            first = paired(turn, start) * topology.ways
            targets = topology.targets(rank)
            for place, (target, body) in enumerate(zip(targets, bodies(), strict=True)):
                if target != PROC_NULL:
                    tag = first + topology.way(place)
                    mail.send(scope, target, tag, body)
            for place, source in enumerate(topology.sources(rank)):
                if source != PROC_NULL:
                    tag = first + topology.way_from(place)
                    body = mail.receive(scope, source, tag)[BODY]
                    take(place, body)

        return swap


def _begun(swap: Swap, exchange: Exchange, turn: int, start: int) -> Request:
    """Begin an exchange with what is there to be sent now."""
    bodies, take = exchange
    sent = bodies()
    return Request.of_fiber(lambda: swap((lambda: sent, take), turn, start))
