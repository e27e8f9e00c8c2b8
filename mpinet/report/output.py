"""Standard output of a command, which stays usable if a program closes it."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TextIO

from mpinet.errors import OutputError


class Output:
    """A standard stream as it was at the start of the command.

    Parameters
    ----------
    stream : text file or None
        ``sys.stdout`` or ``sys.stderr``; None if the process started without the stream.
    name : str
        Name of the stream in error messages.
    """

    def __init__(self, stream: TextIO | None, name: str):
        self._stream = stream
        self._name = name
        self._file: int | None = None
        if stream is not None:
            with suppress(OSError, ValueError):  # a stream without a descriptor
                self._file = os.dup(stream.fileno())

    def write(self, text: str) -> None:
        """Write a whole text; characters missing in the stream's encoding are escaped.

        Raises
        ------
        OutputError
            The text could not be written.
        BrokenPipeError
            The reader has closed the pipe.
        """
        if self._stream is None:
            return
        try:
            with suppress(ValueError):  # fails if a program has closed the stream
                self._stream.flush()  # output of programs comes first
            self._put(self._stream, text)
        # Without this, Python prints a second error when flushing the closed pipe at exit.
        except BrokenPipeError:
            drop(self._stream)
            raise
        except OSError as error:
            drop(self._stream)
            raise OutputError(f"Cannot write to {self._name}: {error.strerror}.") from None

    def _put(self, stream: TextIO, text: str) -> None:
        """Write to the stream's descriptor, or to the stream if it has none."""
        encoding = stream.encoding or "utf-8"
        data = text.encode(encoding, errors="backslashreplace")
        if self._file is None:
            stream.write(data.decode(encoding))
            stream.flush()
            return
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._file, rest) :]


def drop(stream: TextIO | None) -> None:
    """Discard a stream's buffered output to prevent another failure when it is closed at exit."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())  # type: ignore[union-attr]
        os.close(nowhere)
