"""TACOS's tables (CSV): one line per link, with its chunks in order."""

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
"""Marker in place of the chunks of an unused link."""


def read_tacos(data: bytes, reading: ReadingOptions) -> Contents:
    """Return the timetable of an allgather; chunk c belongs to NPU c modulo the number of NPUs.

    A link carries its chunks in order, each after its arrival at the sender.

    Raises
    ------
    UsageError
        The file is not in this format, a chunk never reaches its sender, or links wait for each
        other in a cycle.
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
    """Return the sends as tasks: each waits for the link's previous send, and for its chunk."""
    tasks = Tasks()
    comes, last = dict[tuple[int, int], tuple[int, int]](), dict[int, tuple[int, int]]()
    for line, sender, receiver, chunk in sends:
        if sender >= npus or receiver >= npus or chunk >= total:
            raise UsageError(f"line {line}: the file has {npus} NPUs and {total} chunks.")
        task = tasks.add(f"line {line}: chunk {chunk}", sender, receiver)
        place, before = last.get(line, (0, -1))
        if before >= 0:
            tasks.after(task, before)
        last[line] = place + 1, task
        # A chunk may arrive again needlessly: the arrival earliest on its link is sent on.
        comes[receiver, chunk] = min(comes.get((receiver, chunk), (place, task)), (place, task))
    for task, (line, sender, _, chunk) in enumerate(sends):
        if chunk % npus == sender:
            continue
        if (sender, chunk) not in comes:
            raise UsageError(f"line {line}: chunk {chunk} never arrives at its sender {sender}.")
        tasks.after(task, comes[sender, chunk][1])
    return tasks


def _number(word: str, line: int) -> int:
    if not re.fullmatch(r"\s*[0-9]{1,9}\s*", word):
        raise UsageError(f"line {line}: {quoted(word)} is not a whole number.")
    return int(word)
