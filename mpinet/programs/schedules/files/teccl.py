"""TE-CCL's schedules (JSON): chunk, link and epoch of every flow."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, NamedTuple

from mpinet.base.numerals import quoted
from mpinet.errors import UsageError
from mpinet.programs.schedules.files.nodes import numbered
from mpinet.programs.schedules.files.schedulefile import (
    Contents,
    ReadingOptions,
    parse_json,
    require_allgather,
    require_purpose,
)
from mpinet.programs.schedules.files.timing import Tasks, timed_rows

FLOW = re.compile(
    r"Chunk (\d{1,9}) from (\d{1,9}) traveled over (\d{1,9})->(\d{1,9})"
    r"(?: with volume ([0-9.eE+-]{1,40}))? in epoch (\d{1,9})(?: via switches ([\d, >-]+))?"
)
"""A flow: chunk, source, ends, volume, epoch, and the switches between the ends."""

WHOLE = 1e-6
"""Largest difference of a volume from 1, to allow for a solver's rounding."""


class ChunkFlow(NamedTuple):
    """A source's chunk on a path in an epoch; `where` is its position in the file."""

    epoch: int
    source: str
    chunk: int
    path: tuple[str, ...]
    where: str


def read_teccl(data: bytes, reading: ReadingOptions) -> Contents:
    """Return the timetable of an allgather; hops go by epoch, each after its chunk arrives.

    Raises
    ------
    UsageError
        The file is not in this format, splits chunks, or sends a chunk that the sender lacks.
    """
    document = parse_json(data)
    key = next((key for key in document if re.fullmatch(r"\d-Flows", key)), "7-Flows")
    given = document.get(key) if isinstance(document, dict) else None
    if not isinstance(given, list) or not given:
        raise UsageError(f"{key}: give a list of flows.")
    flows = sorted(_flow(text, f"{key}[{at}]") for at, text in enumerate(given))
    require_allgather(reading)
    sources = {flow.source for flow in flows}
    numbers = numbered((node for flow in flows for node in flow.path), sources, reading)
    most = reading.chunks or max(flow.chunk for flow in flows) + 1
    purpose = require_purpose("gossip", reading.processors, most, None)
    if len(sources) != (hosts := purpose.processors):
        raise UsageError(f"header: chunks of {len(sources)} GPUs travel; the network has {hosts}.")
    tasks, chunk_of = Tasks(), list[int]()
    brought = dict[tuple[int, int], int]()
    for flow in flows:
        chunk = numbers[flow.source] * purpose.chunks + flow.chunk
        for sender, receiver in pairwise(numbers[node] for node in flow.path):
            before = brought.get((chunk, sender))
            if before is None and sender != numbers[flow.source]:
                raise UsageError(
                    f"{flow.where}: in epoch {flow.epoch} chunk {flow.chunk} of {flow.source} has "
                    f"not come to {flow.path[0]}."
                )
            task = tasks.add(flow.where, sender, receiver)
            chunk_of.append(chunk)
            if before is not None:
                tasks.after(task, before)
            brought.setdefault((chunk, receiver), task)
    return timed_rows(tasks, reading, purpose, chunk_of)


def _flow(text: Any, where: str) -> ChunkFlow:
    """Parse the text of a flow of a chunk along a path in an epoch."""
    found = FLOW.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise UsageError(
            f"{where}: a flow is 'Chunk c from s traveled over u->v in epoch e', not "
            f"{quoted(str(text))}."
        )
    chunk, source, sender, receiver, volume, epoch, switches = found.groups()
    try:
        whole = volume is None or abs(float(volume) - 1) < WHOLE
    except ValueError:
        whole = False
    if not whole:
        raise UsageError(
            f"{where}: {volume} of a chunk is sent; only whole chunks are supported (TE-CCL "
            "splits the chunks of an alltoall)."
        )
    between = re.findall(r"\d{1,9}", switches or "")
    return ChunkFlow(int(epoch), source, int(chunk), (sender, *between, receiver), where)
