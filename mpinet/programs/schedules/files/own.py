"""Mpinet's own schedule files: CSV and NPZ, read and written."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.damage import DAMAGED
from mpinet.base.files import MOST_BYTES
from mpinet.base.numerals import quoted
from mpinet.errors import UsageError
from mpinet.programs.kinds import SUMS
from mpinet.programs.schedules.files.schedulefile import (
    MOST_ROWS,
    MOST_STEPS,
    Contents,
    ReadingOptions,
    require_purpose,
)
from mpinet.programs.schedules.timetable import (
    ANY_BUS,
    COLUMNS,
    EXTRA,
    HEADER,
    WHOLE,
    Timetable,
    turns,
)

MOST_NODES = 2**25
"""Upper limit of the numbers of processors and switches."""

OPTIONAL = (*EXTRA, "op")
"""Optional columns of a schedule file, in addition to the four."""


def read_csv(data: bytes, reading: ReadingOptions) -> Contents:
    """Read the rows of a CSV file, and their line numbers."""
    header: dict[str, Any] = {}
    names: list[str] = []
    rows, lines = [], []
    for number, line in enumerate(data.decode("utf-8-sig").splitlines(), 1):
        line = line.strip()
        if line.startswith("#"):
            _note(header, line, number)
        elif line and not names:
            names = [name.strip() for name in line.split(",")]
            _require_columns(names, f"line {number}")
        elif line:
            rows.append(_numbers(line, names, number))
            lines.append(number)
            if len(rows) > MOST_ROWS:
                raise UsageError(f"line {number}: the file has more than {MOST_ROWS} rows.")
    if not names:
        raise UsageError(
            "line 1: the file has no line of column names, such as step,from,to,chunk."
        )
    given = np.array(rows, np.int64).reshape(-1, len(names)).T.copy()
    kept = np.array(lines, np.int64)
    columns = dict(zip(names, given, strict=True))
    table = _timetable(header, columns, reading, lambda row: f"line {kept[row]}")
    return Contents(table, kept)


def _note(header: dict[str, Any], line: str, number: int) -> None:
    """Read a line ``# key: JSON`` into the header."""
    key, colon, value = line[1:].strip().partition(":")
    if not colon:
        if key.startswith("mpinet-schedule") and key.split() != ["mpinet-schedule", "1"]:
            raise UsageError(f"line {number}: {quoted(key)}: version 1 is known.")
        return
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        raise UsageError(f"line {number}: after {key.strip()}: comes a value in JSON.") from None
    if key.strip() not in HEADER:
        raise UsageError(
            f"line {number}: unknown key {quoted(key.strip())}: give one of {', '.join(HEADER)}."
        )
    header[key.strip()] = parsed


def _require_columns(names: list[str], where: str) -> None:
    needed = list(COLUMNS.values())
    known = [*needed, *OPTIONAL]
    if sorted(set(names)) != sorted(names) or not set(needed) <= set(names) <= set(known):
        raise UsageError(
            f"{where}: the columns are {', '.join(needed)}, and {', '.join(OPTIONAL)} where "
            f"wanted, not {quoted(','.join(names))}."
        )


def _numbers(line: str, names: list[str], number: int) -> list[int]:
    """Return the numbers of a line; for ``op``, whether the row adds."""
    words = [word.strip() for word in line.split(",")]
    if len(words) != len(names):
        raise UsageError(
            f"line {number}: the row has {len(words)} values for {len(names)} columns."
        )
    found = []
    for name, word in zip(names, words, strict=True):
        if name == "op":
            if word not in ("c", "a"):
                raise UsageError(f"line {number}: op is c (copy) or a (add), not {quoted(word)}.")
            found.append(int(word == "a"))
            continue
        digits = word.removeprefix("-") if name in EXTRA else word
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 18):
            raise UsageError(f"line {number}: {name} is a whole number, not {quoted(word)}.")
        found.append(int(word))
    return found


def read_npz(data: bytes, reading: ReadingOptions) -> Contents:
    """Read the rows of an NPZ file."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            if sum(member.file_size for member in packed.infolist()) > MOST_BYTES:
                raise UsageError(f"the unpacked file has more than {MOST_BYTES} bytes.")
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            found = {name: np.asanyarray(arrays[name]) for name in arrays.files}
        header = json.loads(str(found.pop("header")[()]))
    except KeyError:
        raise UsageError("the file has no header.") from None
    except UsageError:
        raise
    except (OSError, *DAMAGED):
        raise UsageError("the file is not an .npz of plain arrays with a header in JSON.") from None
    if not isinstance(header, dict) or not set(header) <= set(HEADER):
        raise UsageError(f"header: give a JSON object with the keys {', '.join(HEADER)}.")
    _require_columns(list(found), "arrays")
    columns = {}
    for name, column in found.items():
        if name == "op":
            known = column.dtype.kind in "US" and np.isin(column.astype(str), ("c", "a")).all()
            column = (column.astype(str) == "a").astype(np.int64) if known else column
        if column.ndim != 1 or column.dtype.kind not in "iu" or len(column) > MOST_ROWS:
            raise UsageError(f"array {name}: give one row of at most {MOST_ROWS} whole numbers.")
        columns[name] = np.ascontiguousarray(column, np.int64)
    if len({len(column) for column in columns.values()}) != 1:
        raise UsageError("its arrays have different lengths.")
    return Contents(_timetable(header, columns, reading, lambda row: f"row {row + 1}"))


def _timetable(
    header: Mapping[str, Any],
    columns: Mapping[str, Ints],
    reading: ReadingOptions,
    where: Any,
) -> Timetable:
    """Return the timetable of columns, after checking their form.

    Raises
    ------
    UsageError
        Numbers are out of range, or a link is used twice in a step.
    """
    collective = header.get("collective", reading.collective)
    if collective is None:
        raise UsageError("header: no collective is named: give --collective.")
    if reading.collective not in (None, collective):
        raise UsageError(
            f"header: the schedule is for a {collective}, not for a {reading.collective}."
        )
    name, hosts, chunks, root = require_purpose(
        collective,
        header.get("processors", reading.processors),
        header.get("chunks", reading.chunks or 1),
        header.get("root", reading.root),
    )
    if header.get("ports", "one") not in ("one", "all"):
        raise UsageError('header: ports is "one" or "all".')
    add = columns.get("op")
    rows: dict[str, Any] = {key: columns[column] for key, column in COLUMNS.items()}
    rows |= {key: columns.get(key) for key in EXTRA}
    table = Timetable(
        name,
        hosts,
        **rows,
        chunks=chunks,
        root=root,
        add=None if add is None else add.astype(bool),
        ports=header.get("ports"),
        network=_text(header, "network"),
        edges_sha256=_text(header, "edges_sha256"),
    )
    _require_rows(table, reading, where)
    return table


def _text(header: Mapping[str, Any], key: str) -> str | None:
    value = header.get(key)
    if value is not None and not isinstance(value, str):
        raise UsageError(f"header: {key} is text.")
    return value


def _require_rows(table: Timetable, reading: ReadingOptions, where: Any) -> None:
    """Raise `UsageError` unless numbers are in range, and a link is used once in a step."""
    total = table.purpose.total
    if total * MOST_NODES >= 2**62:
        raise UsageError("header: the number of chunks is too large.")
    ranges = [
        (table.step, "step", 1, MOST_STEPS),
        (table.sender, "from", 0, MOST_NODES),
        (table.receiver, "to", 0, MOST_NODES),
        (table.chunk, "chunk", 0, total - 1),
    ]
    for column, name, least, most in ranges:
        outside = np.flatnonzero((column < least) | (column > most))
        if len(outside):
            row = int(outside[0])
            raise UsageError(f"{where(row)}: {name} is {least}..{most}, not {column[row]}.")
    itself = np.flatnonzero(table.sender == table.receiver)
    if len(itself):
        row = int(itself[0])
        raise UsageError(f"{where(row)}: processor {table.sender[row]} sends to itself.")
    if table.collective not in SUMS and table.add is not None and table.add.any():
        row = int(np.flatnonzero(table.add)[0])
        raise UsageError(f"{where(row)}: a {table.collective} has nothing to add: op is c.")
    _require_since(table, where)
    _require_once(table, reading, where)


def _require_since(table: Timetable, where: Any) -> None:
    """Raise `UsageError` if a row with `since` cannot send a part of a sum."""
    if table.since is None:
        return
    wrong = (table.since < WHOLE) | (table.since >= table.step)
    copies = np.ones(len(table), bool) if table.add is None else ~table.add
    rows = np.flatnonzero(wrong | (copies & (table.since != WHOLE)))
    if len(rows):
        row = int(rows[0])
        raise UsageError(
            f"{where(row)}: since needs a row with op a, and is a step before {table.step[row]}, "
            f"0 (with the sender's own) or {WHOLE} (all), not {table.since[row]}."
        )


def _require_once(table: Timetable, reading: ReadingOptions, where: Any) -> None:
    """Raise `UsageError` if more rows use a channel in a step than its capacity."""
    keys = [table.receiver, table.sender, table.step]
    for column, nothing in ((table.port, -1), (table.bus, ANY_BUS)):
        keys.insert(0, np.full(len(table), nothing) if column is None else column)
    order = np.lexsort(keys)
    turn = turns(*(key[order] for key in keys))
    again = np.flatnonzero(turn)
    twice = [
        row
        for row, before in zip(order[again].tolist(), turn[again].tolist(), strict=True)
        if before >= _room(table, reading, row)
    ]
    if twice:
        row = min(twice)
        raise UsageError(
            f"{where(row)}: {table.sender[row]} sends to {table.receiver[row]} twice in step "
            f"{table.step[row]}, and a link carries one message in a step."
        )


def _room(table: Timetable, reading: ReadingOptions, row: int) -> int:
    """Return the message capacity of a row's channel, or of all channels if the row names none."""
    if table.port is not None and table.port[row] >= 0:
        return 1
    return reading.parallel.get((int(table.sender[row]), int(table.receiver[row])), 1)


def as_npz(table: Timetable) -> bytes:
    """Return a timetable as arrays in mpinet's NPZ format."""
    table, file = table.ordered(), io.BytesIO()
    header = {key: getattr(table, key) for key in HEADER if getattr(table, key) is not None}
    arrays = {name: getattr(table, key) for key, name in COLUMNS.items()}
    arrays |= {key: column for key in EXTRA if (column := getattr(table, key)) is not None}
    if table.add is not None:
        arrays["op"] = np.where(table.add, "a", "c")
    np.savez_compressed(file, header=np.array(json.dumps(header)), **arrays)
    return file.getvalue()
