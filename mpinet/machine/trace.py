"""Recordings: all messages by step, sender, port and receiver, and the calls of processors.

Schedules, recording files, pictures and players use the same rows. Every rank keeps the rows of its
own processors, in an unnamed file if there are many. `merged` combines all ranks' rows in one
order, a block at a time, so they need not fit into memory.
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
    """Return the dtype of rows of integers with these names."""
    return np.dtype([(name, np.int64) for name in names])


RECORD = _numbers("step", "sender", "port", "receiver", "message")
"""Record of one message over one channel; `message` is the number of the message, -1 in messages
sent by a program.
"""

TIMED = _numbers(*(RECORD.names or ()), "begin", "free")
"""Record of a message over a link in time: `begin` is the time when its first byte enters the link,
`step` when its last byte reaches the receiver, and `free` when the link is free again.
"""

CALL = _numbers("end", "processor", "begin", "site")
"""Record of a call in a processor's program: it lasts from after step `begin` to after step `end`;
`site` is the index of its call site.
"""

Records = NDArray[np.void]

# Short recordings never use the disk; long recordings keep a few megabytes per rank in memory.
KEPT = 1 << 16
"""Largest number of rows that a rank keeps in memory; more rows go to a file."""

BLOCK = 1 << 19
"""Largest number of rows in rank 0's memory at a time, unless one sender has more rows in a
step.
"""

# The limit gives an early error message instead of a full disk after hours.
MOST = 1 << 27
"""Largest number of rows in a recording; they take about 5 GB of disk."""


@dataclass(frozen=True)
class Limits:
    """Limits of a recording."""

    first: int = 1
    """First recorded step."""
    last: int = 2**62
    """Last recorded step."""
    nodes: Ints | None = None
    """Nodes whose calls and whose messages, sent or received, are recorded; None: all nodes."""

    @property
    def bounded(self) -> bool:
        """True if the recording omits anything."""
        return self.nodes is not None or self.first > 1 or self.last < 2**62


class Spill:
    """Rows of one kind on this rank, in ascending order of their first field; in a file if many.

    Parameters
    ----------
    kind : dtype
        Type of the rows: the first field is a step, the second a node of this rank.
    """

    def __init__(self, kind: np.dtype[Any]):
        self.kind = kind
        self.count = 0
        self._parts: list[Records] = []
        self._waiting = 0
        self._file: IO[bytes] | None = None
        self._steps, self._counts = array("q"), array("q")

    def add(self, rows: Records) -> None:
        """Add the rows of one step, which must be later than all steps added before."""
        if len(rows) == 0:
            return
        # `merged` checks the sum over all ranks; this check stops a single rank early.
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
        """Add rows of several steps, in ascending order."""
        steps = rows[self.kind.names[0]]  # type: ignore[index]
        for part in np.split(rows, np.flatnonzero(np.diff(steps)) + 1):
            self.add(part)

    def _write_down(self) -> None:
        try:
            if self._file is None:
                # An unnamed file vanishes with the process, even if the process is killed.
                self._file = TemporaryFile(prefix="mpinet-recording-")  # noqa: SIM115 (it stays open)
            for part in self._parts:
                self._file.write(part.tobytes())
        except OSError as error:
            raise OutputError(f"The recording cannot be kept: {error.strerror}.") from None
        self._parts, self._waiting = [], 0

    def between(self, begin: int, end: int) -> Records:
        """Return the rows from index `begin` up to, but excluding, `end`."""
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
        """Return the steps with rows, in ascending order, and the number of rows of each step."""
        steps, counts = np.array(self._steps, np.int64), np.array(self._counts, np.int64)
        steps, first = np.unique(steps, return_index=True)
        return steps, np.add.reduceat(counts, first) if len(first) else counts


class Trace:
    """Messages sent by this rank's processors and, in `calls`, the calls of their programs.

    Parameters
    ----------
    limits : Limits, optional
        Limits of the recording (default: none).

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
        """The calls of programs, if recorded."""
        self.idle: int = 0
        """Number of steps of time without a step of the machine."""
        self.numbered: int = 0
        """First unused message number, where a router's numbering begins."""

    def add(
        self,
        step: int,
        senders: Ints,
        ports: Ints,
        receivers: Ints,
        messages: Ints | int = -1,
    ) -> None:
        """Record the messages of one step."""
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
        """All messages of this rank, by step, then sender, then port."""
        return in_order(self.moves.between(0, self.moves.count))


class CallSites:
    """Calls of this rank's processors, each with its place in the script.

    Parameters
    ----------
    limits : Limits
        Limits of the recording.
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
        """Record a finished call; `end` must not be before the end of earlier calls.

        Parameters
        ----------
        processor : int
            The calling processor.
        begin, end : int
            The steps after which the call began and ended.
        site : (str, str, int)
            Name of the called function, and file and line of the call.
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
        """Move the recorded calls into the spill; errors are raised later, outside the script."""
        try:
            if self._failed is None:
                self._spill.add(np.frombuffer(self._numbers.tobytes(), CALL))
        # Calls are recorded inside the user's script, which must not see an error of the recording.
        except MpinetError as error:
            self._failed = error
        self._numbers = array("q")

    def merged(self, transport: Local) -> tuple[list[list[Any]], int, Iterator[Records]]:
        """Return all ranks' call sites, the number of calls, and blocks of calls (collective)."""
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
        f"A recording of this run would have {least}{rows} movements and calls, about "
        f"{rows * RECORD.itemsize / 1e9:.3g} GB; {MOST} are allowed: record less with "
        "--record-steps A..B or --record-nodes SET."
    )


def in_order(rows: Records) -> Records:
    """Sort rows by their first two fields; messages also by port, then by message number."""
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
        The ranks; each of them must iterate over the blocks.
    spill : Spill
        This rank's rows; all rows of a node are on one rank.
    change : callable, optional
        Function applied to a rank's rows before they are sent.

    Returns
    -------
    count : int
        Number of rows on all ranks.
    blocks : iterator of ndarray
        On rank 0 the rows, sorted by their first two fields, messages also by port, then by message
        number. Empty on other ranks.

    Raises
    ------
    TooLarge
        There are more than `MOST` rows.
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
    # A block contains as many whole steps as fit, at least one. A step that is too large for a
    # block is cut by nodes, at the same nodes on all ranks.
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
    """Split the rows into `parts` ranges of nodes, the same ranges on all ranks."""
    if parts == 1:
        yield rows
        return
    highest = int(transport.max(np.array([rows[field].max(initial=0)], np.int64))[0])
    width = -(-(highest + 1) // parts)
    share = rows[field] // width
    for part in range(parts):
        yield rows[share == part]


def _of_all(transport: Local, steps: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Return the steps with rows on any rank, and their row counts over all ranks (collective)."""
    # All ranks need the same cuts into blocks, or their gathers would not match.
    every = transport.everywhere(np.stack([steps, counts], axis=1))
    steps, places = np.unique(every[:, 0], return_inverse=True)
    return steps, np.bincount(places, every[:, 1], len(steps)).astype(np.int64)
