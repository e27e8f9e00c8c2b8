"""Source locations of processors' programs."""

from __future__ import annotations

import os
from collections.abc import Generator
from types import FrameType, GeneratorType, TracebackType
from typing import Any

OWN_ROOM = os.path.dirname(os.path.abspath(__file__))


def suspended_at(thread: Generator[Any, Any, Any] | None) -> str:
    """Return file, line and function of the ``yield`` at which a program is suspended."""
    while isinstance(thread, GeneratorType) and isinstance(thread.gi_yieldfrom, GeneratorType):
        thread = thread.gi_yieldfrom
    if not isinstance(thread, GeneratorType) or thread.gi_frame is None:
        return "at its beginning"
    return place(thread.gi_frame, thread.gi_frame.f_lineno)


def ended_at(thread: Generator[Any, Any, Any] | None) -> str:
    """Return file, first line and function of a program that has ended."""
    if not isinstance(thread, GeneratorType):
        return "at its end"
    code = thread.gi_code
    return f"{shown(code.co_filename)}:{code.co_firstlineno} in {code.co_name}, at its end"


def raised_at(traceback: TracebackType | None) -> str:
    """Return ``FILE:LINE in FUNCTION`` of a traceback's innermost user code; '' without any.

    Code outside this folder counts as user code.
    """
    found = ""
    while traceback is not None:
        if os.path.dirname(os.path.abspath(traceback.tb_frame.f_code.co_filename)) != OWN_ROOM:
            found = place(traceback.tb_frame, traceback.tb_lineno)
        traceback = traceback.tb_next
    return found


def place(frame: FrameType, line: int) -> str:
    """Return a location as readable text: file, line and function."""
    return f"{shown(frame.f_code.co_filename)}:{line} in {frame.f_code.co_name}"


def shown(file: str) -> str:
    """Return a file's path, relative to the current directory if the file is inside it."""
    return file.removeprefix(os.getcwd() + os.sep)
