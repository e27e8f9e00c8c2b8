"""Journals: results of long work, written as they come, so that stopped work can go on.

A folder with a file for each that wrote, a JSON line for each finding. A line bears a checksum: a
stopped run may leave a part of one, an editor anything.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from os import SEEK_END
from pathlib import Path
from typing import IO, Any

from mpinet.base.launched import batch_run
from mpinet.base.locks import lock
from mpinet.base.version import PACKAGE, __version__
from mpinet.errors import FileError, OutputError


def version_of(files: Sequence[str] = ()) -> str:
    """A fingerprint of mpinet's sources and of these files.

    Parameters
    ----------
    files : sequence of str
        A user's files that findings depend on.
    """
    fingerprint = sha256(__version__.encode())
    # Any source may bear on a result. A list of the relevant modules would be wrong sooner or
    # later.
    for path in [*sorted(PACKAGE.rglob("*.py")), *map(Path, files)]:
        fingerprint.update(path.read_bytes())
    return fingerprint.hexdigest()


class Journal:
    """The lines of a folder, and the file of this rank that new lines are appended to.

    Parameters
    ----------
    folder : Path
        Is made if it is not there; all ranks' hosts have to see it.
    name : str
        What one's own file is called, without its ending. Where a batch system starts a job again
        the file is another one: a host that is cut off may keep the first one locked.
    version : str
        See `version_of`: what other sources have found is passed over.
    option : str
        What an error calls the folder.
    alone : bool
        Whether nobody else may write one's own file at the same time.

    Raises
    ------
    FileError
        The folder cannot be made or written, or somebody else writes the file.
    """

    def __init__(self, folder: Path, name: str, version: str, option: str, alone: bool = True):
        self._folder = folder
        self._version = version
        self._option = option
        again = batch_run()
        self._path = folder / f"{f'run-{again}-' if again else ''}{name}.jsonl"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if self._path.exists() and not self._path.is_file():
                raise FileError(f"{option} {self._path}: this is no file.")
            self._file: IO[str] = self._path.open("a")
            if alone:
                self._lock()
            if _is_torn(self._path):
                self._file.write("\n")  # written with the first line
        except OSError as error:
            raise FileError(f"{option} {folder}: {error.strerror}.") from None

    def _lock(self) -> None:
        """Lock the file against other writers as long as this process runs."""
        try:
            lock(self._file)
        except BlockingIOError:
            raise FileError(f"{self._option} {self._path}: another run is writing it.") from None

    def write(self, key: str, found: Any) -> None:
        """Write a result at once; refuse values that JSON cannot express, such as NaN."""
        try:
            text = json.dumps([self._version, key, found], allow_nan=False)
        except ValueError:
            return
        try:
            self._file.write(json.dumps([_checksum(text), text]) + "\n")
            # A job that is killed would otherwise lose the findings that its buffer still holds.
            self._file.flush()
        except OSError as error:
            raise OutputError(f"Cannot write {self._path}: {error.strerror}.") from None

    def known(self) -> tuple[dict[str, Any], int]:
        """Return the results of this version by their keys, and the number of damaged lines."""
        found, damaged = {}, 0
        for line in filter(None, self._lines()):
            try:
                checksum, text = json.loads(line)
                if checksum != _checksum(text):
                    raise ValueError("changed since it was written")
                version, key, value = json.loads(text)
            except (ValueError, TypeError, AttributeError, RecursionError):
                damaged += 1
                continue
            # Lines of other versions stay in the file: the user may check that version out again.
            if version == self._version:
                found[key] = value
        return found, damaged

    def _lines(self) -> list[str]:
        """Return all lines of all files, remains of torn lines included."""
        lines: list[str] = []
        for path in sorted(self._folder.glob("*rank-*.jsonl")):
            if not path.is_file():
                raise FileError(f"{self._option} {path}: this is no file.")
            try:
                lines += path.read_text(errors="replace").splitlines()
            except OSError as error:
                raise FileError(f"{self._option} {path}: {error.strerror}.") from None
        return lines

    def close(self) -> None:
        """Close the file; later writes do nothing."""
        with suppress(OSError):  # of a line that could not be written before
            self._file.close()


def _is_torn(path: Path) -> bool:
    """Tell if a file's last line is unfinished: a line appended to it would be lost with it."""
    with path.open("rb") as file:
        if file.seek(0, SEEK_END) == 0:
            return False
        file.seek(-1, SEEK_END)
        return file.read() != b"\n"


def _checksum(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]
