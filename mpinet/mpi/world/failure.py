"""The failure of a processor's script, as its person reads it: place, reason, the way to it."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from types import FrameType, TracebackType

from mpinet.errors import MpinetError
from mpinet.networks.topology import Topology
from mpinet.process.where import place

OWN = frozenset({"greenlet", "importlib", "mpi4py", "mpinet", "runpy"})
"""Packages whose frames are not the script's business."""


class Ended(BaseException):
    """A script ends the run otherwise than by coming to its end.

    Parameters
    ----------
    code : int
        The status that it has given.
    """

    def __init__(self, code: int):
        super().__init__(code)
        self.code = code


class Aborted(Ended):
    """A script has called MPI's ``Abort``."""


class Left(Ended):
    """A script has ended its process by ``os._exit``, without a word to MPI."""


def status_of(error: BaseException) -> int:
    """The exit status of a run that a processor ends by an error, as a real launcher passes it.

    To leave without MPI's end is a failure for launchers, whatever the process says.
    """
    code = getattr(error, "code", None) if isinstance(error, SystemExit | Ended) else None
    if not isinstance(code, int):
        return 1
    return code % 256 or int(isinstance(error, Left))


def named(topology: Topology, processor: int) -> str:
    """A processor's number, and its address where that is another one."""
    address = topology.address(processor)
    return address if address == str(processor) else f"{processor} {address}"


def described(error: BaseException) -> str:
    """Describe where a script has failed and why; an error of its own with the traceback in it."""
    where = _raised_at(error.__traceback__)
    if isinstance(error, SystemExit):
        return f"{where}: the script ends with {_status(error.code)}."
    if isinstance(error, Aborted):
        return f"{where}: the script aborts with status {error.code}."
    if isinstance(error, Left):
        return f"{where}: the script ends its process by os._exit({error.code}), and not MPI."
    if isinstance(error, MpinetError):
        return f"{where}: {error}"
    said = _said(error)
    why = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return f"{where}: {why}\n{_traceback(error)}"


def _said(error: BaseException) -> str:
    """Return what an error says, if it can."""
    try:
        return str(error)
    except Exception as another:
        return f"<its text raises {type(another).__name__}>"


def script_line(module: str = "") -> TracebackType | None:
    """The line of the running script, as of an error that it raises there.

    Parameters
    ----------
    module : str
        The module that the line is in, if one on the stack is: of what a script waits for within
        a library only its own line tells it (default: the innermost that is not the emulator's).
    """
    frames = list(frames_outside(sys._getframe(1)))
    within = (frame for frame in frames if frame.f_globals.get("__name__") == module)
    frame = next(within, frames[0] if frames else None)
    return None if frame is None else TracebackType(None, frame, frame.f_lasti, frame.f_lineno)


def frames_outside(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames from one outwards that are not the emulator's."""
    while frame is not None:
        if not _own(frame):
            yield frame
        frame = frame.f_back


def _status(code: object) -> str:
    """Return what a script ends with: a status, or what it says instead of one."""
    return f"status {code:d}" if isinstance(code, int) else f"the words {str(code)!r}"


def _raised_at(trace: TracebackType | None) -> str:
    """The last line of the script's that an error has come through."""
    found = "at its end"
    while trace is not None:
        if not _own(trace.tb_frame):
            found = place(trace.tb_frame, trace.tb_lineno)
        trace = trace.tb_next
    return found


def _own(frame: FrameType) -> bool:
    """Tell if a frame is the emulator's, or of what runs below it."""
    module = frame.f_globals.get("__name__") or ""
    return module.partition(".")[0] in OWN or frame.f_code.co_filename.startswith("<frozen ")


def _traceback(error: BaseException) -> str:
    """The traceback of an error and of those that led to it, without the emulator's frames."""
    link: BaseException | None = error
    seen: set[int] = set()
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        link.__traceback__ = _within(link.__traceback__)
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return "".join(traceback.format_exception(error)).rstrip()


def _within(trace: TracebackType | None) -> TracebackType | None:
    """A traceback's lines that are the script's."""
    lines: list[TracebackType] = []
    while trace is not None:
        if not _own(trace.tb_frame):
            lines.append(trace)
        trace = trace.tb_next
    rest: TracebackType | None = None
    for line in reversed(lines):
        rest = TracebackType(rest, line.tb_frame, line.tb_lasti, line.tb_lineno)
    return rest
