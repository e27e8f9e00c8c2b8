"""GOAL, the format of LogGOPSim and ATLAHS for programs of messages, as text or binary."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.files import read_bytes
from mpinet.base.memory import require_memory
from mpinet.base.numerals import quoted
from mpinet.errors import FileError
from mpinet.machine.timed.program import MOST_ROWS, Program, turns_of
from mpinet.programs.messages import goaltext
from mpinet.programs.messages.goalbinary import binary_program, is_binary
from mpinet.programs.messages.goaltext import (
    AMOUNT,
    COLUMNS,
    CPU_COLUMN,
    KIND,
    LINE,
    PEER,
    RANK_COLUMN,
    TAG_COLUMN,
)

MOST_TEXT = 1 << 36
"""Maximum number of bytes of a file; the memory is checked before the file is read."""

MOST_RANKS = 1 << 30

LABEL_WORDS = 4

SENTENCES = {
    goaltext.NO_LINE: "not a line of GOAL: {line}",
    goaltext.NO_RANKS: "num_ranks must come first",
    goaltext.TWICE_RANKS: "num_ranks is given twice",
    goaltext.NO_RANK: "the rank is not below num_ranks {ranks}: {line}",
    goaltext.WITHIN: "the block of rank {rank} must be closed by }} first",
    goaltext.OUTSIDE: "the line is outside of a rank's block: {line}",
    goaltext.NO_LABEL: "no earlier operation of this rank has the label {word}",
    goaltext.NO_SIZE: "a calc needs an integer time, a message at least 1 byte: {line}",
    goaltext.NO_PEER: "a send needs a rank, a recv a rank or any: {line}",
    goaltext.ANY_PEER: "a send needs a rank, not any",
    goaltext.LONG: "a number has at most 15 digits: {line}",
    goaltext.NO_CPU: "CPUs are 0..65535: {line}",
    goaltext.NO_TAG: "a tag is 0..2^32-2, of a recv also any: {line}",
    goaltext.OPEN: "the file ends before the block of rank {rank} is closed by }}",
}


def read_goal(path: Path) -> Program:
    """Read a program of messages.

    Parameters
    ----------
    path : Path
        The file.

    Raises
    ------
    FileError
        The file cannot be read, or is not in this format. The error names the line.
    TooLarge
        The program does not fit into memory.
    """
    try:
        if path.is_file():
            require_memory(2 * path.stat().st_size, f"The program {path.name}")
        data = read_bytes(path, MOST_TEXT)
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error.strerror}.") from None
    return program_of(data, str(path.name))


def program_of(data: bytes, name: str = "program") -> Program:
    r"""Read a program of messages from the bytes of a file.

    Raises
    ------
    FileError
        The bytes are not a program. The error names the line.

    Examples
    --------
    >>> program_of(b"num_ranks 1\nrank 0 {\nl1: calc 100\n}\n").operations
    1
    """
    if is_binary(data):
        return binary_program(data, name)
    text = np.full(len(data) + 2, goaltext.NEWLINE, np.uint8)
    text[:-2] = np.frombuffer(_without_remarks(data), np.uint8)
    counts = np.zeros(3, np.int64)
    goaltext.measure(text, counts)
    lines, orders, longest = (int(count) for count in counts)
    labels = 1 << max(4, (2 * longest).bit_length())
    needed = 8 * ((lines + 1) * COLUMNS + 2 * orders + LABEL_WORDS * labels + 6 * lines)
    require_memory(needed, f"The program {name}")
    if lines > MOST_ROWS:
        raise FileError(f"{name}: the file has {lines} lines; at most {MOST_ROWS} are allowed.")
    rows = np.empty((lines + 1, COLUMNS), np.int64)
    needs = np.empty((orders + 1, 2), np.int64)
    reading = goaltext.Reading.one()
    reading.ranks = reading.rank = -1
    goaltext.parse(text, rows, needs, np.zeros((labels, LABEL_WORDS), np.int64), reading)
    if not reading.wrong and not 1 <= reading.ranks <= MOST_RANKS:
        raise FileError(f"{name}: num_ranks is 1..{MOST_RANKS}, not {reading.ranks}.")
    if reading.wrong:
        raise _refused(data, name, reading)
    return _made(rows[: reading.rows], needs[: reading.needs], int(reading.ranks), name)


def _without_remarks(data: bytes) -> bytes:
    """Return a text with blanks in place of remarks; lines and places stay the same."""
    if b"/*" not in data:
        return data

    def blanks(found: re.Match[bytes]) -> bytes:
        # Comments that end with their line are matched as well, because they may contain a mark.
        return re.sub(rb"[^\n]", b" ", found[0]) if found[0][:2] == b"/*" else found[0]

    return re.sub(rb"//[^\n]*|#[^\n]*|/\*.*?\*/", blanks, data, flags=re.DOTALL)


def _made(rows: Ints, needs: Ints, ranks: int, name: str) -> Program:
    """Return the program with operations and requirements ordered by rank, then by position."""
    ranks_of = np.ascontiguousarray(rows[:, RANK_COLUMN])
    require_memory(8 * ranks, f"The program {name}")
    place = None
    if np.any(ranks_of[1:] < ranks_of[:-1]):
        order = np.argsort(ranks_of, kind="stable")
        rows, ranks_of = rows[order], ranks_of[order]
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
    first = np.searchsorted(ranks_of, np.arange(ranks + 1))
    later, earlier, mark = needs[:, 0], needs[:, 1] >> 1, needs[:, 1] & 1
    if place is not None:
        later, earlier = place[later], place[earlier]
    turns = None
    # Requirements of one operation keep the order of the file.
    if np.any(later[1:] < later[:-1]):
        order = np.argsort(later, kind="stable")
        turns = turns_of(later, earlier << 1 | mark, order)
        later, earlier, mark = later[order], earlier[order], mark[order]
    numbers = earlier - first[ranks_of[later]]
    return Program(
        first.astype(np.int64),
        rows[:, KIND].astype(np.int8),
        np.ascontiguousarray(rows[:, AMOUNT]),
        rows[:, PEER].astype(np.int32),
        rows[:, CPU_COLUMN].astype(np.int32),
        rows[:, TAG_COLUMN].astype(np.uint32),
        np.searchsorted(later, np.arange(len(rows) + 1)).astype(np.int64),
        numbers << 1 | mark,
        np.ascontiguousarray(rows[:, LINE]),
        name,
        turns,
    )


def _refused(data: bytes, name: str, reading: goaltext.Reading) -> FileError:
    """Return the error about an invalid line."""
    at, number = int(reading.wrong_at), int(reading.line)
    if reading.wrong == goaltext.NO_RANKS and at > len(data):
        return FileError(f"{name}: the file has no num_ranks.")
    begin = data.rfind(b"\n", 0, at) + 1
    end = data.find(b"\n", at)
    line = data[begin : end if end >= 0 else None][:200].decode(errors="replace").strip()
    word = data[at : at + 60].decode(errors="replace").split()
    sentence = SENTENCES[int(reading.wrong)].format(
        line=quoted(line), ranks=reading.ranks, rank=reading.rank, word=(word or [""])[0]
    )
    return FileError(f"{name}, line {number}: {sentence}.")
