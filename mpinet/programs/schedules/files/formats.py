"""The one door for schedule files: their contents tell the format, and one table has them all."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from mpinet.base.files import read_bytes
from mpinet.base.formats import Format, format_of, refusal
from mpinet.errors import FileError, UsageError
from mpinet.machine.timed.program import Program
from mpinet.programs.messages.goal import program_of
from mpinet.programs.messages.goalbinary import COOKIE
from mpinet.programs.schedules.files.buffers import name_of
from mpinet.programs.schedules.files.chakra import as_chakra, read_chakra
from mpinet.programs.schedules.files.forestcoll import read_forestcoll
from mpinet.programs.schedules.files.goal import as_goal, read_goal
from mpinet.programs.schedules.files.msccl import as_msccl, read_msccl
from mpinet.programs.schedules.files.mscclpp import as_plan, read_plan
from mpinet.programs.schedules.files.own import as_npz, read_csv, read_npz
from mpinet.programs.schedules.files.schedulefile import Contents, ReadingOptions, ScheduleFile
from mpinet.programs.schedules.files.tacos import read_tacos
from mpinet.programs.schedules.files.teccl import read_teccl
from mpinet.programs.schedules.timetable import Timetable, csv_text

CHUNK_BYTES = 8
"""Bytes of a chunk in formats that tell them, where nobody says it."""

Said = Literal["busses", "switches", "parts", "bytes"]
"""Subjects on which some formats are silent: which bus, switches, parts of sums, chunks' bytes."""

SUMMED = ("gossip", "allreduce", "reducescatter", "broadcast")


@dataclass(frozen=True, kw_only=True)
class ScheduleFormat(Format):
    """A format of schedule files."""

    read: Callable[[bytes, ReadingOptions], Contents]
    """Reads the bytes."""
    word: str = ""
    """Name of the format for ``--format``; empty: it is not written."""
    ending: str = ""
    """Ending of a name that stands for it, where a file is written."""
    write: Callable[[Timetable, int], bytes | list[bytes]] | None = None
    """Writes a timetable in order, with a chunk's bytes; a list is a file per processor."""
    says: tuple[Said, ...] = ()
    """Subjects that it can tell."""
    collectives: tuple[str, ...] = ()
    """Collectives that it is written for; empty: all."""


OWN: tuple[Said, ...] = ("busses", "switches", "parts")

FORMATS = (
    ScheduleFormat("Chakra", endings=(".et",), read=read_chakra, word="chakra", ending=".et",
                   write=as_chakra, says=("bytes",), collectives=(*SUMMED, "reduce")),
    ScheduleFormat("mpinet", rb"\APK", read=read_npz, word="npz", ending=".npz",
                   write=lambda table, _: as_npz(table), says=OWN),
    ScheduleFormat("GOAL", rb"\A" + re.escape(COOKIE) + rb"|(?m:^\s*num_ranks\s)", read=read_goal,
                   word="goal", ending=".goal", write=as_goal, says=("parts", "bytes")),
    ScheduleFormat("MSCCL", rb"\A\s*(?=<)(?s:.)*?<algo\b", read=read_msccl, word="msccl",
                   ending=".xml", write=lambda table, _: as_msccl(table)),
    ScheduleFormat("ForestColl", rb"\A\s*(?=<)(?s:.)*?<tree\b", read=read_forestcoll),
    ScheduleFormat("TACOS", rb"\ANPUs Count,", read=read_tacos),
    ScheduleFormat("TE-CCL", rb'\A\s*\{(?s:.)*"1-Epoch_Duration"\s*:', read=read_teccl),
    ScheduleFormat("MSCCL++", rb'\A\s*\{(?s:.)*"gpus"\s*:', read=read_plan, word="mscclpp",
                   ending=".json", write=lambda table, _: as_plan(table), collectives=SUMMED),
    ScheduleFormat("mpinet", rb"\A\s*([#\w]|\Z)", read=read_csv, word="csv", ending=".csv",
                   write=lambda table, _: csv_text(table).encode(), says=OWN),
)  # fmt: skip
"""All formats; those that more tells come first."""

WRITTEN = {format.word: format for format in FORMATS if format.write is not None}
"""Formats that are written, by their words."""

ENDINGS = {format.ending: format.word for format in WRITTEN.values()}
"""The formats that files' endings stand for."""


def read_schedule(path: Path, reading: ReadingOptions) -> ScheduleFile:
    """Read a schedule file of any of the formats.

    Raises
    ------
    FileError
        It cannot be read, or is none, or contradicts itself; tells where.
    """
    try:
        data = read_bytes(path)
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error.strerror}.") from None
    format = format_of(FORMATS, path, data)
    if format is None:
        raise FileError(f"{path.name}, line 1: this {refusal(FORMATS)}")
    try:
        found = format.read(data, replace(reading, path=path))
    except FileError:  # it names the file
        raise
    except UnicodeDecodeError:
        raise FileError(f"{path.name}, line 1: this is no text in UTF-8.") from None
    except UsageError as error:
        raise FileError(f"{path.name}, {error}") from None
    return ScheduleFile(**vars(found), name=path.name, format=format.name)


def silent_on(format: ScheduleFormat, subject: Said, what: str = "so") -> str:
    """Say that a format does not tell something, and which ones do."""
    others = sorted(each.ending for each in WRITTEN.values() if subject in each.says)
    return f"no {format.name} file says {what}: write {', '.join(others)}"


def written(word: str, table: Timetable, size: int) -> bytes | list[bytes]:
    """Write a schedule, chunks of `size` bytes; a list is a file per processor.

    Raises
    ------
    UsageError
        The format is silent on what is in the schedule, or not written for the collective.
    """
    write = WRITTEN[word].write
    assert write is not None
    _require_told(WRITTEN[word], table)
    return write(table.ordered(), size)


def as_program(table: Timetable, size: int, name: str = "program") -> Program:
    """Return a schedule as a program of messages, chunks of `size` bytes; refused as GOAL is."""
    _require_told(WRITTEN["goal"], table)
    return program_of(as_goal(table.ordered(), size), name)


def _require_told(format: ScheduleFormat, table: Timetable) -> None:
    """Raise `UsageError` where a format cannot tell what is in a schedule."""
    if format.collectives and table.collective not in format.collectives:
        names = ", ".join(sorted(map(name_of, format.collectives)))
        raise UsageError(f"Files of {format.name} are written for {names}.")
    if "parts" not in format.says and table.since is not None and (table.since >= 0).any():
        raise UsageError(
            "In this schedule processors send parts of their sums (since), and "
            f"{silent_on(format, 'parts')}, or take another --algorithm."
        )
    last = max(table.sender.max(initial=0), table.receiver.max(initial=0))
    if "switches" not in format.says and last >= table.processors:
        raise UsageError(
            f"In this schedule switches send or receive, and {silent_on(format, 'switches')}."
        )
