"""Collectives of pickled objects: a communicator's lower-case calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from numbers import Number
from typing import Any, TypeAlias

import numpy as np

from mpinet.mpi.collectives import algorithms
from mpinet.mpi.collectives.collective import Collective, Terms, known_root
from mpinet.mpi.collectives.operators import SUM, Op
from mpinet.mpi.collectives.payloads import Fold, Part
from mpinet.mpi.messages.objects import dumps, loads
from mpinet.mpi.real import REAL
from mpinet.mpi.world.calls import call
from mpinet.mpi.world.endpoint import Endpoint

Operator: TypeAlias = Op | Callable[[Any, Any], Any]

Kinds: TypeAlias = tuple[type[Any], ...]

NUMERIC: Kinds = (int, float, Number, np.generic, np.ndarray)
"""Types that predefined operators combine to the same in any order; strings and lists are others.
"""


class ObjectCollectives(Endpoint):
    """Collectives of objects, as `mpi4py.MPI.Intracomm` has them."""

    __slots__ = ()

    @call
    def barrier(self) -> None:
        """Wait until all members have called."""
        algorithms.barrier(Collective.of(self, "barrier"))

    @call
    def bcast(self, obj: Any, root: int = 0) -> Any:
        """Bring the root's object to all members."""
        root = known_root(self, root)
        data = dumps(obj) if self.rank == root else None
        return loads(algorithms.broadcast(Collective.of(self, "bcast", Terms(root)), root, data))

    @call
    def gather(self, sendobj: Any, root: int = 0) -> list[Any] | None:
        """Bring an object of every member to the root, by rank."""
        root = known_root(self, root)
        items = algorithms.gather(Collective.of(self, "gather", Terms(root)), root, dumps(sendobj))
        return None if items is None else [loads(item) for item in items]

    @call
    def scatter(self, sendobj: Sequence[Any] | None, root: int = 0) -> Any:
        """Bring an object of the root's to every member."""
        root = known_root(self, root)
        items = dumped(sendobj, self.size) if self.rank == root else None
        return loads(algorithms.scatter(Collective.of(self, "scatter", Terms(root)), root, items))

    @call
    def allgather(self, sendobj: Any) -> list[Any]:
        """Bring an object of every member to all, by rank."""
        items = algorithms.allgather(Collective.of(self, "allgather"), dumps(sendobj))
        return [loads(item) for item in items]

    @call
    def alltoall(self, sendobj: Sequence[Any]) -> list[Any]:
        """Bring an object of every member to every other, by rank."""
        items = dumped(sendobj, self.size)
        items = algorithms.alltoall(Collective.of(self, "alltoall"), items)
        return [loads(item) for item in items]

    @call
    def reduce(self, sendobj: Any, op: Operator = SUM, root: int = 0) -> Any:
        """Combine all members' objects at the root."""
        root = known_root(self, root)
        own, fold = self._operand(sendobj, op)
        result = algorithms.reduce(Collective.of(self, "reduce", Terms(root, op)), root, own, fold)
        return None if result is None else loads(result)

    @call
    def allreduce(self, sendobj: Any, op: Operator = SUM) -> Any:
        """Combine all members' objects for all of them."""
        own, fold = self._operand(sendobj, op)
        return loads(
            algorithms.allreduce(Collective.of(self, "allreduce", Terms(op=op)), own, fold)
        )

    @call
    def scan(self, sendobj: Any, op: Operator = SUM) -> Any:
        """Combine the objects of all members up to the caller."""
        return self._scanned("scan", sendobj, op, True)

    @call
    def exscan(self, sendobj: Any, op: Operator = SUM) -> Any:
        """Combine the objects of all members before the caller; None for the first."""
        return self._scanned("exscan", sendobj, op, False)

    def _scanned(self, kind: str, sendobj: Any, op: Operator, inclusive: bool) -> Any:
        """Combine the objects of the members before the caller, and its own if that counts."""
        collective = Collective.of(self, kind, Terms(op=op))
        result = algorithms.scan(collective, dumps(sendobj), combining(op), inclusive)
        return None if result is None else loads(result)

    def _operand(self, sendobj: Any, op: Operator) -> tuple[Part, Fold]:
        """The caller's part in a reduction, and how parts are combined."""
        fold, kinds = folding(op)
        return fold.part(self.rank, dumps(sendobj), isinstance(sendobj, kinds)), fold


def dumped(objects: Sequence[Any] | None, size: int) -> list[bytes]:
    """The pickled objects for all members.

    Raises
    ------
    ValueError
        There are more or fewer than members.
    """
    found = [None] * size if objects is None else list(objects)
    if len(found) != size:
        raise ValueError(f"expecting {size} items, got {len(found)}")
    return [dumps(each) for each in found]


def combining(op: Operator) -> Callable[[bytes, bytes], bytes]:
    """Return the function by which an operator combines two pickled objects."""

    def combine(low: bytes, high: bytes) -> bytes:
        result: bytes = dumps(op(loads(low), loads(high)))
        return result

    return combine


def folding(op: Operator) -> tuple[Fold, Kinds]:
    """Return how an operator folds pickled objects, and those types that it folds in any order."""
    if isinstance(op, Op) and op.is_predefined:
        return _predefined(op.handle)
    return Fold(combining(op)), ()


@cache
def _predefined(handle: int) -> tuple[Fold, Kinds]:
    """The same of one of MPI's own operators, which all processors share."""
    op = Op.fromhandle(handle)
    if not op.in_any_order:
        return Fold(combining(op)), ()
    return Fold(combining(op)), (object,) if op in (REAL.MAXLOC, REAL.MINLOC) else NUMERIC
