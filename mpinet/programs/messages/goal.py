"""GOAL, the format of LogGOPSim and ATLAHS for programs of messages: its text, or binary."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.files import read_bytes
from mpinet.base.memory import require_memory
from mpinet.base.numerals import quoted
from mpinet.errors import FileError
from mpinet.machine.timed.program import MOST_ROWS, Program
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
"""Most bytes of a file; how much of it fits is asked before it is read."""

MOST_RANKS = 1 << 30

LABEL_WORDS = 4

SENTENCES = {
    goaltext.NO_LINE: "this is no line of GOAL: {line}",
    goaltext.NO_RANKS: "there is no num_ranks before it",
    goaltext.TWICE_RANKS: "num_ranks is said twice",
    goaltext.NO_RANK: "there is no such rank among num_ranks {ranks}: {line}",
    goaltext.WITHIN: "the block of rank {rank} is not closed by }} before it",
    goaltext.OUTSIDE: "it stands in the block of no rank: {line}",
    goaltext.NO_LABEL: "there is no operation {word} above it in this rank",
    goaltext.NO_SIZE: "a calc takes a whole time, a message 1 byte or more: {line}",
    goaltext.NO_PEER: "a send is to a rank, a recv from a rank or any: {line}",
    goaltext.ANY_PEER: "a send is to one rank, not to any",
    goaltext.LONG: "a number has 15 digits at most: {line}",
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
        It cannot be read, or is no such one; names the line.
    TooLarge
        Its program does not fit into memory.
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
        They are no such program; names the line.

    Examples
    --------
    >>> program_of(b"num_ranks 1\nrank 0 {\nl1: calc 100\n}\n").operations
    1
    """
    if is_binary(data):
        return binary_program(data, name)
    text = np.full(len(data) + 2, goaltext.NEWLINE, np.uint8)
    text[:-2] = np.frombuffer(data, np.uint8)
    counts = np.zeros(3, np.int64)
    goaltext.measure(text, counts)
    lines, orders, longest = (int(count) for count in counts)
    labels = 1 << max(4, (2 * longest).bit_length())
    needed = 8 * ((lines + 1) * COLUMNS + 2 * orders + LABEL_WORDS * labels + 6 * lines)
    require_memory(needed, f"The program {name}")
    if lines > MOST_ROWS:
        raise FileError(f"{name}: it has {lines} lines; {MOST_ROWS} are allowed.")
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


def _made(rows: Ints, needs: Ints, ranks: int, name: str) -> Program:
    """Put operations and requirements in the order of ranks, those of a rank as they stand."""
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
    # Those of one operation are in the order of the file: first what it requires, then irequires.
    if np.any(later[1:] < later[:-1]):
        order = np.argsort(later, kind="stable")
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
    )


def _refused(data: bytes, name: str, reading: goaltext.Reading) -> FileError:
    """Make the sentence on what is wrong with a line."""
    at, number = int(reading.wrong_at), int(reading.line)
    if reading.wrong == goaltext.NO_RANKS and at > len(data):
        return FileError(f"{name}: there is no num_ranks in the file.")
    begin = data.rfind(b"\n", 0, at) + 1
    end = data.find(b"\n", at)
    line = data[begin : end if end >= 0 else None][:200].decode(errors="replace").strip()
    word = data[at : at + 60].decode(errors="replace").split()
    sentence = SENTENCES[int(reading.wrong)].format(
        line=quoted(line), ranks=reading.ranks, rank=reading.rank, word=(word or [""])[0]
    )
    return FileError(f"{name}, line {number}: {sentence}.")
