"""Persistent requests, which can be started repeatedly, with partitioned communication."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mpinet.mpi.messages.buffers import Buffer
from mpinet.mpi.messages.partitions import PartitionedEnd, Receiver, Sender
from mpinet.mpi.messages.requests import Request
from mpinet.mpi.messages.statuses import blank
from mpinet.mpi.real import ANY_SOURCE, ANY_TAG, PROC_NULL, REAL, as_int
from mpinet.mpi.world.calls import call
from mpinet.mpi.world.endpoint import Endpoint


class Prequest(Request):
    """Communication that can be started repeatedly, as `mpi4py.MPI.Prequest`."""

    __slots__ = ("_end",)

    _end: PartitionedEnd | None

    def __new__(cls, request: Request | None = None) -> Prequest:
        """Create another Python object for the same persistent request."""
        made = super().__new__(cls, request)
        made._end = request._end if isinstance(request, Prequest) else None
        return made

    @classmethod
    def _repeating(
        cls, begin: Callable[[], Request], end: PartitionedEnd | None = None
    ) -> Prequest:
        """Return an inactive request; each start calls `begin`."""
        made = object.__new__(cls)
        made._begin, made._event, made._finish, made._end = begin, None, blank, end
        return made

    @classmethod
    def _kind(cls) -> type[Request]:
        return Prequest

    @call
    def Start(self) -> None:
        """Start the communication of the persistent request."""
        if self._begin is None or self._event is not None:
            raise REAL.Exception(REAL.ERR_REQUEST)
        # Each start is a communication of its own. The request only takes over its event.
        begun = self._begin()
        self._event, self._finish = begun._event, begun._finish

    @classmethod
    @call
    def Startall(cls, requests: Sequence[Prequest]) -> None:
        """Start the communication of several requests."""
        for request in requests:
            request.Start()

    # ---- partitioned communication

    @property
    def _partitioned(self) -> PartitionedEnd:
        """This request's end of the partitioned message.

        Raises
        ------
        Exception
            ``ERR_REQUEST``: the request is not partitioned.
        """
        if not self or self._end is None:
            raise REAL.Exception(REAL.ERR_REQUEST)
        return self._end

    @call
    def Pready(self, partition: int) -> None:
        """Mark a partition as ready to be sent."""
        self._partitioned.ready(as_int(partition))

    @call
    def Pready_range(self, partition_low: int, partition_high: int) -> None:
        """Mark a range of partitions, including both ends, as ready to be sent."""
        self.Pready_list(range(as_int(partition_low), as_int(partition_high) + 1))

    @call
    def Pready_list(self, partitions: Sequence[int]) -> None:
        """Mark several partitions as ready to be sent."""
        for partition in partitions:
            self.Pready(partition)

    @call
    def Parrived(self, partition: int) -> bool:
        """Return whether a partition has arrived, after at most one step of the machine."""
        return self._partitioned.arrived(as_int(partition))


class PartitionedMessages(Endpoint):
    """Partitioned point-to-point communication, as in `mpi4py.MPI.Comm`."""

    __slots__ = ()

    @call
    def Psend_init(
        self, buf: Any, partitions: int, dest: int, tag: int = 0, info: Any = REAL.INFO_NULL
    ) -> Prequest:
        """Create a persistent request for a send in partitions."""
        buffer = _divided(buf, partitions, dest, False)
        sender = Sender(self._scope, buffer, as_int(partitions), as_int(dest), as_int(tag))
        return Prequest._repeating(sender.begin, sender)

    @call
    def Precv_init(
        self,
        buf: Any,
        partitions: int,
        source: int = ANY_SOURCE,
        tag: int = ANY_TAG,
        info: Any = REAL.INFO_NULL,
    ) -> Prequest:
        """Create a persistent request for a receive in partitions, without wildcards."""
        if source == ANY_SOURCE:
            raise REAL.Exception(REAL.ERR_RANK)
        if tag == ANY_TAG:
            raise REAL.Exception(REAL.ERR_TAG)
        buffer = _divided(buf, partitions, source, True)
        receiver = Receiver(self._scope, buffer, as_int(partitions), as_int(source), as_int(tag))
        return Prequest._repeating(receiver.begin, receiver)


def _divided(buf: Any, partitions: int, rank: int, writable: bool) -> Buffer | None:
    """Return the memory of the first partition; None for `PROC_NULL`."""
    return None if rank == PROC_NULL else Buffer(buf, writable, max(partitions, 1))
