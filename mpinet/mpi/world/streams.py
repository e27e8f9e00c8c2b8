"""The streams on which processors print, and the empty one that they read from."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from greenlet import getcurrent

if TYPE_CHECKING:
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
        self._world.ends.say(self._world.current, self._error, text)
        return len(text)

    def writable(self) -> bool:
        """Processors may print."""
        return True

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
    own = sys.stdout, sys.stderr, sys.stdin
    sys.stdout = Printing(world, own[0], False)
    sys.stderr = Printing(world, own[1], True)
    sys.stdin = io.StringIO()
    try:
        yield
    finally:
        sys.stdout, sys.stderr, sys.stdin = own
