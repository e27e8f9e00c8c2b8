"""The output streams of processors, and their empty input stream."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from greenlet import getcurrent

from mpinet.mpi.world.processor import number_of
from mpinet.mpi.world.replacing import replaced
from mpinet.mpi.world.world import World


class Printing(io.TextIOBase):
    """A text stream that keeps the output of processors until the round ends.

    Output of the emulator itself goes to the underlying stream at once.

    Parameters
    ----------
    world : World
        The run; knows the running processor.
    below : text file
        The process's own stream.
    error : bool
        Whether the stream is standard error.
    """

    encoding = "utf-8"
    errors = "backslashreplace"
    mode = "w"
    line_buffering = False

    def __init__(self, world: World, below: TextIO, error: bool):
        self.name = "<stderr>" if error else "<stdout>"
        self.buffer = Bytes(self)
        self._world = world
        self._below = below
        self._error = error

    def write(self, text: str, /) -> int:
        """Print a text when the round ends."""
        if getcurrent().parent is None:
            return self._below.write(text)
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._world.exits.print(self._world.turns.current, self._error, text)
        return len(text)

    def flush(self) -> None:
        """Print the begun line when the round ends."""
        if getcurrent().parent is not None and not self._error:
            self._world.exits.flush(number_of(self._world.turns.current))

    def writable(self) -> bool:
        """Return True: processors may print."""
        return True

    def fileno(self) -> int:
        """Return the process's own descriptor, for programs that write to it directly."""
        return 2 if self._error else 1

    def reconfigure(self, **settings: Any) -> None:
        """Ignore all settings, because lines are printed when the round ends in any case."""

    def close(self) -> None:
        """Do nothing, because another processor may still print."""


class Bytes(io.BufferedIOBase):
    """A binary stream that passes printed bytes to a text stream.

    Parameters
    ----------
    text : Printing
        The text stream.
    """

    def __init__(self, text: Printing):
        self.raw = self
        self._text = text

    def write(self, data: Any, /) -> int:
        """Print bytes when the round ends."""
        whole = memoryview(data).tobytes()
        self._text.write(whole.decode(self._text.encoding, self._text.errors))
        return len(whole)

    def writable(self) -> bool:
        """Return True: processors may print."""
        return True

    def close(self) -> None:
        """Do nothing, because another processor may still print."""


@contextmanager
def streams(world: World) -> Iterator[None]:
    """Context manager: redirects output to the processors' streams; standard input is empty."""
    out, errors = Printing(world, sys.stdout, False), Printing(world, sys.stderr, True)
    with replaced(
        *((sys, name, out) for name in ("stdout", "__stdout__")),
        *((sys, name, errors) for name in ("stderr", "__stderr__")),
        (sys, "stdin", io.StringIO()),
    ):
        yield


@contextmanager
def descriptors_kept(out: TextIO) -> Iterator[TextIO]:
    """Context manager: scripts may redirect or close the process's own descriptors.

    Output of the emulator and of processors uses separate descriptors unknown to scripts. At the
    end the process's own descriptors are restored.

    Parameters
    ----------
    out : text file
        File for the processors' output. The context returns the file to use instead.
    """
    own = sys.stdout, sys.stderr
    numbers = [_descriptor(stream) for stream in own]
    apart = [
        stream if number < 0 else _duplicate(stream, number)
        for stream, number in zip(own, numbers, strict=True)
    ]
    sys.stdout, sys.stderr = apart
    try:
        yield next((new for old, new in zip(own, apart, strict=True) if out is old), out)
    finally:
        sys.stdout, sys.stderr = own
        for new, number in zip(apart, numbers, strict=True):
            if number >= 0:
                os.dup2(new.fileno(), number)
                with suppress(OSError):  # the next print reports the error
                    new.close()


def _descriptor(stream: TextIO) -> int:
    """Return the descriptor of a stream; -1 without a descriptor of the operating system."""
    try:
        return stream.fileno()
    except (AttributeError, OSError, ValueError):
        return -1


def _duplicate(stream: TextIO, number: int) -> TextIO:
    """Return a stream to the same file with its own descriptor."""
    stream.flush()
    return open(os.dup(number), "w", encoding=stream.encoding, errors=stream.errors, newline="")
