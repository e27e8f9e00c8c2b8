"""Result files: written aside and renamed into place, so that what is there is whole."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from mpinet.errors import FileError, OutputError, UsageError

ENDINGS = (".json", ".csv")


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


def require_result_file(path: Path) -> None:
    """Raise `UsageError` unless a result can be written to this file."""
    if path.suffix not in ENDINGS:
        raise UsageError(f"--out {path}: the file's name must end in {' or '.join(ENDINGS)}.")
    require_writable(path)


@contextmanager
def whole_file(path: Path, writer: str = "") -> Iterator[BinaryIO]:
    """Open a file that appears at `path` only when it is complete.

    Parameters
    ----------
    path : Path
        Where it appears.
    writer : str
        Tells this one from others that may write the file at the same time.

    Raises
    ------
    OutputError
        It cannot be written, or not all of it.
    """
    aside = path.with_name(f".{writer}{path.name}.part")
    try:
        with aside.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError as error:
        raise OutputError(f"Cannot write {path}: {error.strerror}.") from None
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)


def write_text(path: Path, text: str, writer: str = "") -> None:
    """Write a whole file of text; `writer` as for `whole_file`."""
    with whole_file(path, writer) as file:
        file.write(text.encode(errors="backslashreplace"))


def as_json(document: dict[str, Any]) -> str:
    """A document as indented JSON with a newline."""
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def as_csv(rows: list[dict[str, Any]]) -> str:
    """Rows as CSV, with a heading of all columns that one of them has."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(key for row in rows for key in row)))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
