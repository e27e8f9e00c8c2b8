"""Collectives of pickled objects: a communicator's lower-case calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from numbers import Number
from typing import Any, TypeAlias

import numpy as np

from mpinet.mpi.collectives.algorithms import CollectiveCalls
from mpinet.mpi.collectives.collective import Terms
from mpinet.mpi.collectives.operators import SUM, Op
from mpinet.mpi.collectives.payloads import Fold, Part
from mpinet.mpi.messages.objects import dumps, loads
from mpinet.mpi.real import REAL
from mpinet.mpi.world.calls import call

Operator: TypeAlias = Op | Callable[[Any, Any], Any]

Kinds: TypeAlias = tuple[type[Any], ...]

NUMERIC: Kinds = (int, float, Number, np.generic, np.ndarray)
"""Types for which predefined operators commute; strings and lists are not among them."""


class ObjectCollectives(CollectiveCalls):
    """Collectives of objects, as in `mpi4py.MPI.Intracomm` and `mpi4py.MPI.Intercomm`.

    Between two groups, each group gets the objects of the remote group.
    """

    __slots__ = ()

    @call
    def barrier(self) -> None:
        """Wait until all members have called."""
        self._part("barrier").barrier()

    @call
    def bcast(self, obj: Any = None, root: int = 0) -> Any:
        """Broadcast the root's object to all members."""
        role = self._role(root)
        data = dumps(obj) if role.is_root else None
        return loaded(self._part("bcast", Terms(role.root)).broadcast(role.root, data))

    @call
    def gather(self, sendobj: Any, root: int = 0) -> list[Any] | None:
        """Gather an object of every member at the root, by rank."""
        rank = self._role(root).root
        items = self._part("gather", Terms(rank)).gather(rank, dumps(sendobj))
        return None if items is None else [loads(item) for item in items]

    @call
    def scatter(self, sendobj: Sequence[Any] | None, root: int = 0) -> Any:
        """Scatter the root's objects, one to each member."""
        role = self._role(root)
        items = dumped(sendobj, len(self._others.members)) if role.is_root else None
        return loaded(self._part("scatter", Terms(role.root)).scatter(role.root, items))

    @call
    def allgather(self, sendobj: Any) -> list[Any]:
        """Gather an object of every member at all members, by rank."""
        return [loads(item) for item in self._part("allgather").allgather(dumps(sendobj))]

    @call
    def alltoall(self, sendobj: Sequence[Any]) -> list[Any]:
        """Send an object of every member to every member, by rank."""
        items = dumped(sendobj, len(self._others.members))
        return [loads(item) for item in self._part("alltoall").alltoall(items)]

    @call
    def reduce(self, sendobj: Any, op: Operator = SUM, root: int = 0) -> Any:
        """Combine the objects of all members at the root."""
        role = self._role(root)
        own, fold = self._operand(sendobj, op)
        part = self._part("reduce", Terms(role.root, op))
        return loaded(part.reduce(role.root, own if role.serves else None, fold))

    @call
    def allreduce(self, sendobj: Any, op: Operator = SUM) -> Any:
        """Combine the objects of all members; all members get the result."""
        own, fold = self._operand(sendobj, op)
        return loads(self._part("allreduce", Terms(op=op)).allreduce(own, fold))

    @call
    def scan(self, sendobj: Any, op: Operator = SUM) -> Any:
        """Combine the objects of all members up to the caller."""
        return self._scanned("scan", sendobj, op, True)

    @call
    def exscan(self, sendobj: Any, op: Operator = SUM) -> Any:
        """Combine the objects of all members before the caller; None for the first."""
        return self._scanned("exscan", sendobj, op, False)

    def _scanned(self, kind: str, sendobj: Any, op: Operator, inclusive: bool) -> Any:
        """Combine the objects of the members before the caller; with `inclusive` also its own."""
        self._require_one_group()
        part = self._part(kind, Terms(op=op))
        return loaded(part.scan(dumps(sendobj), combining(op), inclusive))

    def _operand(self, sendobj: Any, op: Operator) -> tuple[Part, Fold]:
        """Return the caller's part in a reduction, and the reduction."""
        fold, kinds = folding(op)
        return fold.part(self.rank, dumps(sendobj), isinstance(sendobj, kinds)), fold


def loaded(body: bytes | None) -> Any:
    """Return the object of a body; None without a body."""
    return None if body is None else loads(body)


def dumped(objects: Sequence[Any] | None, size: int) -> list[bytes]:
    """Pickle the objects for all members.

    Raises
    ------
    ValueError
        The number of objects differs from the number of members.
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
    """Return an operator's reduction of pickled objects, and the types for which it commutes."""
    if isinstance(op, Op) and op.is_predefined:
        return _predefined(op.handle)
    return Fold(combining(op)), ()


@cache
def _predefined(handle: int) -> tuple[Fold, Kinds]:
    """Return the reduction and commuting types of a predefined operator; cached for all."""
    op = Op.fromhandle(handle)
    if not op.in_any_order:
        return Fold(combining(op)), ()
    # Sums of numbers commute, but `+` of strings and lists does not. The operand's type decides,
    # not the operator alone.
    return Fold(combining(op)), (object,) if op in (REAL.MAXLOC, REAL.MINLOC) else NUMERIC
