"""The first stop of a debugged run, as users write it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

from mpinet.errors import UsageError
from mpinet.mpi import source
from mpinet.mpi.debugging.plan import Goal
from mpinet.mpi.source import Source

LINE = re.compile(r"rank:(\d+),(.+):(\d+)", re.ASCII)
"""A rank and a line: ``rank:R,FILE:LINE``."""


def goal_of(text: str, script: Source) -> Goal:
    """Return the stop at a step, or at a line of the script or of another file.

    Raises
    ------
    UsageError
        The text is no stop, or the line holds no code.
    FileError
        The file cannot be read.
    """
    if text.isascii() and text.isdigit():
        return Goal(step=int(text))
    found = LINE.fullmatch(text)
    if found is None:
        raise UsageError(f"--until takes a step or rank:R,FILE:LINE, not {text!r}.")
    rank, name, line = int(found[1]), found[2], int(found[3])
    own = script.code.co_filename
    path = own if name == script.title else _found(name, script)
    code = script.code if path == own else source.file(Path(path)).code
    lines = sorted(set(_lines(code)))
    if line not in lines:
        later = [one for one in lines if one > line][:1] or lines[-1:]
        raise UsageError(f"--until: line {line} of {name} holds no code; line {later[0]} does.")
    return Goal(rank, 0, path, line)


def _found(name: str, script: Source) -> str:
    """Return the path of a file, relative to the current folder or to the script's folder."""
    beside = os.path.join(script.folder, name)
    return beside if not os.path.exists(name) and os.path.exists(beside) else name


def _lines(code: CodeType) -> Iterator[int]:
    """Yield the lines with code."""
    yield from (line for _, _, line in code.co_lines() if line)
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _lines(part)
