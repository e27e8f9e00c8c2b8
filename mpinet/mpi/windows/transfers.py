"""Accesses to the memory of members: a window's calls for put, get and accumulate."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from functools import partial
from operator import index
from typing import Any

from mpinet.mpi.collectives.operators import SUM, Op
from mpinet.mpi.messages.buffers import Buffer
from mpinet.mpi.messages.layouts import layout_of
from mpinet.mpi.messages.requests import Request
from mpinet.mpi.messages.specifications import is_integral
from mpinet.mpi.real import PROC_NULL, REAL
from mpinet.mpi.windows.accesses import COMBINE, FETCH, GET, PUT, SWAP, element, told
from mpinet.mpi.windows.member import Member
from mpinet.mpi.world.calls import call
from mpinet.mpi.world.endpoint import Endpoint
from mpinet.mpi.world.events import HAPPENED, Event

UNCHANGED = ("REPLACE", "NO_OP")
"""Operators that compute nothing and therefore accept any datatype."""


class Transfers(Endpoint):
    """Access calls, as in `mpi4py.MPI.Win`.

    The origin buffer is read at once, and the result buffer is written when the answer arrives.
    """

    __slots__ = ()

    @property
    def _member(self) -> Member:
        """The caller's state of the window."""
        raise NotImplementedError

    @call
    def Put(self, origin: Any, target_rank: int, target: Any = None) -> None:
        """Write the origin buffer to a target's memory."""
        self._write(PUT, origin, target_rank, target)

    @call
    def Get(self, origin: Any, target_rank: int, target: Any = None) -> None:
        """Read a target's memory into the origin buffer."""
        self._read(origin, target_rank, target)

    @call
    def Accumulate(self, origin: Any, target_rank: int, target: Any = None, op: Op = SUM) -> None:
        """Combine the origin buffer with a target's memory; the result stays at the target."""
        self._write(COMBINE, origin, target_rank, target, op)

    @call
    def Get_accumulate(
        self, origin: Any, result: Any, target_rank: int, target: Any = None, op: Op = SUM
    ) -> None:
        """Combine the origin buffer with a target's memory, and get the previous contents."""
        self._fetch(origin, result, target_rank, target, op)

    @call
    def Fetch_and_op(
        self, origin: Any, result: Any, target_rank: int, target_disp: int = 0, op: Op = SUM
    ) -> None:
        """Combine one element with a target's element, and get the previous value."""
        given = _element(origin, "origin", target_rank)
        got = _element(result, "result", target_rank, writable=True)
        if target_rank == PROC_NULL:
            return
        _require_same(given, got, "origin and result")
        self._fetch(given, got, target_rank, target_disp, op)

    @call
    def Compare_and_swap(
        self, origin: Any, compare: Any, result: Any, target_rank: int, target_disp: int = 0
    ) -> None:
        """Write an element if the target's has the expected value; get the previous value."""
        given = _element(origin, "origin", target_rank)
        expected = _element(compare, "compare", target_rank)
        got = _element(result, "result", target_rank, writable=True)
        if target_rank == PROC_NULL:
            return
        _require_same(given, expected, "origin and compare")
        _require_same(given, got, "origin and result")
        place = _Place(self._member, given, target_rank, target_disp)
        place.access(SWAP, given.read(), got.write, expected=expected.read())

    # ---- with a request

    @call
    def Rput(self, origin: Any, target_rank: int, target: Any = None) -> Request:
        """Write to a target's memory; the request is complete at once."""
        self._write(PUT, origin, target_rank, target)
        return Request._of(HAPPENED)

    @call
    def Rget(self, origin: Any, target_rank: int, target: Any = None) -> Request:
        """Begin to read a target's memory."""
        return self._request(self._read(origin, target_rank, target))

    @call
    def Raccumulate(
        self, origin: Any, target_rank: int, target: Any = None, op: Op = SUM
    ) -> Request:
        """Combine with a target's memory; the request is complete at once."""
        self._write(COMBINE, origin, target_rank, target, op)
        return Request._of(HAPPENED)

    @call
    def Rget_accumulate(
        self, origin: Any, result: Any, target_rank: int, target: Any = None, op: Op = SUM
    ) -> Request:
        """Combine with a target's memory; the request completes with the previous contents."""
        return self._request(self._fetch(origin, result, target_rank, target, op))

    # ---- parts of these calls

    def _request(self, event: Event | None) -> Request:
        """Return a request that completes with an answer."""
        return Request._of(HAPPENED if event is None else event, partial(_finish, self._member))

    def _write(
        self, kind: int, origin: Any, target_rank: int, target: Any, op: Op | None = None
    ) -> None:
        """Send a put or an accumulate to a target."""
        if target_rank == PROC_NULL:
            return
        buffer = Buffer(origin)
        place = _Place(self._member, buffer, target_rank, target)
        place.require_size(buffer.nbytes)
        place.access(kind, buffer.read(), None, op)

    def _read(self, origin: Any, target_rank: int, target: Any) -> Event | None:
        """Request a target's data; return the event of the answer."""
        if target_rank == PROC_NULL:
            return None
        buffer = Buffer(origin, writable=True)
        place = _Place(self._member, buffer, target_rank, target)
        place.require_fit(buffer.nbytes)
        return place.access(GET, b"", buffer.write)

    def _fetch(
        self, origin: Any, result: Any, target_rank: int, target: Any, op: Op
    ) -> Event | None:
        """Combine at a target and request the previous data; return the event of the answer."""
        if target_rank == PROC_NULL:
            return None
        given = origin if isinstance(origin, Buffer) else Buffer(origin)
        got = result if isinstance(result, Buffer) else Buffer(result, writable=True)
        place = _Place(self._member, given, target_rank, target)
        reads_only = op == REAL.NO_OP
        place.require_size(got.nbytes)
        if not reads_only:
            place.require_size(given.nbytes)
        return place.access(FETCH, b"" if reads_only else given.read(), got.write, op)


class _Place:
    """Location of an access: target rank, displacement, count and datatype.

    Parameters
    ----------
    member : Member
        The window.
    buffer : Buffer
        The origin buffer, which provides count and datatype if not given by `target`.
    rank : int
        The target's rank.
    target : int, sequence or None
        A displacement, optionally with count and datatype, in mpi4py's form.
    """

    def __init__(self, member: Member, buffer: Buffer, rank: int, target: Any):
        self._member = member
        self._rank = index(rank)
        self._displacement, self._count = 0, buffer.count
        self._datatype = buffer.datatype
        if target is None:
            pass
        elif is_integral(target):
            self._displacement = index(target)
        elif isinstance(target, (list, tuple)):
            self._take(target)
        else:
            raise ValueError("target: expecting integral or list/tuple")

    def _take(self, target: Any) -> None:
        """Parse a sequence of displacement, count and datatype."""
        if len(target) > 3:
            raise ValueError("target: expecting 3 items at most")
        if len(target) > 0:
            self._displacement = index(target[0])
        if len(target) > 1:
            self._count = index(target[1])
        if len(target) > 2:
            named = target[2]
            self._datatype = named if isinstance(named, REAL.Datatype) else REAL._typedict[named]

    def require_fit(self, nbytes: int) -> None:
        """Raise ``ERR_TRUNCATE`` if a buffer of `nbytes` bytes is too small for the elements."""
        # A get may read less than the buffer, but a written part must have exactly the size of its
        # target.
        if self._count * self._datatype.size > nbytes:
            raise REAL.Exception(REAL.ERR_TRUNCATE)

    def require_size(self, nbytes: int) -> None:
        """Raise an error unless the elements have exactly `nbytes` bytes.

        Raises
        ------
        Exception
            ``ERR_TRUNCATE``: the sizes differ.
        """
        if self._count * self._datatype.size != nbytes:
            raise REAL.Exception(REAL.ERR_TRUNCATE)

    def access(
        self, kind: int, data: bytes, got: Any, op: Op | None = None, expected: bytes = b""
    ) -> Event | None:
        """Send the access to the target; return the event of the answer, or None.

        Raises
        ------
        Exception
            ``ERR_RANK``, ``ERR_OP``, ``ERR_RMA_RANGE``, ``ERR_RMA_SYNC``: the access is not
            allowed.
        """
        member, datatype = self._member, self._datatype
        member.require_rank(self._rank)
        if op is not None:
            _require_op(op, datatype)
        self._require_range()
        return member.origin.access(
            self._rank,
            got,
            kind=kind,
            epoch=member.epoch_of(self._rank),
            displacement=self._displacement,
            count=self._count,
            datatype=told(datatype),
            op="" if op is None else op.title.removeprefix("MPI."),
            data=data,
            expected=expected,
        )

    def _require_range(self) -> None:
        """Raise an error unless the elements are within the target's memory."""
        member, datatype = self._member, self._datatype
        if self._displacement < 0 and member.flavor != REAL.WIN_FLAVOR_DYNAMIC:
            raise REAL.Exception(REAL.ERR_DISP)
        if self._count < 0:
            raise REAL.Exception(REAL.ERR_COUNT)
        if member.flavor == REAL.WIN_FLAVOR_DYNAMIC or not self._count:
            return
        # Sizes were exchanged at the creation of the window. The error is raised at the line of the
        # access, not at a later flush.
        nbytes, unit = member.sizes[self._rank].tolist()
        begin = self._displacement * unit
        reach = layout_of(datatype).reach(self._count)
        if begin + reach.low < 0 or begin + reach.high > nbytes:
            raise REAL.Exception(REAL.ERR_RMA_RANGE)


def _finish(member: Member, status: Any) -> None:
    """Finish a request; raises the error of a failed access."""
    if status is not None:
        status.Set_elements(REAL.BYTE, 0)
    member.origin.require_none_failed()


def _require_op(op: Op, datatype: Any) -> None:
    """Raise an error unless an operator can combine elements of a datatype."""
    if not op.is_predefined or not op:
        raise REAL.Exception(REAL.ERR_OP)
    # These operators compute nothing, therefore elements of any datatype are allowed.
    if op.title.removeprefix("MPI.") not in UNCHANGED:
        op._require_fit(element(datatype))


def _element(spec: Any, said: str, rank: int, writable: bool = False) -> Buffer:
    """Return the buffer of a single element; `said` names it in the error."""
    if rank == PROC_NULL:
        return Buffer(b"")
    buffer = Buffer(spec, writable)
    if buffer.count != 1:
        raise ValueError(f"{said}: expecting a single element, got {buffer.count}")
    return buffer


def _require_same(one: Buffer, other: Buffer, said: str) -> None:
    """Raise an error unless the elements of two buffers have the same datatype."""
    if one.datatype != other.datatype:
        raise ValueError(f"mismatch in {said} MPI datatypes")
