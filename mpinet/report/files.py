"""Result files: written aside and renamed into place, so that what is there is whole."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO

from mpinet.errors import FileError, OutputError, UsageError

ENDINGS = (".json", ".csv", ".jsonl")
"""Of files of results."""

ASIDE = (".mpinet-", ".part")
"""What names of files that are being written begin and end with."""


def require_writable(path: Path) -> None:
    """Raise `UsageError` if a file cannot be written at this place."""
    try:
        folder = path.is_dir() or not path.absolute().parent.is_dir()
    except OSError as error:  # its name is too long
        raise FileError(f"Cannot write {path}: {error.strerror}.") from None
    if folder:
        raise FileError(f"Cannot write {path}: its folder does not exist, or it is a folder.")
    if not os.access(path.absolute().parent, os.W_OK):
        raise FileError(f"Cannot write {path}: no permission.")


def require_file(path: Path, endings: Sequence[str], what: str) -> None:
    """Raise `UsageError` unless such a file can be written at this place.

    Parameters
    ----------
    path : Path
        The file.
    endings : sequence of str
        What its name may end in, in lower case.
    what : str
        What ends so, as the sentence calls it: ``a picture's file``.
    """
    if path.suffix.lower() not in endings:
        listed = " or ".join(filter(None, (", ".join(endings[:-1]), endings[-1])))
        raise UsageError(f"{path}: {what} ends in {listed}.")
    require_writable(path)


def is_aside(path: Path) -> bool:
    """Whether a file was being written, by a process that was perhaps killed."""
    return path.name.startswith(ASIDE[0]) and path.name.endswith(ASIDE[1])


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that appears at `path` only when it is complete.

    Parameters
    ----------
    path : Path
        Where it appears.

    Raises
    ------
    OutputError
        It cannot be written, or not all of it.
    """
    aside = path.with_name(f"{ASIDE[0]}{token_hex(8)}{ASIDE[1]}")  # nobody can lay in wait at it
    try:
        with aside.open("xb") as file:
            try:
                yield file
                file.flush()
                os.fsync(file.fileno())
                aside.replace(path)
            finally:
                with suppress(OSError):
                    aside.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"Cannot write {path}: {error.strerror}.") from None


def write_text(path: Path, text: str) -> None:
    """Write a whole file of text, as `whole_file`."""
    with whole_file(path) as file:
        file.write(text.encode(errors="backslashreplace"))


def as_json(document: dict[str, Any]) -> str:
    """A document as indented JSON with a newline."""
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def as_lines(rows: Iterable[dict[str, Any]]) -> str:
    """Rows as JSON, one a line."""
    return "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)


def as_csv(rows: list[dict[str, Any]]) -> str:
    """Rows as CSV, with a heading of all columns that one of them has."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(key for row in rows for key in row)))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
