"""Recordings: who sent what to whom in which step, and what processors did meanwhile.

There is one set of rows for schedules, recording files, pictures and players. Every rank keeps
those of its own processors, beyond a number of them in a file without a name; `merged` brings all
ranks' together in one order, a block at a time, so that no memory has to hold them all.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mpinet.base.arrays import Ints
from mpinet.errors import MpinetError, OutputError, TooLarge
from mpinet.machine.transport import Local


def _numbers(*names: str) -> np.dtype[Any]:
    """Return the type of rows of numbers with these names."""
    return np.dtype([(name, np.int64) for name in names])


RECORD = _numbers("step", "sender", "port", "receiver", "message")
"""Record of one message over one channel; `message` is its number, -1 in a program's own message.
"""

TIMED = _numbers(*(RECORD.names or ()), "begin", "free")
"""Record of a message over a link in time: `step` is when its last byte is at the receiver, `begin`
when its first one entered the link, and `free` when the link was free again.
"""

CALL = _numbers("end", "processor", "begin", "site")
"""Record of a call in a processor's program: from after step `begin` to after step `end`, its site.
"""

Records = NDArray[np.void]

# Short recordings never touch the disk; long ones hold a few megabytes a rank.
KEPT = 1 << 16
"""Most rows that a rank keeps in memory before it writes them to a file."""

BLOCK = 1 << 19
"""Most rows that rank 0 holds at a time, unless one sender has more in a step."""

# A limit with a sentence instead of a full disk after hours.
MOST = 1 << 27
"""Most rows of a recording, which take some 5 GB of disk while it is made."""


@dataclass(frozen=True)
class Limits:
    """Limits to what is recorded of a run."""

    first: int = 1
    """First recorded step."""
    last: int = 2**62
    """Last recorded step."""
    nodes: Ints | None = None
    """Movements from and to these nodes, and their calls; None: all."""

    @property
    def bounded(self) -> bool:
        """True if anything is left out of the recording."""
        return self.nodes is not None or self.first > 1 or self.last < 2**62


class Spill:
    """Rows of one kind on this rank, in order of their first field; in a file if there are many.

    Parameters
    ----------
    kind : dtype
        The rows; the first field is a step, the second a node hosted here.
    """

    def __init__(self, kind: np.dtype[Any]):
        self.kind = kind
        self.count = 0
        self._parts: list[Records] = []
        self._waiting = 0
        self._file: IO[bytes] | None = None
        self._steps, self._counts = array("q"), array("q")

    def add(self, rows: Records) -> None:
        """Add the rows of one step; rows of later steps must follow."""
        if len(rows) == 0:
            return
        # Also checked by the sum over ranks in `merged`; here it stops a single rank early.
        if self.count + len(rows) > MOST:
            raise too_large(self.count + len(rows))
        self.count += len(rows)
        self._steps.append(int(rows[self.kind.names[0]][0]))  # type: ignore[index]
        self._counts.append(len(rows))
        self._parts.append(rows)
        self._waiting += len(rows)
        if self._waiting >= KEPT:
            self._write_down()

    def fill(self, rows: Records) -> None:
        """Add rows of many steps, which ascend."""
        steps = rows[self.kind.names[0]]  # type: ignore[index]
        for part in np.split(rows, np.flatnonzero(np.diff(steps)) + 1):
            self.add(part)

    def _write_down(self) -> None:
        try:
            if self._file is None:
                # A file without a name vanishes with the process, however that ends.
                self._file = TemporaryFile(prefix="mpinet-recording-")  # noqa: SIM115 (it stays open)
            for part in self._parts:
                self._file.write(part.tobytes())
        except OSError as error:
            raise OutputError(f"The recording cannot be kept: {error.strerror}.") from None
        self._parts, self._waiting = [], 0

    def between(self, begin: int, end: int) -> Records:
        """Rows from place `begin` up to `end`."""
        written = self.count - self._waiting
        parts: list[Records] = []
        if begin < written:
            assert self._file is not None
            self._file.seek(begin * self.kind.itemsize)
            size = (min(end, written) - begin) * self.kind.itemsize
            parts.append(np.frombuffer(self._file.read(size), self.kind))
        if end > written:
            tail = np.concatenate(self._parts)
            parts.append(tail[max(begin - written, 0) : end - written])
        return np.concatenate(parts) if parts else np.empty(0, self.kind)

    def steps(self) -> tuple[Ints, Ints]:
        """Steps that have rows, ascending, and the number of rows of each."""
        steps, counts = np.array(self._steps, np.int64), np.array(self._counts, np.int64)
        steps, first = np.unique(steps, return_index=True)
        return steps, np.add.reduceat(counts, first) if len(first) else counts


class Trace:
    """Messages that this rank's processors sent and, with `calls`, the calls that they were in.

    Parameters
    ----------
    limits : Limits, optional
        What is left out (default: nothing).

    Examples
    --------
    >>> from mpinet.machine import Machine
    >>> trace = Trace()
    >>> machine = Machine("ring:4", trace=trace)
    >>> _ = machine.step([0, 2], [0, 0])
    >>> [row.tolist() for row in trace.records]
    [(1, 0, 0, 1, -1), (1, 2, 0, 3, -1)]
    """

    def __init__(self, limits: Limits | None = None):
        self.limits = limits or Limits()
        self.moves = Spill(RECORD)
        self.calls: CallSites = CallSites(self.limits)
        """The calls of programs, where these note them."""
        self.idle: int = 0
        """Steps of time that passed without one of the machine."""
        self.numbered: int = 0
        """Number above all numbers of messages so far; a router that starts to number again begins
        here."""

    def add(
        self,
        step: int,
        senders: Ints,
        ports: Ints,
        receivers: Ints,
        messages: Ints | int = -1,
    ) -> None:
        """Record one step's movements."""
        limits, step = self.limits, step + self.idle
        if not limits.first <= step <= limits.last:
            return
        part = np.empty(len(senders), RECORD)
        part["step"] = step
        part["sender"] = senders
        part["port"] = ports
        part["receiver"] = receivers
        part["message"] = messages
        if limits.nodes is not None:
            part = part[np.isin(senders, limits.nodes) | np.isin(receivers, limits.nodes)]
        self.moves.add(part)

    @property
    def records(self) -> Records:
        """All movements of this rank, by step, then sender, then port."""
        return in_order(self.moves.between(0, self.moves.count))


class CallSites:
    """Calls of this rank's processors, each with the place in the script that made it.

    Parameters
    ----------
    limits : Limits
        What is left out.
    """

    def __init__(self, limits: Limits):
        self._first, self._last = limits.first - 1, limits.last
        self._nodes = None if limits.nodes is None else frozenset(limits.nodes.tolist())
        self._sites: dict[tuple[str, str, int], int] = {}
        self._numbers = array("q")
        self._now = 0
        self._spill = Spill(CALL)
        self._failed: MpinetError | None = None

    def note(self, processor: int, begin: int, end: int, site: tuple[str, str, int]) -> None:
        """Note a call that has ended; `end` is not before that of any earlier one.

        Parameters
        ----------
        processor : int
            Whose call it was.
        begin, end : int
            The steps after which it began and ended.
        site : (str, str, int)
            What it is called, and the file and line where it is made.
        """
        if end < self._first or begin > self._last:
            return
        if self._nodes is not None and processor not in self._nodes:
            return
        if end != self._now:
            self._flush()
            self._now = end
        number = self._sites.setdefault(site, len(self._sites))
        self._numbers.extend((end, processor, begin, number))

    def _flush(self) -> None:
        """Move the noted calls into the spill; an error is raised at the end, not to the script."""
        try:
            if self._failed is None:
                self._spill.add(np.frombuffer(self._numbers.tobytes(), CALL))
        # A call is noted inside the user's script, which must not see an error of the recording.
        except MpinetError as error:
            self._failed = error
        self._numbers = array("q")

    def merged(self, transport: Local) -> tuple[list[list[Any]], int, Iterator[Records]]:
        """All ranks' call sites, the number of calls, and the calls in blocks (collective)."""
        self._flush()
        if self._failed is not None:
            transport.fail(self._failed)
        gathered = transport.gather(json.dumps(list(self._sites)).encode())
        every = sorted({tuple(site) for text in gathered for site in json.loads(text)})
        sites = json.loads(transport.share(json.dumps(every).encode()))
        numbers = {tuple(site): number for number, site in enumerate(sites)}
        named = np.array([numbers[site] for site in self._sites], np.int64)

        def renamed(rows: Records) -> Records:
            rows = rows.copy()
            rows["site"] = named[rows["site"]]
            return rows

        count, blocks = merged(transport, self._spill, renamed)
        return sites, count, blocks


def too_large(rows: int, least: str = "") -> TooLarge:
    """Return the error for a recording with too many rows."""
    return TooLarge(
        f"A recording of this run would have {least}{rows} movements and calls, some "
        f"{rows * RECORD.itemsize / 1e9:.3g} GB; {MOST} are allowed: record less of it, by "
        "--record-steps A..B or --record-nodes SET."
    )


def in_order(rows: Records) -> Records:
    """Sort rows by their first two fields, movements also by port, then message."""
    first, second = rows.dtype.names[:2]  # type: ignore[index]
    if rows.dtype == CALL:
        return rows[np.lexsort((rows[second], rows[first]))]
    return rows[np.lexsort((rows["message"], rows["port"], rows[second], rows[first]))]


def merged(
    transport: Local, spill: Spill, change: Callable[[Records], Records] | None = None
) -> tuple[int, Iterator[Records]]:
    """Yield all ranks' rows in one order, block by block (collective).

    Parameters
    ----------
    transport : Local
        The ranks, all of which go through the blocks.
    spill : Spill
        This rank's rows; all those of a node are on one rank.
    change : callable, optional
        Applied to a rank's rows before they leave it.

    Returns
    -------
    count : int
        How many rows there are on all ranks.
    blocks : iterator of ndarray
        On rank 0 the rows, by their first two fields, movements also by port, then message;
        elsewhere empty.

    Raises
    ------
    TooLarge
        There are too many of them.
    """
    count = int(transport.sum(np.array([spill.count], np.int64))[0])
    if count > MOST:
        raise too_large(count)
    return count, _blocks(transport, spill, change or (lambda rows: rows))


def _blocks(
    transport: Local, spill: Spill, change: Callable[[Records], Records]
) -> Iterator[Records]:
    steps, counts = _of_all(transport, *spill.steps())
    own_steps, own_counts = spill.steps()
    ends = np.concatenate([[0], np.cumsum(own_counts)])
    node_field = spill.kind.names[1]  # type: ignore[index]
    begin = 0
    # A block is as many whole steps as fit, at least one. One that is too large even so is cut by
    # nodes, at the same nodes on all ranks.
    while begin < len(steps):
        end = max(
            begin + 1, int(np.searchsorted(np.cumsum(counts[begin:]), BLOCK, "right")) + begin
        )
        first, last = np.searchsorted(own_steps, [steps[begin], steps[end - 1] + 1])
        rows = spill.between(int(ends[first]), int(ends[last]))
        parts = -(-int(counts[begin:end].sum()) // BLOCK)
        for part in _shares(transport, rows, node_field, parts):
            gathered = transport.gather(change(part).tobytes())
            together = np.frombuffer(b"".join(gathered), spill.kind)
            yield in_order(together) if gathered else together
        begin = end


def _shares(transport: Local, rows: Records, field: str, parts: int) -> Iterator[Records]:
    """Split the rows into `parts`, each a range of nodes that is the same on all ranks."""
    if parts == 1:
        yield rows
        return
    highest = int(transport.max(np.array([rows[field].max(initial=0)], np.int64))[0])
    width = -(-(highest + 1) // parts)
    share = rows[field] // width
    for part in range(parts):
        yield rows[share == part]


def _of_all(transport: Local, steps: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Steps in which any rank has rows, and their number over all ranks (collective)."""
    # All ranks need the same cuts into blocks, or their gathers would not match.
    every = transport.everywhere(np.stack([steps, counts], axis=1))
    steps, places = np.unique(every[:, 0], return_inverse=True)
    return steps, np.bincount(places, every[:, 1], len(steps)).astype(np.int64)
