"""The streams on which processors print, and the empty one that they read from."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from greenlet import getcurrent

from mpinet.mpi.world.replacing import replaced
from mpinet.mpi.world.world import World


class Printing(io.TextIOBase):
    """A stream that keeps what processors print until the round is over.

    What the emulator itself has to say goes to the stream below at once.

    Parameters
    ----------
    world : World
        Knows who prints.
    below : text file
        The process's own stream.
    error : bool
        Whether it is the standard error.
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
        """Print when the round is over."""
        if getcurrent().parent is None:
            return self._below.write(text)
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._world.exits.print(self._world.turns.current, self._error, text)
        return len(text)

    def writable(self) -> bool:
        """Processors may print."""
        return True

    def fileno(self) -> int:
        """Return the process's own descriptor: for programs that write there beside all lines."""
        return 2 if self._error else 1

    def reconfigure(self, **settings: Any) -> None:
        """Nothing can be set: lines wait for the end of the round in any case."""

    def close(self) -> None:
        """Other processors may still print."""


class Bytes(io.BufferedIOBase):
    """Takes the bytes of a text that processors print.

    Parameters
    ----------
    text : Printing
        The stream of the text.
    """

    def __init__(self, text: Printing):
        self.raw = self
        self._text = text

    def write(self, data: Any, /) -> int:
        """Print when the round is over."""
        whole = memoryview(data).tobytes()
        self._text.write(whole.decode(self._text.encoding, self._text.errors))
        return len(whole)

    def writable(self) -> bool:
        """Processors may print."""
        return True

    def close(self) -> None:
        """Other processors may still print."""


@contextmanager
def streams(world: World) -> Iterator[None]:
    """Within it, what is printed is what processors print, and there is nothing to read."""
    with replaced(
        (sys, "stdout", Printing(world, sys.stdout, False)),
        (sys, "stderr", Printing(world, sys.stderr, True)),
        (sys, "stdin", io.StringIO()),
    ):
        yield


@contextmanager
def descriptors_kept(out: TextIO) -> Iterator[TextIO]:
    """Within it, scripts may redirect or close the process's own descriptors.

    What the emulator and processors print goes through descriptors that no script knows; at the
    end the process's own lead where they led before.

    Parameters
    ----------
    out : text file
        Where processors' output is to go; what is given goes there.
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
                with suppress(OSError):  # the next who prints reports it
                    new.close()


def _descriptor(stream: TextIO) -> int:
    """The descriptor that a stream writes to; -1 if it is none of the system's."""
    try:
        return stream.fileno()
    except (AttributeError, OSError, ValueError):
        return -1


def _duplicate(stream: TextIO, number: int) -> TextIO:
    """A stream to the same place through a descriptor of its own."""
    stream.flush()
    return open(os.dup(number), "w", encoding=stream.encoding, errors=stream.errors, newline="")
