"""Collectives of intercommunicators: those of objects, and which plans those of buffers follow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mpinet.mpi.collectives import intercomm_algorithms as algorithms
from mpinet.mpi.collectives import intercomm_plans
from mpinet.mpi.collectives.intercomm_algorithms import Between, known_remote_root
from mpinet.mpi.collectives.objects import ObjectCollectives, Operator, dumped
from mpinet.mpi.collectives.operators import SUM
from mpinet.mpi.messages.objects import dumps, loads
from mpinet.mpi.real import REAL
from mpinet.mpi.world.calls import call
from mpinet.mpi.world.endpoint import IntercommEndpoint


class InterCollectives(IntercommEndpoint, ObjectCollectives):
    """Collectives as `mpi4py.MPI.Intercomm` has them."""

    __slots__ = ()

    _plans: Any = intercomm_plans

    @call
    def barrier(self) -> None:
        """Wait until all members of the other group have called."""
        algorithms.barrier(Between(self, "barrier"))

    @call
    def bcast(self, obj: Any = None, root: int = 0) -> Any:
        """Bring the root's object to all members of the other group."""
        root = known_remote_root(self, root)
        body = dumps(obj) if root == REAL.ROOT else None
        return _loaded(algorithms.broadcast(Between(self, "bcast"), root, body))

    @call
    def gather(self, sendobj: Any, root: int = 0) -> list[Any] | None:
        """Bring an object of every member of the other group to the root, by rank."""
        root = known_remote_root(self, root)
        items = algorithms.gather(Between(self, "gather"), root, dumps(sendobj))
        return None if items is None else [loads(item) for item in items]

    @call
    def scatter(self, sendobj: Sequence[Any] | None, root: int = 0) -> Any:
        """Bring an object of the root's to every member of the other group."""
        root = known_remote_root(self, root)
        items = dumped(sendobj, self.remote_size) if root == REAL.ROOT else ()
        return _loaded(algorithms.scatter(Between(self, "scatter"), root, items))

    @call
    def allgather(self, sendobj: Any) -> list[Any]:
        """Bring an object of every member to all of the other group, by rank."""
        items = algorithms.allgather(Between(self, "allgather"), dumps(sendobj))
        return [loads(item) for item in items]

    @call
    def alltoall(self, sendobj: Sequence[Any]) -> list[Any]:
        """Bring an object of every member to every one of the other group, by rank."""
        items = dumped(sendobj, self.remote_size)
        return [loads(item) for item in algorithms.alltoall(Between(self, "alltoall"), items)]

    @call
    def reduce(self, sendobj: Any, op: Operator = SUM, root: int = 0) -> Any:
        """Combine the objects of all members of the other group at the root."""
        root = known_remote_root(self, root)
        own, fold = self._operand(sendobj, op)
        body = algorithms.reduce(Between(self, "reduce"), root, own if root >= 0 else None, fold)
        return _loaded(body)

    @call
    def allreduce(self, sendobj: Any, op: Operator = SUM) -> Any:
        """Combine the objects of all members of each group for all of the other one."""
        own, fold = self._operand(sendobj, op)
        return loads(algorithms.allreduce(Between(self, "allreduce"), own, fold))

    def scan(self, sendobj: Any, op: Operator = SUM) -> Any:
        """There is none between groups."""
        intercomm_plans.scan()

    exscan = scan


def _loaded(body: bytes | None) -> Any:
    """The object of a body, if there is one."""
    return None if body is None else loads(body)
