"""Table of all formats of schedule files; a file's contents determine its format."""

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
"""Default bytes per chunk in formats with message sizes."""

Said = Literal["busses", "switches", "parts", "bytes"]
"""Facts missing from some formats: the bus used, switches, partial sums, bytes per chunk."""

SUMMED = ("gossip", "allreduce", "reducescatter", "broadcast")


@dataclass(frozen=True, kw_only=True)
class ScheduleFormat(Format):
    """A format of schedule files."""

    read: Callable[[bytes, ReadingOptions], Contents]
    """Function to read a schedule from the bytes of a file."""
    word: str = ""
    """Name of the format for ``--format``; empty if mpinet does not write the format."""
    ending: str = ""
    """File name ending that selects the format for writing."""
    write: Callable[[Timetable, int], bytes | list[bytes]] | None = None
    """Function to write an ordered timetable, given the bytes per chunk. A returned list has one
    file per processor.
    """
    says: tuple[Said, ...] = ()
    """Facts that the format can express."""
    collectives: tuple[str, ...] = ()
    """Collectives for which the format can be written; empty: all."""


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
"""All formats. Formats identified by more evidence in the file come first."""

WRITTEN = {format.word: format for format in FORMATS if format.write is not None}
"""Formats that mpinet can write, by their names."""

ENDINGS = {format.ending: format.word for format in WRITTEN.values()}
"""Name of the format for each file name ending."""


def read_schedule(path: Path, reading: ReadingOptions) -> ScheduleFile:
    """Read a schedule file of any of the formats.

    Raises
    ------
    FileError
        The file cannot be read, has no known format, or contradicts itself. The error names the
        line.
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
    except FileError:  # the error already names the file
        raise
    except UnicodeDecodeError:
        raise FileError(f"{path.name}, line 1: the text is not UTF-8.") from None
    except UsageError as error:
        raise FileError(f"{path.name}, {error}") from None
    return ScheduleFile(**vars(found), name=path.name, format=format.name)


def silent_on(format: ScheduleFormat, subject: Said, what: str = "so") -> str:
    """Return the clause of an error: the format lacks a fact, and which formats express it."""
    others = sorted(each.ending for each in WRITTEN.values() if subject in each.says)
    return f"no {format.name} file says {what}: write {', '.join(others)}"


def written(word: str, table: Timetable, size: int) -> bytes | list[bytes]:
    """Return a schedule as the bytes of a file, with `size` bytes per chunk.

    A returned list has one file per processor.

    Raises
    ------
    UsageError
        The format cannot express the schedule, or is not written for this collective.
    """
    write = WRITTEN[word].write
    assert write is not None
    _require_told(WRITTEN[word], table)
    return write(table.ordered(), size)


def as_program(table: Timetable, size: int, name: str = "program") -> Program:
    """Return a schedule as a program of messages, with `size` bytes per chunk.

    Raises the same errors as writing the schedule in GOAL.
    """
    _require_told(WRITTEN["goal"], table)
    return program_of(as_goal(table.ordered(), size), name)


def _require_told(format: ScheduleFormat, table: Timetable) -> None:
    """Raise `UsageError` if a format cannot express a schedule."""
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
