"""The journal of a long verification: each finding is written at once, to resume from.

A folder with a file for each rank that wrote, a JSON line for each finding. Findings of another
version of mpinet or of the user's file are skipped: their measurement may have changed.

A folder with a file for each rank that wrote, a JSON line for each finding. Findings of another
version of mpinet or of the user's file are passed over.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from os import SEEK_END
from pathlib import Path
from typing import IO, Any

import mpinet
from mpinet.claims.finding import Finding
from mpinet.errors import FileError, OutputError

Key = tuple[str, str]
"""A claim's id, and a point as it is printed."""

LONGEST = 1e9
"""Seconds that no measurement takes."""


def version_of(files: Sequence[str]) -> str:
    """A fingerprint of mpinet's sources and of these files.

    Parameters
    ----------
    files : sequence of str
        A user's files with claims.
    """
    package = Path(mpinet.__file__).parent
    fingerprint = sha256(mpinet.__version__.encode())
    for path in [*sorted(package.rglob("*.py")), *map(Path, files)]:
        fingerprint.update(path.read_bytes())
    return fingerprint.hexdigest()


class Journal:
    """The findings in a folder.

    Parameters
    ----------
    folder : Path
        Is made if it is not there; all ranks' hosts have to see it.
    version : str
        See `version_of`.
    rank : int
        This rank, which writes a file of its own.

    Raises
    ------
    FileError
        The folder cannot be made or written.
    """

    def __init__(self, folder: Path, version: str, rank: int):
        self._folder = folder
        self._version = version
        self._path = folder / f"rank-{rank}.jsonl"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file: IO[str] = self._path.open("a")
            if _is_torn(self._path):
                self._file.write("\n")  # goes out with the first finding
        except OSError as error:
            raise FileError(f"--journal {folder}: {error.strerror}.") from None

    def known(self) -> bytes:
        """All findings of this version, as lines."""
        lines: list[str] = []
        for path in sorted(self._folder.glob("rank-*.jsonl")):
            if not path.is_file():
                raise FileError(f"--journal {path}: this is no file.")
            try:
                text = path.read_text(errors="replace")
            except OSError as error:
                raise FileError(f"--journal {path}: {error.strerror}.") from None
            lines += [line for line in text.splitlines() if self._is_current(line)]
        return "\n".join(lines).encode()

    def _is_current(self, line: str) -> bool:
        """Return whether a line is whole, sound and of this version.

        A stopped run may leave a part of one, and an editor anything.
        """
        try:
            row = json.loads(line)
            _row(row)
            return bool(row["version"] == self._version)
        except (ValueError, KeyError, TypeError, RecursionError):
            return False

    def write(self, key: Key, finding: Finding) -> None:
        """Write a finding down at once."""
        row = {"version": self._version, "key": key, "finding": asdict(finding)}
        try:
            self._file.write(json.dumps(row) + "\n")
            self._file.flush()
        except OSError as error:
            raise OutputError(f"Cannot write {self._path}: {error.strerror}.") from None

    def close(self) -> None:
        """Close the file; later writes do nothing."""
        with suppress(OSError):  # of a line that could not be written before
            self._file.close()


def _is_torn(path: Path) -> bool:
    """Whether a file's last line has no end: a finding behind it would be lost with it."""
    with path.open("rb") as file:
        if file.seek(0, SEEK_END) == 0:
            return False
        file.seek(-1, SEEK_END)
        return file.read() != b"\n"


def findings_in(lines: bytes) -> dict[Key, Finding]:
    """Parse the lines of `known`; errors are left out, so that their points are tried again."""
    findings = dict(_row(json.loads(line)) for line in lines.splitlines())
    return {key: found for key, found in findings.items() if not found.error}


def _row(row: Any) -> tuple[Key, Finding]:
    """Parse a line into its key and finding.

    Raises
    ------
    ValueError, KeyError, TypeError
        It says what `Journal.write` never writes.
    """
    claim, point = row["key"]
    found = Finding(**row["finding"])
    kinds = (
        (row["key"], list),
        (claim, str),
        (point, str),
        (found.holds, bool),
        (found.where, dict),
        (found.out_of_reach, str),
        (found.error, str),
        (found.seconds, float | int),
    )
    if not all(isinstance(value, kind) for value, kind in kinds):
        raise TypeError("a field of another type")
    if not 0 <= found.seconds < LONGEST:
        raise ValueError("no time that a measurement takes")
    json.dumps(row, allow_nan=False)  # NaN and infinity are no findings
    return (claim, point), found
