"""The journal of a long verification: every finding is written down, so that it may be resumed.

A folder with a file for each rank that wrote, a JSON line for each finding. Findings of another
version of mpinet or of the user's file are passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import IO

import mpinet
from mpinet.claims.finding import Finding
from mpinet.errors import FileError

Key = tuple[str, str]
"""A claim's id, and a point as it is printed."""


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
        except OSError as error:
            raise FileError(f"--journal {folder}: {error.strerror}.") from None

    def known(self) -> bytes:
        """All findings of this version, as lines."""
        lines: list[str] = []
        for path in sorted(self._folder.glob("rank-*.jsonl")):
            lines += [line for line in path.read_text().splitlines() if self._is_current(line)]
        return "\n".join(lines).encode()

    def _is_current(self, line: str) -> bool:
        """Whether a line is whole and of this version; a stopped run may leave a part of one."""
        try:
            return bool(json.loads(line)["version"] == self._version)
        except (ValueError, KeyError, TypeError):
            return False

    def write(self, key: Key, finding: Finding) -> None:
        """Write a finding down at once."""
        row = {"version": self._version, "key": key, "finding": asdict(finding)}
        self._file.write(json.dumps(row) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Write no more."""
        self._file.close()


def findings_in(lines: bytes) -> dict[Key, Finding]:
    """Read lines that `known` gave; an error that was found is found again."""
    rows: Iterable[dict] = map(json.loads, lines.splitlines())
    findings = {tuple(row["key"]): Finding(**row["finding"]) for row in rows}
    return {key: found for key, found in findings.items() if not found.error}
