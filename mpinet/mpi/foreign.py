"""Emulated MPI functions for compiled code that finds C functions through ctypes.

Libraries such as numba-mpi look up a function of the MPI library by name, and the address of a
communicator's handle with `MPI._addressof`. Within a run they get callbacks instead. The frame of
compiled code lies on the stack that is saved when its processor waits, like any frame.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, NoReturn

from greenlet import GreenletExit, getcurrent

from mpinet.mpi import environment
from mpinet.mpi.collectives.operators import PREDEFINED
from mpinet.mpi.communicators.communicator import Comm
from mpinet.mpi.messages.layouts import layout_of
from mpinet.mpi.messages.requests import REQUEST_NULL, Request
from mpinet.mpi.real import REAL
from mpinet.mpi.refusals import refuse
from mpinet.mpi.world.calls import Booked, running
from mpinet.mpi.world.replacing import replaced

Work = Callable[..., float | None]

HANDLES = "handles of C"
"""Storage key for a processor's handles in C."""

LOCAL = "Error_class Error_string Get_count Get_library_version Get_version Type_size".split()
"""Functions of the real library that only access the caller's memory."""

OPERATORS = {op.handle: op for op in PREDEFINED.values()}
"""Predefined operators by handle."""

UNREADABLE = 2048
"""Size in bytes of the memory, filled with ones, at an address used as handle. A real library that
gets the handle finds a freed object and returns ``ERR_COMM``.
"""


def type_of(cls: type[Any]) -> type[Any]:
    """Return the unsigned C integer type of an MPI class's handles."""
    return ctypes.c_uint32 if REAL._sizeof(cls) == 4 else ctypes.c_uint64


class Handles:
    """The C handles given out by a processor, and their objects."""

    def __init__(self) -> None:
        self._things: dict[tuple[type[Any], int], Any] = {}
        self._numbers: dict[tuple[type[Any], int], int] = {}
        self._cells: dict[tuple[type[Any], int], Any] = {}
        self._behind: list[Any] = []

    def number(self, cls: type[Any], thing: Any) -> int:
        """Return an object's handle; null objects and predefined operators keep the real one."""
        if not thing:
            return int(REAL._handleof(cls()))
        own = thing.handle
        # Predefined operators keep their real handles, because compiled code contains these as
        # constants.
        if cls is REAL.Op and own in OPERATORS:
            return int(own)
        number = self._numbers.get((cls, own))
        if number is None:
            number = len(self._behind) + 1
            self._behind.append(None)
            if type_of(cls) is ctypes.c_uint64:
                # If handles are addresses, a library that bypasses the emulator would follow them.
                # This memory makes the library fail cleanly instead of crashing.
                self._behind[-1] = ctypes.create_string_buffer(b"\xff" * UNREADABLE)
                number = ctypes.addressof(self._behind[-1])
            self._numbers[cls, own] = number
            self._things[cls, number] = thing
        return number

    def address(self, cls: type[Any], thing: Any) -> int:
        """Return the address of a cell with an object's handle."""
        number = self.number(cls, thing)
        cell = self._cells.setdefault((cls, number), type_of(cls)())
        cell.value = number  # repairs earlier writes by C code
        return ctypes.addressof(cell)

    def thing(self, cls: type[Any], number: int) -> Any:
        """Return the MPI object of a C handle.

        Raises
        ------
        Exception
            The handle is unknown.
        """
        found = self._things.get((cls, number))
        if found is None and cls is REAL.Op:
            found = OPERATORS.get(number)
        if found is None:
            raise REAL.Exception(REAL.ERR_REQUEST if cls is REAL.Request else REAL.ERR_COMM)
        return found

    def drop(self, cls: type[Any], number: int) -> None:
        """Delete a C handle."""
        del self._things[cls, number]
        for kept in [key for key, own in self._numbers.items() if own == number]:
            del self._numbers[kept]


def handles() -> Handles:
    """Return the table of C handles of the running processor."""
    kept = running.turns.current.storage()
    if HANDLES not in kept:
        kept[HANDLES] = Handles()
    found: Handles = kept[HANDLES]
    return found


# ---- arguments of C functions


@dataclass(frozen=True, slots=True)
class ForeignBuffer:
    """A buffer given to a C function."""

    address: int
    count: int
    datatype: Any

    def spec(self, blocks: int = 1) -> Any:
        """Return the argument of mpi4py calls for `blocks` consecutive blocks of this size."""
        # `IN_PLACE` is an address outside of any buffer. Its number may be negative in Python but
        # not in C.
        if self.address == ctypes.c_void_p(int(REAL.IN_PLACE)).value:
            return REAL.IN_PLACE
        count, datatype = self.count, self.datatype
        if not self.address and count:
            return [REAL.BOTTOM, count, datatype]
        if not count:
            return [REAL.buffer.fromaddress(self.address, 0), 0, datatype]
        layout = layout_of(datatype)
        reach = layout.reach(count * blocks)
        # C gives no length of the memory. The range reached by the datatype is used, and must
        # include the first byte.
        low, high = min(reach.low, 0), max(reach.high, (count * blocks - 1) * layout.extent + 1)
        memory = REAL.buffer.fromaddress(self.address + low, high - low)
        return [memory[-low:], count, datatype]

    def like(self, address: int) -> Any:
        """Return the argument for a buffer at an address with the same count and datatype."""
        return replace(self, address=address).spec()


class Slots:
    """Requests in the caller's memory, which become null at completion."""

    def __init__(self, count: int, address: int):
        self._cells = (type_of(REAL.Request) * count).from_address(address)
        null = REAL._handleof(REAL.REQUEST_NULL)
        own = handles()
        self.requests = [
            REQUEST_NULL if number == null else own.thing(REAL.Request, number)
            for number in self._cells
        ]

    def settle(self) -> None:
        """Write the null handle in place of completed requests."""
        for place, request in enumerate(self.requests):
            if not request and request is not REQUEST_NULL:
                handles().drop(REAL.Request, self._cells[place])
                self._cells[place] = REAL._handleof(REAL.REQUEST_NULL)


def tell(address: int, value: int) -> None:
    """Write an integer into the caller's memory."""
    ctypes.c_int.from_address(address).value = value


def begin(address: int, request: Request) -> None:
    """Write the handle of a new request into the caller's memory."""
    cell = type_of(REAL.Request).from_address(address)
    cell.value = handles().number(REAL.Request, request)


def show(address: int, *statuses: Any) -> None:
    """Write statuses into the caller's memory, unless the address is `MPI_STATUS_IGNORE`."""
    size = REAL._sizeof(REAL.Status)
    for place, status in enumerate(statuses if address > 1 else ()):
        ctypes.memmove(address + place * size, REAL._addressof(status), size)


# ---- functions


def _receive(piece: ForeignBuffer, source: int, tag: int, comm: Comm, status: int) -> None:
    told = REAL.Status()
    comm.Recv(piece.spec(), source, tag, told)
    show(status, told)


def _sendrecv(
    sent: ForeignBuffer,
    dest: int,
    tag: int,
    piece: ForeignBuffer,
    source: int,
    other: int,
    comm: Comm,
    status: int,
) -> None:
    told = REAL.Status()
    comm.Sendrecv(sent.spec(), dest, tag, piece.spec(), source, other, told)
    show(status, told)


def _all(call: Callable[..., Any], count: int, address: int, flag: int, statuses: int) -> None:
    slots, told = Slots(count, address), [REAL.Status() for _ in range(count)]
    done = call(slots.requests, told)
    if flag:
        tell(flag, done)
    if done:
        slots.settle()
        show(statuses, *told)


def _any(
    call: Callable[..., Any], count: int, address: int, index: int, flag: int, status: int
) -> None:
    slots, told = Slots(count, address), REAL.Status()
    found = call(slots.requests, told)
    place, done = found if flag else (found, True)
    tell(index, place)
    if flag:
        tell(flag, done)
    if done:
        slots.settle()
        show(status, told)


def _at_root(piece: ForeignBuffer, root: int, comm: Comm) -> Any:
    """Return the buffer for all members at the root; None elsewhere."""
    return piece.spec(comm.size) if comm.rank == root else None


FUNCTIONS: dict[str, tuple[str, Work]] = {
    "Initialized": ("a", lambda flag: tell(flag, environment.Is_initialized())),
    "Finalized": ("a", lambda flag: tell(flag, environment.Is_finalized())),
    "Query_thread": ("a", lambda level: tell(level, environment.Query_thread())),
    "Wtime": ("", lambda: environment.Wtime()),
    "Abort": ("ci", lambda comm, code: comm.Abort(code)),
    "Comm_rank": ("ca", lambda comm, rank: tell(rank, comm.rank)),
    "Comm_size": ("ca", lambda comm, size: tell(size, comm.size)),
    "Barrier": ("c", lambda comm: comm.Barrier()),
    "Bcast": ("bic", lambda piece, root, comm: comm.Bcast(piece.spec(), root)),
    "Allreduce": (
        "aboc",
        lambda sent, piece, op, comm: comm.Allreduce(piece.like(sent), piece.spec(), op),
    ),
    "Reduce": (
        "aboic",
        lambda sent, piece, op, root, comm: comm.Reduce(
            piece.like(sent), piece.spec() if comm.rank == root else None, op, root
        ),
    ),
    "Scatter": (
        "bbic",
        lambda sent, piece, root, comm: comm.Scatter(
            _at_root(sent, root, comm), piece.spec(), root
        ),
    ),
    "Gather": (
        "bbic",
        lambda sent, piece, root, comm: comm.Gather(sent.spec(), _at_root(piece, root, comm), root),
    ),
    "Allgather": (
        "bbc",
        lambda sent, piece, comm: comm.Allgather(sent.spec(), piece.spec(comm.size)),
    ),
    "Alltoall": (
        "bbc",
        lambda sent, piece, comm: comm.Alltoall(sent.spec(comm.size), piece.spec(comm.size)),
    ),
    "Send": ("biic", lambda piece, dest, tag, comm: comm.Send(piece.spec(), dest, tag)),
    "Ssend": ("biic", lambda piece, dest, tag, comm: comm.Ssend(piece.spec(), dest, tag)),
    "Recv": ("biica", _receive),
    "Sendrecv": ("biibiica", _sendrecv),
    "Isend": (
        "biica",
        lambda piece, dest, tag, comm, at: begin(at, comm.Isend(piece.spec(), dest, tag)),
    ),
    "Irecv": (
        "biica",
        lambda piece, source, tag, comm, at: begin(at, comm.Irecv(piece.spec(), source, tag)),
    ),
    "Wait": ("aa", lambda at, status: _all(Request.Waitall, 1, at, 0, status)),
    "Test": ("aaa", lambda at, flag, status: _all(Request.Testall, 1, at, flag, status)),
    "Waitall": ("iaa", lambda count, at, told: _all(Request.Waitall, count, at, 0, told)),
    "Testall": ("iaaa", partial(_all, Request.Testall)),
    "Waitany": (
        "iaaa",
        lambda count, at, index, told: _any(Request.Waitany, count, at, index, 0, told),
    ),
    "Testany": ("iaaaa", partial(_any, Request.Testany)),
}
"""C functions by name: kinds of arguments (a address, b buffer, c communicator, i integer, o
operator), and implementation.
"""

TAKEN: dict[str, tuple[type[Any], ...]] = {
    "a": (ctypes.c_void_p,),
    "b": (ctypes.c_void_p, ctypes.c_int, type_of(REAL.Datatype)),
    "c": (type_of(REAL.Comm),),
    "i": (ctypes.c_int,),
    "o": (type_of(REAL.Op),),
}
"""C types of each kind of argument."""


def _read(kinds: str, words: Sequence[Any]) -> list[Any]:
    """Convert the arguments of a C function to arguments of Python calls."""
    rest = iter(words)
    found: list[Any] = []
    for kind in kinds:
        word = next(rest)
        if kind == "b":
            found.append(ForeignBuffer(word or 0, next(rest), REAL.Datatype.fromhandle(next(rest))))
        elif kind == "c":
            found.append(handles().thing(REAL.Comm, word))
        elif kind == "o":
            found.append(handles().thing(REAL.Op, word))
        else:
            found.append(word or 0)
    return found


@cache
def _callback(name: str) -> Any:
    """Return a C function that replaces an MPI function."""
    kinds, work = FUNCTIONS[name]
    result = ctypes.c_double if name == "Wtime" else ctypes.c_int
    types = [each for kind in kinds for each in TAKEN[kind]]

    def answer(*words: Any) -> float:
        here = running.turns.current
        own = getcurrent() is here.thread
        try:
            try:
                if own:
                    # The call itself has no Python frame. The line that called the compiled
                    # function pays.
                    with Booked(f"MPI_{name}"):
                        said = work(*_read(kinds, words))
                else:
                    threads, frame = running.world.threads, sys._getframe(1)
                    said = threads.serve(f"MPI_{name}", frame, lambda: work(*_read(kinds, words)))
            except REAL.Exception as error:
                return int(error.Get_error_code())
            except Exception as error:
                if own:
                    # An exception cannot pass through C frames. In the script's own thread it ends
                    # the run instead.
                    running.turns.stop(error)
                return int(REAL.ERR_OTHER)
        except BaseException as error:
            _leave(error)
        return REAL.SUCCESS if said is None else said

    return ctypes.PYFUNCTYPE(result, *types)(answer)


def _leave(error: BaseException) -> NoReturn:
    """Continue the run without the caller, because no exception can pass through C frames."""
    here: Any = getcurrent()
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(here))  # the greenlet cannot end and must be kept
    if not isinstance(error, GreenletExit):
        here.parent.throw(error)
    while True:
        try:
            here.parent.switch()
        except GreenletExit:
            continue


@contextmanager
def in_libraries() -> Iterator[None]:
    """Context manager: libraries loaded by ctypes get these functions instead of MPI's."""
    find: Callable[..., Any] = ctypes.CDLL.__getitem__

    def found(library: ctypes.CDLL, name: Any) -> Any:
        function = find(library, name)
        short = name.removeprefix("MPI_") if isinstance(name, str) else name
        if short == name or short in LOCAL:
            return function
        if short not in FUNCTIONS:
            refuse(name)
        callback = _callback(short)
        # A new function object for each look-up, because callers set `argtypes` and must not change
        # the shared object.
        return type(callback)(ctypes.cast(callback, ctypes.c_void_p).value)

    with replaced((ctypes.CDLL, "__getitem__", found)):
        yield
