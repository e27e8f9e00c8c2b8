"""Reduction operators, predefined and the script's own."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mpinet.mpi.constants import NamedNumber, instance_of, serialized
from mpinet.mpi.messages.buffers import Buffer
from mpinet.mpi.messages.layouts import layout_of
from mpinet.mpi.real import REAL
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.handles import handle_of, thing_of

MOST_OWN = 32
"""Operators of a script's own that a processor may have at a time, as in mpi4py."""

CREATED = "operators"
"""Under this a processor keeps how many operators of its own it has."""

KIND = "operator"
"""Kind of the handles of a script's own operators."""

OWN = 1 << 16
"""Integers above this stand for a script's own operators; MPI's own have fewer."""

Function = Callable[[Any, Any, Any], Any]


class Op(REAL.Op):  # type: ignore[misc]
    """An operator, as `mpi4py.MPI.Op`.

    Predefined ones are known to the real operator below it; of a script's own nothing is, so that
    the real MPI's few places for those stay free.
    """

    _own: UserFunction | None
    _constant = False
    _found = False  # by its number, from which mpi4py knows no function

    place = 1
    """Number of the operator among MPI's own, from 2 on, the same on all ranks; 1: one of a
    script's.
    """

    def __new__(cls, op: Op | None = None) -> Op:
        """The null operator, or another face of an operator."""
        self: Op = REAL.Op.__new__(cls, op)
        self._own = None if op is None else getattr(op, "_own", None)
        self.place = getattr(op, "place", 1)
        return self

    @classmethod
    def Create(cls, function: Function, commute: bool = False) -> Op:
        """An operator of the script's own.

        Parameters
        ----------
        function : callable
            ``function(low, inout, datatype)``, which leaves its result in the memory ``inout``;
            called with two objects and None by the lower-case reductions.
        commute : bool
            Whether the order of operands does not matter.

        Raises
        ------
        RuntimeError
            The processor has too many.
        """
        if not callable(function):
            raise AttributeError(f"{type(function).__name__!r} object cannot be called")
        kept = running.turns.current.storage()
        if kept.get(CREATED, 0) == MOST_OWN:
            raise RuntimeError("cannot create too many user-defined reduction operations")
        kept[CREATED] = kept.get(CREATED, 0) + 1
        self = cls()
        self._own = UserFunction(function, bool(commute), kept)
        return self

    def Free(self) -> None:
        """Give up an operator of the script's own."""
        if self._own is None:
            raise REAL.Exception(REAL.ERR_OP)
        if not self._own.freed:
            self._own.freed = True
            self._own.kept[CREATED] -= 1
        self._own = None

    def free(self) -> None:
        """Let it be the null operator, if it is no constant."""
        if self._own is not None:
            self.Free()
        elif not self._constant:
            REAL.Op.free(self)

    def __bool__(self) -> bool:
        return self._own is not None or REAL.Op.__bool__(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, REAL.Op):
            return NotImplemented
        own, others = self._own, getattr(other, "_own", None)
        return own is others and bool(REAL.Op.__eq__(self, other))

    __ne__ = NamedNumber.__ne__

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, x: Any, y: Any) -> Any:
        """Combine two objects."""
        return REAL.Op.__call__(self, x, y) if self._own is None else self._own.function(x, y, None)

    def __reduce__(self) -> Any:
        if self._found:
            raise ValueError("cannot pickle user-defined reduction operation")
        if self._own is None:
            return serialized(self, _names[self.handle])
        return type(self).Create, (self._own.function, self._own.commute)

    def Is_commutative(self) -> bool:
        """Tell if the order of operands does not matter."""
        return bool(REAL.Op.Is_commutative(self)) if self._own is None else self._own.commute

    is_commutative = property(Is_commutative)

    @property
    def is_predefined(self) -> bool:
        """True if it is MPI's own."""
        return self._own is None

    @property
    def in_any_order(self) -> bool:
        """True if operands may be combined without regard to the ranks that they come from."""
        if self._own is not None:
            return self._own.commute
        return self not in (REAL.REPLACE, REAL.NO_OP)

    @property
    def title(self) -> str:
        """Name of the operator, for people."""
        return "a function" if self._own is not None else f"MPI.{_names[self.handle]}"

    def Reduce_local(self, inbuf: Any, inoutbuf: Any) -> None:
        """Combine two buffers of the caller; the result is in the second."""
        if self._own is None:
            REAL.Op.Reduce_local(self, inbuf, inoutbuf)
            return
        low, high = Buffer(inbuf), Buffer(inoutbuf, writable=True)
        require_alike(low, high)
        high.write(self._combined(low.read(), high.read(), low.datatype))

    def _require_fit(self, datatype: Any) -> None:
        """Raise the real operator's error if one of MPI's own does not combine a datatype."""
        if self._own is not None or (self.handle, datatype.handle) in _FITS:
            return
        size = max(datatype.extent, datatype.true_extent)
        REAL.Op.Reduce_local(self, [bytes(size), 1, datatype], [bytearray(size), 1, datatype])
        if datatype.is_predefined:  # another one may get the handle of one that is freed
            _FITS.add((self.handle, datatype.handle))

    def _combined(self, low: bytes, high: bytes, datatype: Any) -> bytes:
        """The body that two bodies of one datatype become, the lower ranks' first."""
        count = min(len(low), len(high)) // (datatype.size or 1)
        dense = layout_of(datatype).gapless
        first = bytearray(low) if dense else _unpacked(low, count, datatype)
        other = bytearray(high) if dense else _unpacked(high, count, datatype)
        if self._own is None:
            REAL.Op.Reduce_local(self, [first, count, datatype], [other, count, datatype])
        elif count:
            memory = REAL.buffer.frombuffer
            self._own.function(memory(first, True), memory(other), datatype)
        return bytes(other) if dense else Buffer([other, count, datatype]).read()

    @property
    def handle(self) -> int:
        """A number that stands for it on this processor."""
        return int(
            REAL.Op.handle.__get__(self) if self._own is None else handle_of(KIND, self._own)
        )

    def toint(self) -> int:
        """A number that stands for it; that of the script's own is above all of MPI's own."""
        return int(REAL.Op.toint(self)) if self._own is None else OWN + self.handle

    def py2f(self) -> int:
        """A number that stands for it; that of the script's own is above all of MPI's own."""
        return int(REAL.Op.py2f(self)) if self._own is None else OWN + self.handle

    @classmethod
    def fromhandle(cls, handle: int) -> Op:
        """The operator that a number stands for.

        Raises
        ------
        Exception
            ``ERR_OP``: it stands for none.
        """
        if handle in _names:
            return PREDEFINED[_names[handle]]
        operator = cls()
        operator._own = thing_of(KIND, handle)
        if operator._own is None:
            raise REAL.Exception(REAL.ERR_OP)
        operator._found = True
        return operator

    @classmethod
    def fromint(cls, arg: int, /) -> Op:
        """The operator that a number stands for."""
        return cls.fromhandle(arg - OWN if arg > OWN else REAL.Op.fromint(arg).handle)

    @classmethod
    def f2py(cls, arg: int) -> Op:
        """The operator that a number stands for."""
        return cls.fromhandle(arg - OWN if arg > OWN else REAL.Op.f2py(arg).handle)


@dataclass(slots=True, eq=False)
class UserFunction:
    """A reduction that a script has defined."""

    function: Function
    """Combines two buffers."""
    commute: bool
    """True if the order of operands does not matter."""
    kept: dict[Any, Any]
    """Storage of its processor, which has the number of its operators."""
    freed: bool = False
    """True if the script has freed the operator."""


def require_alike(one: Buffer, other: Buffer) -> None:
    """Raise an error unless two buffers have as many elements of one datatype.

    Raises
    ------
    ValueError
        They have not.
    """
    if one.datatype != other.datatype:
        raise ValueError("mismatch in send and receive MPI datatypes")
    if one.count != other.count:
        raise ValueError(f"mismatch in send count {one.count} and receive count {other.count}")


def _unpacked(body: bytes, count: int, datatype: Any) -> bytearray:
    """A body's elements as they lie in memory."""
    memory = bytearray(max(count * datatype.extent, layout_of(datatype).reach(count).high))
    Buffer([memory, count, datatype], writable=True).write(body)
    return memory


PREDEFINED: dict[str, Op] = {
    name: Op(value) for name, value in vars(REAL).items() if type(value) is REAL.Op
}
"""MPI's own operators by name."""

for _place, _op in enumerate(PREDEFINED.values(), 2):
    _op._constant, _op.place = True, _place

_names = {op.handle: name for name, op in PREDEFINED.items()}


def known_op(op: Any) -> Op:
    """An argument that is to be an operator; of the real MPI's predefined ones our own.

    Libraries that are given `mpinet.comm_self()` have imported the real mpi4py.

    Raises
    ------
    TypeError
        It is none.
    """
    name = _names.get(op.handle) if type(op) is REAL.Op else None
    found: Op = instance_of(Op, op if name is None else PREDEFINED[name])
    return found


_FITS: set[tuple[int, int]] = set()
"""Operators and predefined datatypes that have been seen to go together."""

SUM = PREDEFINED["SUM"]
