"""Reduction operators, predefined and user-defined."""

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
"""Maximum number of user-defined operators of a processor at a time, as in mpi4py."""

CREATED = "operators"
"""Storage key for a processor's number of user-defined operators."""

KIND = "operator"
"""Kind of the handles of user-defined operators."""

OWN = 1 << 16
"""Integers above this value represent user-defined operators; MPI's predefined operators have
smaller values.
"""

Function = Callable[[Any, Any, Any], Any]


class Op(REAL.Op):  # type: ignore[misc]
    """An operator, as `mpi4py.MPI.Op`.

    A predefined operator wraps the real operator. A user-defined operator is unknown to the real
    MPI, so the real MPI's few slots stay free.
    """

    _own: UserFunction | None
    _constant = False
    _found = False  # obtained by number, without a function known to mpi4py

    place = 1
    """Number of a predefined operator, from 2 on, the same on all ranks; 1 for user-defined
    operators.
    """

    def __new__(cls, op: Op | None = None) -> Op:
        """Create the null operator, or another object for an operator."""
        self: Op = REAL.Op.__new__(cls, op)
        self._own = None if op is None else getattr(op, "_own", None)
        self.place = getattr(op, "place", 1)
        return self

    @classmethod
    def Create(cls, function: Function, commute: bool = False) -> Op:
        """Create a user-defined operator.

        Parameters
        ----------
        function : callable
            ``function(low, inout, datatype)``, which stores its result in the memory ``inout``.
            Lower-case reductions call it with two objects and None.
        commute : bool
            Whether the operator is commutative.

        Raises
        ------
        RuntimeError
            The processor has too many operators.
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
        """Free a user-defined operator."""
        if self._own is None:
            raise REAL.Exception(REAL.ERR_OP)
        if not self._own.freed:
            self._own.freed = True
            self._own.kept[CREATED] -= 1
        self._own = None

    def free(self) -> None:
        """Free the operator unless it is predefined."""
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
        """Combine two objects with the operator."""
        return REAL.Op.__call__(self, x, y) if self._own is None else self._own.function(x, y, None)

    def __reduce__(self) -> Any:
        if self._found:
            raise ValueError("cannot pickle user-defined reduction operation")
        if self._own is None:
            return serialized(self, _names[self.handle])
        return type(self).Create, (self._own.function, self._own.commute)

    def Is_commutative(self) -> bool:
        """Return whether the operator is commutative."""
        return bool(REAL.Op.Is_commutative(self)) if self._own is None else self._own.commute

    is_commutative = property(Is_commutative)

    @property
    def is_predefined(self) -> bool:
        """True if the operator is predefined."""
        return self._own is None

    @property
    def in_any_order(self) -> bool:
        """True if operands may be combined in any order of ranks."""
        if self._own is not None:
            return self._own.commute
        return self not in (REAL.REPLACE, REAL.NO_OP)

    @property
    def title(self) -> str:
        """Name of the operator in reports."""
        return "a function" if self._own is not None else f"MPI.{_names[self.handle]}"

    def Reduce_local(self, inbuf: Any, inoutbuf: Any) -> None:
        """Combine two buffers of the caller; the result is in the second buffer."""
        if self._own is None:
            REAL.Op.Reduce_local(self, inbuf, inoutbuf)
            return
        low, high = Buffer(inbuf), Buffer(inoutbuf, writable=True)
        require_alike(low, high)
        high.write(self._combined(low.read(), high.read(), low.datatype))

    def _require_fit(self, datatype: Any) -> None:
        """Raise the real MPI's error if a predefined operator does not support a datatype."""
        if self._own is not None or (self.handle, datatype.handle) in _FITS:
            return
        size = max(datatype.extent, datatype.true_extent)
        REAL.Op.Reduce_local(self, [bytes(size), 1, datatype], [bytearray(size), 1, datatype])
        if datatype.is_predefined:  # a handle of a freed datatype may be reused
            _FITS.add((self.handle, datatype.handle))

    def _combined(self, low: bytes, high: bytes, datatype: Any) -> bytes:
        """Combine two bodies of a datatype, the lower ranks' body first."""
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
        """The operator's number on this processor."""
        return int(
            REAL.Op.handle.__get__(self) if self._own is None else handle_of(KIND, self._own)
        )

    def toint(self) -> int:
        """Return the operator's integer, above all predefined ones if user-defined."""
        return int(REAL.Op.toint(self)) if self._own is None else OWN + self.handle

    def py2f(self) -> int:
        """Return the operator's Fortran integer, above all predefined ones if user-defined."""
        return int(REAL.Op.py2f(self)) if self._own is None else OWN + self.handle

    @classmethod
    def fromhandle(cls, handle: int) -> Op:
        """Return the operator with a handle.

        Raises
        ------
        Exception
            ``ERR_OP``: no operator has this handle.
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
        """Return the operator with an integer."""
        return cls.fromhandle(arg - OWN if arg > OWN else REAL.Op.fromint(arg).handle)

    @classmethod
    def f2py(cls, arg: int) -> Op:
        """Return the operator with a Fortran integer."""
        return cls.fromhandle(arg - OWN if arg > OWN else REAL.Op.f2py(arg).handle)


@dataclass(slots=True, eq=False)
class UserFunction:
    """A user-defined reduction function and its properties."""

    function: Function
    """The script's function, which combines two buffers."""
    commute: bool
    """True if the operator is commutative."""
    kept: dict[Any, Any]
    """Storage of the operator's processor, with its number of operators."""
    freed: bool = False
    """True if the script has freed the operator."""


def require_alike(one: Buffer, other: Buffer) -> None:
    """Raise an error unless two buffers have the same number of elements of the same datatype.

    Raises
    ------
    ValueError
        The counts or the datatypes differ.
    """
    if one.datatype != other.datatype:
        raise ValueError("mismatch in send and receive MPI datatypes")
    if one.count != other.count:
        raise ValueError(f"mismatch in send count {one.count} and receive count {other.count}")


def _unpacked(body: bytes, count: int, datatype: Any) -> bytearray:
    """Return a body's elements in their memory layout."""
    memory = bytearray(max(count * datatype.extent, layout_of(datatype).reach(count).high))
    Buffer([memory, count, datatype], writable=True).write(body)
    return memory


PREDEFINED: dict[str, Op] = {
    name: Op(value) for name, value in vars(REAL).items() if type(value) is REAL.Op
}
"""Predefined operators by name."""

for _place, _op in enumerate(PREDEFINED.values(), 2):
    _op._constant, _op.place = True, _place

_names = {op.handle: name for name, op in PREDEFINED.items()}


def known_op(op: Any) -> Op:
    """Return an operator given as argument; the real MPI's predefined operators are replaced.

    Libraries with `mpinet.comm_self()` as communicator have imported the real mpi4py.

    Raises
    ------
    TypeError
        The argument is not an operator.
    """
    name = _names.get(op.handle) if type(op) is REAL.Op else None
    found: Op = instance_of(Op, op if name is None else PREDEFINED[name])
    return found


_FITS: set[tuple[int, int]] = set()
"""Operators and predefined datatypes known to be compatible."""

SUM = PREDEFINED["SUM"]
