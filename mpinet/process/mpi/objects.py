"""Messages of Python objects between two ranks: a communicator's lower-case calls."""

from __future__ import annotations

from typing import Any

from mpinet.process.mpi.calls import call, running
from mpinet.process.mpi.membership import Membership
from mpinet.process.mpi.real import ANY_SOURCE, ANY_TAG, REAL
from mpinet.process.mpi.statuses import fill

dumps, loads = REAL.pickle.dumps, REAL.pickle.loads


class ObjectMessages(Membership):
    """Objects to and from one rank, as `mpi4py.MPI.Comm` has it."""

    @call
    def send(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Send an object."""
        matching = self._send(dumps(obj), dest, tag, running.world.synchronous)
        if matching is not None:
            running.world.wait(matching)

    @call
    def ssend(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Send an object, and wait until a receive has matched."""
        matching = self._send(dumps(obj), dest, tag, True)
        if matching is not None:
            running.world.wait(matching)

    @call
    def recv(
        self,
        buf: Any = None,
        source: int = ANY_SOURCE,
        tag: int = ANY_TAG,
        status: Any = None,
    ) -> Any:
        """Receive an object."""
        message = self._receive(source, tag)
        if status is not None:
            fill(status, message)
        return None if message is None else loads(message.data)
