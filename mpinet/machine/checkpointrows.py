"""State written by any number of ranks, read again by the ranks of a resumed run.

Rows go from the ranks that read them to the ranks that host them now.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.base.damage import DAMAGED
from mpinet.errors import FileError
from mpinet.machine.state import Frame, Joined, Kind, Largest, Located, Numbered, Same, Total
from mpinet.machine.step import by_owner
from mpinet.machine.stepping import Stepping
from mpinet.machine.transport import Local


class SavedFields:
    """The fields of a checkpoint's state.

    Parameters
    ----------
    folder : Path
        Folder of the checkpoint.
    manifest : dict
        The checkpoint's manifest, with a state.
    transport : Local
        The reading ranks.
    """

    def __init__(self, folder: Path, manifest: dict[str, Any], transport: Local):
        self._folder, self._state = folder, str(manifest["state"])
        self._transport = transport
        self._parts: list[dict[str, Any]] = manifest["parts"]

    def field(self, frame: Frame, key: str, kind: Kind) -> Any:
        """Return a field for this rank, from the files of all ranks (collective).

        Raises
        ------
        FileError
            A file is no array, or has another type.
        KeyError
            The checkpoint contains no field of this name.
        """
        every = [part[key] for part in self._parts]
        # The writing ranks did not reduce. The manifest contains each rank's number, readable by
        # any number of ranks.
        if isinstance(kind, Largest):
            return max(part["number"] for part in every)
        if isinstance(kind, Total):
            return self._total(kind, every)
        if isinstance(kind, Same):
            return self._rows(every[:1], kind.value)
        if isinstance(kind, Joined):
            return self._rows(every, kind.value)
        # This run's ranks divide the files among them, and send the rows on to the hosting ranks.
        own = every[self._transport.rank :: self._transport.size]
        rows = self._rows(own, kind.value)
        if isinstance(kind, Located):
            assert frame.machine is not None
            return rows_at_home(frame.machine, kind, rows)
        keys = [
            np.arange(part["from"]["first"], part["from"]["first"] + part["from"]["count"])
            if "from" in part
            else self._array(part["keys"])
            for part in own
        ]
        numbers = np.concatenate([kind.keys[:0], *keys])
        if len(numbers) != len(rows):
            raise foreign(self._folder)
        return held_again(self._transport, kind, numbers, rows)

    def _total(self, kind: Total, every: list[dict[str, Any]]) -> Any:
        """Return the sum of all ranks' counts on rank 0, and zero on other ranks."""
        # Totals remain sums over ranks: one rank takes the saved total, and the others start at
        # zero.
        first = self._transport.rank == 0
        if not isinstance(kind.value, np.ndarray):
            return sum(part["number"] for part in every) if first else 0
        arrays = [self._array(part["rows"]) for part in every] if first else []
        length = max((len(array) for array in arrays), default=len(kind.value))
        # Ranks may have arrays of different lengths, for example for counts by latency.
        total = np.zeros((length, *kind.value.shape[1:]), kind.value.dtype)
        for array in arrays:
            total[: len(array)] += array
        return total

    def _rows(self, parts: list[dict[str, Any]], like: Array) -> Array:
        """Return the rows of all these files, in order."""
        arrays = [self._array(part["rows"]) for part in parts]
        # The running program determines the type; files of other types are rejected, not converted.
        if any(a.dtype != like.dtype or a.shape[1:] != like.shape[1:] for a in arrays):
            raise foreign(self._folder)
        return arrays[0] if len(arrays) == 1 else np.concatenate([like[:0], *arrays])

    def _array(self, file: dict[str, Any]) -> Array:
        path = self._folder / self._state / file["file"]
        try:
            array: Array = np.load(path, allow_pickle=False)
        except (OSError, *DAMAGED) as error:
            raise FileError(
                f"The checkpoint {self._folder} cannot be used: {path.name} is no array."
            ) from error
        return array


def foreign(folder: Path) -> FileError:
    """Return the error for a checkpoint that belongs to another run."""
    return FileError(f"The checkpoint {folder} is of another run than its command says.")


def rows_at_home(machine: Stepping, kind: Located, rows: Array) -> Array:
    """Send rows to the ranks that host their processors now, and sort them (collective)."""
    nodes = np.ascontiguousarray(kind.node(rows), np.int64)
    away, counts = by_owner(machine, nodes)
    came = machine.transport.exchange(rows[away], counts).records
    # On the same number of ranks nothing moves, and large arrays are not copied.
    if len(away) or len(came):
        rows = np.concatenate([np.delete(rows, away, axis=0), came])
    if kind.order is not None:
        return rows[kind.order(rows)]
    return rows[np.argsort(kind.node(rows), kind="stable")]


def held_again(transport: Local, kind: Numbered, keys: Ints, rows: Array) -> Array:
    """Send rows to the ranks that hold their numbers now (collective).

    Every number has a directory rank. The reading rank sends the row to the directory rank, and the
    holding rank requests it there.
    """
    different = np.array([not np.array_equal(keys, kind.keys)], np.int64)
    # All ranks must agree whether to exchange, so the decision is a sum over ranks.
    if not transport.sum(different)[0]:
        return rows
    ranks = transport.size
    most = 1 + int(transport.max(np.array([max(keys.max(initial=0), kind.keys.max(initial=0))]))[0])
    # A directory by number: reader and holder do not know each other, but both can compute the
    # directory rank.
    share = -(-most // ranks)

    def dealt(numbers: Ints) -> tuple[Ints, Ints]:
        owners = numbers // share
        return np.argsort(owners, kind="stable"), np.bincount(owners, minlength=ranks)

    order, counts = dealt(keys)
    numbers = carried(transport, keys[order], counts)
    known = carried(transport, rows[order], counts)
    by_number = np.argsort(numbers, kind="stable")
    order, counts = dealt(kind.keys)
    asked = carried(transport, kind.keys[order], counts)
    asking = carried_counts(transport, counts)
    place = np.searchsorted(numbers[by_number], asked)
    answers = carried(transport, known[by_number][place], asking)
    held = np.empty((len(kind.keys), *rows.shape[1:]), rows.dtype)
    held[order] = answers
    return held


def carried(transport: Local, rows: Array, counts: Ints) -> Array:
    """Send rows to ranks, including this rank; return the received rows by rank (collective)."""
    # Own rows stay here, and go between the rows of the lower and of the higher ranks.
    rank = transport.rank
    begin = int(counts[:rank].sum())
    # An exchange has no message to the same rank.
    own = slice(begin, begin + int(counts[rank]))
    away = counts.copy()
    away[rank] = 0
    came = transport.exchange(np.delete(rows, own, axis=0), away)
    before = int(came.counts[:rank].sum())
    return np.concatenate([came.records[:before], rows[own], came.records[before:]])


def carried_counts(transport: Local, counts: Ints) -> Ints:
    """Return how many rows each rank sends here, given this rank's own `counts` (collective)."""
    rows = np.repeat(np.arange(transport.size), counts)
    came = carried(transport, np.full(len(rows), transport.rank), counts)
    return np.bincount(came, minlength=transport.size)
