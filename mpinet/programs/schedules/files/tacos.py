"""TACOS's tables (CSV): a line per link, with the chunks that go over it, in order."""

from __future__ import annotations

import re

from mpinet.base.numerals import quoted
from mpinet.errors import UsageError
from mpinet.programs.schedules.files.schedulefile import (
    MOST_PROCESSORS,
    Contents,
    ReadingOptions,
    require_allgather,
    require_purpose,
)
from mpinet.programs.schedules.files.timing import Tasks, timed_rows

HEADER = ["SrcID", "DestID"]
"""First columns of the line above the links."""

NOTHING = "None"
"""Stand-in for the chunks of a link that is not used."""


def read_tacos(data: bytes, reading: ReadingOptions) -> Contents:
    """The timetable of an allgather: chunk c is that of NPU c modulo their number.

    A link carries its chunks in order, each when it has come to the sender.

    Raises
    ------
    UsageError
        The file is no such one, a chunk never comes to who sends it, or links wait for each other.
    """
    counts = dict[str, int]()
    sends = list[tuple[int, int, int, int]]()
    for line, words in enumerate(
        (line.split(",") for line in data.decode("utf-8-sig").splitlines()), 1
    ):
        if len(words) < 2 or words[:2] == HEADER:
            continue
        if not words[0].isdecimal():
            counts[words[0]] = 0 if words[0] == "Chunk Size" else _number(words[1], line)
            continue
        if len(words) < 5:
            raise UsageError(f"line {line}: a link has its ends, latency, bandwidth and chunks.")
        ends = _number(words[0], line), _number(words[1], line)
        chunks = [] if words[4:] == [NOTHING] else words[4:]
        sends += [(line, *ends, _number(chunk, line)) for chunk in chunks]
    require_allgather(reading)
    npus, total = counts.get("NPUs Count", 0), counts.get("Chunks Count", 0)
    if not 0 < npus <= MOST_PROCESSORS or total % npus:
        raise UsageError(f"header: {total} chunks are not alike for {npus} NPUs.")
    purpose = require_purpose("gossip", npus, total // npus, None)
    moved = [c % npus * purpose.chunks + c // npus for *_, c in sends]
    return timed_rows(_rows(sends, npus, total), reading, purpose, moved)


def _rows(sends: list[tuple[int, int, int, int]], npus: int, total: int) -> Tasks:
    """Make the sends: each after the one before it on its link, and after its chunk has come."""
    tasks = Tasks()
    comes, last = dict[tuple[int, int], tuple[int, int]](), dict[int, tuple[int, int]]()
    for line, sender, receiver, chunk in sends:
        if sender >= npus or receiver >= npus or chunk >= total:
            raise UsageError(f"line {line}: there are {npus} NPUs and {total} chunks.")
        task = tasks.add(f"line {line}: chunk {chunk}", sender, receiver)
        place, before = last.get(line, (0, -1))
        if before >= 0:
            tasks.after(task, before)
        last[line] = place + 1, task
        # It may come again, which nobody needs: what is sent on is what comes early on its link.
        comes[receiver, chunk] = min(comes.get((receiver, chunk), (place, task)), (place, task))
    for task, (line, sender, _, chunk) in enumerate(sends):
        if chunk % npus == sender:
            continue
        if (sender, chunk) not in comes:
            raise UsageError(f"line {line}: chunk {chunk} never comes to {sender}, which sends it.")
        tasks.after(task, comes[sender, chunk][1])
    return tasks


def _number(word: str, line: int) -> int:
    if not re.fullmatch(r"\s*[0-9]{1,9}\s*", word):
        raise UsageError(f"line {line}: {quoted(word)} is no whole number.")
    return int(word)
