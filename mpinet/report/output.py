"""Standard output of a command, kept even if a program closes it: written whole, or an error."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TextIO

from mpinet.errors import OutputError


class Output:
    """A standard stream as it was when the command began.

    Parameters
    ----------
    stream : text file or None
        ``sys.stdout`` or ``sys.stderr``; None where the process began without one.
    name : str
        What an error calls it.
    """

    def __init__(self, stream: TextIO | None, name: str):
        self._stream = stream
        self._name = name
        self._file: int | None = None
        if stream is not None:
            with suppress(OSError, ValueError):  # of the kind that has no descriptor
                self._file = os.dup(stream.fileno())

    def write(self, text: str) -> None:
        """Write a text whole; characters that its encoding lacks are escaped.

        Raises
        ------
        OutputError
            It could not be written.
        BrokenPipeError
            Nobody reads it any more.
        """
        if self._stream is None:
            return
        try:
            with suppress(ValueError):  # a program has closed it
                self._stream.flush()  # what programs have printed comes first
            self._put(self._stream, text)
        # Python would print a second error when it flushes the closed pipe at exit.
        except BrokenPipeError:
            drop(self._stream)
            raise
        except OSError as error:
            drop(self._stream)
            raise OutputError(f"Cannot write to {self._name}: {error.strerror}.") from None

    def _put(self, stream: TextIO, text: str) -> None:
        """Write to the file, or to a stream without one."""
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
    """Discard a stream's buffered output, so that closing it at exit cannot fail again."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())  # type: ignore[union-attr]
        os.close(nowhere)
