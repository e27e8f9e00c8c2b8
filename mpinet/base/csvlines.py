"""Reader of user-written CSV files."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path

from mpinet.base.files import read_text
from mpinet.errors import FileError, UsageError


def csv_lines(path: Path) -> list[list[str]]:
    """Read the fields of each line of a CSV file, without empty lines and comments (``#``).

    Raises
    ------
    FileError, UsageError
        The file cannot be read, or is not a CSV file.
    """
    try:
        file = StringIO(read_text(path), newline="")
        rows = [row for row in csv.reader(file) if row and not row[0].lstrip().startswith("#")]
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error.strerror}.") from None
    except (UnicodeDecodeError, csv.Error):
        raise UsageError(f"{path} is not a CSV file.") from None
    return [[field.strip() for field in row] for row in rows]
