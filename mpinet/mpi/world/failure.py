"""The failure of a processor's script as shown to the user: place, reason and traceback."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from types import FrameType, TracebackType

from mpinet.errors import MpinetError, ProgramError
from mpinet.networks.topology import Topology
from mpinet.process.where import place

OWN = frozenset({"greenlet", "importlib", "mpi4py", "mpinet", "runpy"})
"""Packages whose frames are left out of reports, because they are not part of the script."""


class Ended(BaseException):
    """A script ends the run before its regular end.

    Parameters
    ----------
    code : int
        Status given by the script.
    """

    def __init__(self, code: int):
        super().__init__(code)
        self.code = code


class Aborted(Ended):
    """A script has called MPI's ``Abort``."""


class Left(Ended):
    """A script has ended its process by ``os._exit``, without finalizing MPI."""


def status_of(error: BaseException) -> int:
    """Return the exit status of a run ended by a processor's error, as a real launcher would.

    Leaving without finalizing MPI is a failure for launchers, even with status 0.
    """
    code = getattr(error, "code", None) if isinstance(error, SystemExit | Ended) else None
    if isinstance(error, ProgramError):
        code = error.status
    if not isinstance(code, int):
        return 1
    return code % 256 or int(isinstance(error, Left))


def named(topology: Topology, processor: int) -> str:
    """Return a processor's number, followed by its address if the address differs."""
    address = topology.address(processor)
    return address if address == str(processor) else f"{processor} {address}"


def described(error: BaseException) -> str:
    """Return place and reason of a script's failure; errors of the script include the traceback."""
    where = _raised_at(error.__traceback__)
    if isinstance(error, SystemExit):
        return f"{where}: the script ends with {_status(error.code)}."
    if isinstance(error, Aborted):
        return f"{where}: the script aborts with status {error.code}."
    if isinstance(error, Left):
        return (
            f"{where}: the script ends its process by os._exit({error.code}) without "
            "finalizing MPI."
        )
    if isinstance(error, MpinetError):
        return f"{where}: {error}"
    said = _said(error)
    why = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return f"{where}: {why}\n{_traceback(error)}"


def call_hook(error: BaseException) -> None:
    """Call the script's own `sys.excepthook` for an error that ends the script."""
    try:
        sys.excepthook(type(error), error, within(error))
    except Exception as another:
        text = "".join(traceback.format_exception(another))
        sys.stderr.write(f"Error in sys.excepthook:\n{text}")


def _said(error: BaseException) -> str:
    """Return an error's text, or a note if the text itself raises an error."""
    try:
        return str(error)
    except Exception as another:
        return f"<its text raises {type(another).__name__}>"


def script_line(module: str = "") -> TracebackType | None:
    """Return the running script's current line, in the form of a traceback.

    Parameters
    ----------
    module : str
        Module of the wanted line, if it is on the stack. A wait within a library is explained only
        by the script's own line (default: the innermost frame outside the emulator).
    """
    frames = list(frames_outside(sys._getframe(1)))
    within = (frame for frame in frames if frame.f_globals.get("__name__") == module)
    frame = next(within, frames[0] if frames else None)
    return None if frame is None else TracebackType(None, frame, frame.f_lasti, frame.f_lineno)


def frames_outside(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames outside the emulator, from a frame outwards."""
    while frame is not None:
        if not _own(frame):
            yield frame
        frame = frame.f_back


def _status(code: object) -> str:
    """Return the status given by a script at its end, or the text given instead."""
    return f"status {code:d}" if isinstance(code, int) else f"the message {str(code)!r}"


def _raised_at(trace: TracebackType | None) -> str:
    """Return the last line of the script in an error's traceback, as text."""
    found = last_line(trace)
    return "at its end" if found is None else place(found.tb_frame, found.tb_lineno)


def last_line(trace: TracebackType | None) -> TracebackType | None:
    """Return the part of an error's traceback for the script's last line; None without one."""
    found = None
    while trace is not None:
        found = found if _own(trace.tb_frame) else trace
        trace = trace.tb_next
    return found


def _own(frame: FrameType) -> bool:
    """Return whether a frame belongs to the emulator or to a library below it."""
    module = frame.f_globals.get("__name__") or ""
    return module.partition(".")[0] in OWN or frame.f_code.co_filename.startswith("<frozen ")


def _traceback(error: BaseException) -> str:
    """Return the traceback of an error and of its causes, without the emulator's frames."""
    link: BaseException | None = error
    seen: set[int] = set()
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        link.__traceback__ = within(link)
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return "".join(traceback.format_exception(error)).rstrip()


def within(error: BaseException) -> TracebackType | None:
    """Return the traceback of an error without the emulator's frames."""
    lines: list[TracebackType] = []
    trace = error.__traceback__
    while trace is not None:
        if not _own(trace.tb_frame):
            lines.append(trace)
        trace = trace.tb_next
    rest: TracebackType | None = None
    for line in reversed(lines):
        rest = TracebackType(rest, line.tb_frame, line.tb_lasti, line.tb_lineno)
    return rest
