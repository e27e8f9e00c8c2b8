"""Recording files: movements per step, written in bounded memory, checked on reading."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO, NoReturn, get_args

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.damage import DAMAGED
from mpinet.base.files import seekable, whole_file
from mpinet.base.memory import require_memory
from mpinet.base.units import Unit, readable
from mpinet.errors import FileError, MpinetError, OutputError
from mpinet.machine.trace import CALL, Records, Trace, merged
from mpinet.machine.transport import Local

FORMAT, VERSION = "mpinet recording", 1

ENDINGS = (".npz", ".csv")
"""Endings of recording files."""

MOVES = ("step", "sender", "port", "receiver", "message")
"""Columns of the movements, in the order of a CSV line."""

TIMES = ("begin", "free")
"""Additional columns of the movements of a run in simulated time."""

CALLS = {
    "call_end": "end",
    "call_processor": "processor",
    "call_begin": "begin",
    "call_site": "site",
}
"""Columns of the calls, with the corresponding fields of `CALL`."""

FIXED = (1980, 1, 1, 0, 0, 0)
"""Time stamp of all parts of an archive, constant so that equal recordings give equal files."""

UNITS = get_args(Unit)
"""Units of simulated time."""

MOST_SLOTS = 1000
"""Largest number of steps into which a run in simulated time is divided for display."""

AT_ONCE = 1 << 16
"""Number of rows written at a time."""

MOST_HEADER = 1 << 26
"""Largest number of characters of a header."""


@dataclass(frozen=True)
class Recording:
    """Contents of a recording file."""

    header: dict[str, Any]
    """Origin of the recording: command, topology, nodes, hosts, ports, model, seed, steps,
    sites."""
    moves: dict[str, Ints]
    """Columns `MOVES`, sorted by step, sender, port, message; with `TIMES` for a run in time."""
    calls: dict[str, Ints]
    """Columns `CALLS`, sorted by end, then processor."""


def write_recording(transport: Local, trace: Trace, path: Path, header: Mapping[str, Any]) -> None:
    """Write the recorded movements and calls of all ranks to one file (collective).

    Parameters
    ----------
    transport : Local
        The ranks; rank 0 writes.
    trace : Trace
        Recorded movements and calls of this rank.
    path : Path
        The file, ``.npz`` or ``.csv``. A failed write leaves no file.
    header : mapping
        Description of the run.
    """
    sites, calls, called = trace.calls.merged(transport)
    count, moved = merged(transport, trace.moves)
    table = path.suffix.lower() == ".csv"
    told = {"format": FORMAT, "version": VERSION, **header, "moves": count}
    told |= {"calls": 0, "sites": []} if table else {"calls": calls, "sites": sites}
    if transport.rank:
        for blocks in (moved,) if table else (moved, called):
            # Merging is collective: ranks that write nothing still take part in every block.
            for _ in blocks:
                pass
        return
    with whole_file(path) as file:
        if table:
            _write_table(file, told, moved)
        else:
            _write_archive(file, told, (moved, called), trace.moves.kind)


def _write_table(file: BinaryIO, header: Mapping[str, Any], moved: Iterator[Records]) -> None:
    file.write(f"# {json.dumps(header)}\n{','.join(_moves(header))}\n".encode())
    for rows in moved:
        for begin in range(0, len(rows), AT_ONCE):
            lines = (",".join(map(str, row)) for row in rows[begin : begin + AT_ONCE].tolist())
            file.write("".join(f"{line}\n" for line in lines).encode())


def _moves(header: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the movements' columns."""
    return MOVES + TIMES if is_timed(header) else MOVES


def is_timed(header: Mapping[str, Any]) -> bool:
    """Return whether a recording is of a run in simulated time, whose steps are units of time."""
    return header.get("unit") is not None


def _write_archive(
    file: BinaryIO,
    header: Mapping[str, Any],
    tables: tuple[Iterator[Records], Iterator[Records]],
    moves: np.dtype[Any],
) -> None:
    """Write a zip archive with one array per column; rows are buffered in a temporary file."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with _part(archive, "header") as part:
            np.lib.format.write_array(part, np.array(json.dumps(header)), allow_pickle=False)
        for rows, kind, count, names in (
            (tables[0], moves, header["moves"], {name: name for name in _moves(header)}),
            (tables[1], CALL, header["calls"], CALLS),
        ):
            # An archive is written column by column, but the data come row by row. All rows do not
            # fit into memory.
            with TemporaryFile(prefix="mpinet-recording-") as aside:
                _keep_aside(aside, rows)
                for name, field in names.items():
                    with _part(archive, name) as part:
                        _write_column(part, aside, kind, field, count)


def _keep_aside(aside: IO[bytes], blocks: Iterator[Records]) -> None:
    try:
        for rows in blocks:
            aside.write(rows.tobytes())
    except OSError as error:
        raise OutputError(f"The recording cannot be written: {error.strerror}.") from None


def _part(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """Open a part of an archive for writing."""
    told = zipfile.ZipInfo(f"{name}.npy", FIXED)
    told.compress_type = zipfile.ZIP_DEFLATED
    told._compresslevel = 1  # type: ignore[attr-defined]
    # Without these attributes some programs extract the parts as unreadable files.
    told.external_attr = 0o600 << 16
    return archive.open(told, "w", force_zip64=True)


def _write_column(
    part: IO[bytes], aside: IO[bytes], kind: np.dtype[Any], field: str, count: int
) -> None:
    layout = {"descr": "<i8", "fortran_order": False, "shape": (count,)}
    np.lib.format.write_array_header_1_0(part, layout)
    aside.seek(0)
    while text := aside.read(AT_ONCE * kind.itemsize):
        part.write(np.frombuffer(text, kind)[field].astype("<i8").tobytes())


def read_recording(path: Path) -> Recording:
    """Read a recording and check that it is valid and complete.

    Parameters
    ----------
    path : Path
        An ``.npz`` or ``.csv`` file written by ``--record``.

    Raises
    ------
    FileError
        The file is no recording, is of another version, is damaged, or cannot be read.
    """
    if path.suffix.lower() not in ENDINGS:
        raise FileError(f"{path}: a recording's name ends in {' or '.join(ENDINGS)}.")
    try:
        header, columns = (_read_table if path.suffix.lower() == ".csv" else _read_archive)(path)
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error.strerror or error}.") from None
    except DAMAGED as error:
        if isinstance(error, MpinetError):
            raise
        _refuse(path, "the file is damaged, incomplete, or of another kind")
    recording = Recording(
        header,
        {name: columns[name] for name in _moves(header)},
        {name: columns[name] for name in CALLS},
    )
    _check(path, recording)
    return recording


def _refuse(path: Path, why: str) -> NoReturn:
    raise FileError(f"{path} is not a complete recording of mpinet: {why}.")


def _read_header(path: Path, text: str) -> dict[str, Any]:
    """Read a header and check its version and its fields."""
    header = json.loads(text)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        _refuse(path, "its header has another format")
    if header.get("version") != VERSION:
        raise FileError(
            f"{path} is a recording of version {header.get('version')!r}, but this mpinet reads "
            f"version {VERSION}: record the run again."
        )
    numbers = ("nodes", "hosts", "ports", "steps", "moves", "calls")
    if any(type(header.get(name)) is not int or header[name] < 0 for name in numbers):
        _refuse(path, "its header lacks numbers")
    texts = ("command", "topology")
    if any(type(header.get(name)) is not str for name in texts):
        _refuse(path, "its header lacks names")
    # A header can announce any number of rows, so the memory is checked before NumPy allocates it.
    require_memory(40 * (header["moves"] + header["calls"]), f"The recording {path}")
    steps = 0 if is_timed(header) else header["steps"]
    require_memory(16 * (header["nodes"] + steps), f"The recording {path}")
    return header


def _read_archive(path: Path) -> tuple[dict[str, Any], dict[str, Ints]]:
    with seekable(path) as file, zipfile.ZipFile(file) as archive:
        whole = {member.filename: member.file_size for member in archive.infolist()}
        if whole["header.npy"] > MOST_HEADER:
            _refuse(path, "its header is too long")
        text = np.lib.format.read_array(io.BytesIO(archive.read("header.npy")), allow_pickle=False)
        header = _read_header(path, str(text))
        columns: dict[str, Ints] = {}
        for names, count in ((_moves(header), header["moves"]), (tuple(CALLS), header["calls"])):
            for name in names:
                if whole[f"{name}.npy"] > 8 * count + 1024:
                    _refuse(path, f"its column {name} is too long")
                with archive.open(f"{name}.npy") as part:
                    column = np.lib.format.read_array(part, allow_pickle=False)
                    if part.read(1):  # zipfile compares the checksum at the end
                        _refuse(path, f"its column {name} is too long")
                if column.dtype != np.int64 or column.shape != (count,):
                    _refuse(path, f"its column {name} does not have {count} integers")
                columns[name] = column
    return header, columns


def _read_table(path: Path) -> tuple[dict[str, Any], dict[str, Ints]]:
    with seekable(path) as file:
        first, second = file.readline(MOST_HEADER).decode(), file.readline(1024).decode()
        if not first.startswith("# "):
            _refuse(path, "its first lines have another format")
        header = _read_header(path, first[2:])
        names = _moves(header)
        if second.strip() != ",".join(names):
            _refuse(path, "its first lines have another format")
        rows = np.empty((0, len(names)), np.int64)
        if header["moves"]:
            rows = np.loadtxt(file, np.int64, delimiter=",", ndmin=2)
    if rows.shape != (header["moves"], len(names)):
        _refuse(path, f"the file has {len(rows)} movements instead of {header['moves']}")
    columns = {name: np.ascontiguousarray(rows[:, k]) for k, name in enumerate(names)}
    none = np.empty(0, np.int64)
    return header | {"calls": 0, "sites": []}, columns | dict.fromkeys(CALLS, none)


def _check(path: Path, recording: Recording) -> None:
    """Raise an error for numbers that no run can have."""
    header, moves, calls = recording.header, recording.moves, recording.calls
    nodes, steps = header["nodes"], header["steps"]
    sites = header.get("sites")
    named = isinstance(sites, list) and all(
        isinstance(site, list) and [type(part) for part in site] == [str, str, int]
        for site in sites
    )
    if not named:
        _refuse(path, "its header has no call sites")
    ranges = [
        (moves["step"], 1, steps),
        (moves["sender"], 0, nodes - 1),
        (moves["receiver"], 0, nodes - 1),
        (moves["port"], 0, header["ports"] - 1),
        (moves["message"], -1, 2**62),
        (calls["call_processor"], 0, nodes - 1),
        (calls["call_site"], 0, len(sites) - 1),  # type: ignore[arg-type]
        (calls["call_begin"], 0, steps),
        (calls["call_end"], 0, steps),
        (calls["call_end"] - calls["call_begin"], 0, steps),
    ]
    if is_timed(header):
        if header["unit"] not in UNITS:
            _refuse(path, "its header has no unit of time")
        if type(ticks := header.get("ticks", 1)) is not int or ticks < 1:
            _refuse(path, "its header has no number of ticks")
        ranges += [(moves["begin"], 0, steps), (moves["step"] - moves["begin"], 0, steps)]
        ranges += [(moves["free"] - moves["begin"], 0, steps)]
    for numbers, least, most in ranges:
        if len(numbers) and not least <= int(numbers.min()) <= int(numbers.max()) <= most:
            _refuse(path, "the file has impossible numbers")
    for numbers in (moves["step"], calls["call_end"]):
        if (np.diff(numbers) < 0).any():
            _refuse(path, "its steps do not ascend")


def in_steps(recording: Recording) -> Recording:
    """Return a recording in steps; a run in time is divided, and its header gets the step length.

    The length of a step is that of the shortest movement, or longer if there would be too many
    steps. In longer steps, messages may cross several links in one step and have no numbers. A
    movement belongs to the step in which its last byte arrives.
    """
    header, moves, calls = recording.header, recording.moves, recording.calls
    if not is_timed(header):
        return recording
    # Steps as long as the shortest movement keep the hops of a message in different steps.
    shortest = int((moves["step"] - moves["begin"]).min(initial=1 << 62))
    fewest = max(1, -(-header["steps"] // MOST_SLOTS))
    width = fewest if shortest > header["steps"] else max(fewest, shortest)
    step = np.maximum(moves["step"] - 1, 0) // width + 1
    message = moves["message"] if width <= shortest else np.full(len(step), -1)
    columns = moves | {"step": step, "message": message}
    order = np.lexsort((message, moves["port"], moves["sender"], step))
    steps = -(-header["steps"] // width)
    step_time = Fraction(width, header.get("ticks", 1))
    told = header | {"steps": steps, "step": readable(step_time, header["unit"])}
    slots = {name: calls[name] // width for name in ("call_begin", "call_end")}
    return Recording(told, {name: columns[name][order] for name in MOVES}, calls | slots)
