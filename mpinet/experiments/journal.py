"""Journals: results of long work, recorded immediately, so stopped work can be resumed.

A journal is a folder with one file per writer, and one JSON line per result. Each line has a
checksum, because a stopped run may leave an incomplete line, and an editor may change lines.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from os import SEEK_END
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from mpinet.base.launched import batch_run
from mpinet.base.locks import lock
from mpinet.base.version import PACKAGE, __version__
from mpinet.errors import FileError, OutputError

if TYPE_CHECKING:
    from mpinet.machine.transport import Local


def version_of(files: Sequence[str] = ()) -> str:
    """Return a fingerprint of mpinet's sources and of these files.

    Parameters
    ----------
    files : sequence of str
        Files of a user on which the results depend.
    """
    fingerprint = sha256(__version__.encode())
    # Any source may affect a result. A list of the relevant modules would be wrong sooner or later.
    for path in [*sorted(PACKAGE.rglob("*.py")), *map(Path, files)]:
        fingerprint.update(path.read_bytes())
    return fingerprint.hexdigest()


def journal_of(
    transport: Local,
    folder: str | Path | None,
    option: str,
    files: Sequence[str] = (),
    alone: bool = True,
) -> Journal | None:
    """Open this rank's journal in a folder, or in the folder of the checkpoints, if there is one.

    Parameters
    ----------
    transport : Local
        The ranks.
    folder : str or Path, optional
        The folder that the user names by `option`.
    option, alone
        As for `Journal`.
    files : sequence of str
        As for `version_of`.
    """
    if folder is None and transport.keeper is not None:
        folder, option = transport.keeper.journal, "--checkpoint"
    if folder is None:
        return None
    name, version = f"rank-{transport.rank}", version_of(files)
    return Journal(Path(folder), name, version, option, alone)


class Journal:
    """The lines of a folder, and this rank's file, to which new lines are appended.

    Parameters
    ----------
    folder : Path
        The folder, created if needed; the hosts of all ranks must have access.
    name : str
        Name of this rank's file, without the ending. If a batch system starts a job again, the file
        gets a different name, because an unreachable host may keep the first file locked.
    version : str
        Fingerprint from `version_of`; lines with other fingerprints are ignored.
    option : str
        Name of the folder's option in error messages.
    alone : bool
        True if no other process may write this file at the same time.

    Raises
    ------
    FileError
        The folder cannot be created or written, or another process writes the file.
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
                raise FileError(f"{option} {self._path}: this is not a file.")
            self._file: IO[str] = self._path.open("a")
            if alone:
                self._lock()
            if _is_torn(self._path):
                self._file.write("\n")  # written with the first line
        except OSError as error:
            raise FileError(f"{option} {folder}: {error.strerror}.") from None

    def _lock(self) -> None:
        """Lock the file against other writers for the lifetime of this process."""
        try:
            lock(self._file)
        except BlockingIOError:
            raise FileError(f"{self._option} {self._path}: another run is writing it.") from None

    def write(self, key: str, found: Any) -> None:
        """Write a result at once; skip values that JSON cannot express, such as NaN."""
        try:
            text = json.dumps([self._version, key, found], allow_nan=False)
        except ValueError:
            return
        try:
            self._file.write(json.dumps([_checksum(text), text]) + "\n")
            # Without a flush, a killed job would lose the results in its buffer.
            self._file.flush()
        except OSError as error:
            raise OutputError(f"Cannot write {self._path}: {error.strerror}.") from None

    def known(self) -> tuple[dict[str, Any], int]:
        """Return the results of this version by key, and the number of damaged lines."""
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
            # Lines of other versions stay in the file: the user may check out that version again.
            if version == self._version:
                found[key] = value
        return found, damaged

    def _lines(self) -> list[str]:
        """Return all lines of all files, including incomplete lines."""
        lines: list[str] = []
        for path in sorted(self._folder.glob("*rank-*.jsonl")):
            if not path.is_file():
                raise FileError(f"{self._option} {path}: this is not a file.")
            try:
                lines += path.read_text(errors="replace").splitlines()
            except OSError as error:
                raise FileError(f"{self._option} {path}: {error.strerror}.") from None
        return lines

    def close(self) -> None:
        """Close the file; errors are ignored."""
        with suppress(OSError):  # an earlier line could not be written
            self._file.close()


def _is_torn(path: Path) -> bool:
    """Return whether a file's last line is incomplete; a line appended to it would be lost."""
    with path.open("rb") as file:
        if file.seek(0, SEEK_END) == 0:
            return False
        file.seek(-1, SEEK_END)
        return file.read() != b"\n"


def _checksum(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]
