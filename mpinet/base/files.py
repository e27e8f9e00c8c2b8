"""User-named files: results are written completely or not at all; reads have a size limit.

A result is written to a temporary file and renamed, so the file at the final path is always
complete. Devices and pipes are written in place, symbolic links are followed, and sockets, disks
and folders are refused. All code that writes to a user-named path uses this module.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fcntl import F_GETFL, fcntl
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from mpinet.errors import FileError, OutputError

ASIDE = (".mpinet-", ".part")
"""Prefix and suffix of the names of temporary files during a write."""

MOST_LINKS = 40
"""Longest chain of symbolic links that is followed, as in Linux."""

REFUSED = (
    (stat.S_ISDIR, "it is a folder"),
    (stat.S_ISSOCK, "it is a socket"),
    (stat.S_ISBLK, "it is a disk"),
)
"""Tests for refused kinds of files (neither replaced nor written in place), each with its
reason.
"""


MOST_BYTES = 2**28
"""Largest file that is read as a whole, in bytes."""

AT_ONCE = 2**20
"""Bytes per read call. Reads are limited because a source like ``/dev/zero`` never ends."""


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """Read a whole file or pipe, up to a size limit.

    Raises
    ------
    OSError
        The file cannot be read, or has more than `most` bytes; ``strerror`` is the reason. From
        pipes and devices at most `MOST_BYTES` are read, because their size is unknown beforehand.
    """
    parts, count = [], 0
    with path.open("rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            most = min(most, MOST_BYTES)
        elif status.st_size > most:
            raise _too_large(most)
        while part := file.read(AT_ONCE):
            parts.append(part)
            count += len(part)
            if count > most:
                raise _too_large(most)
    return b"".join(parts)


def _too_large(most: int) -> OSError:
    return OSError(errno.EFBIG, f"it has more than {most:,} bytes")


def hash_of_file(path: Path) -> str:
    """Return the SHA-256 digest of a file of any size; `OSError` if the file cannot be read."""
    found = sha256()
    with path.open("rb", buffering=0) as file:
        while part := file.read(AT_ONCE):
            found.update(part)
    return found.hexdigest()


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """Read a UTF-8 file with the limits of `read_bytes`; `UnicodeDecodeError` for other bytes."""
    return read_bytes(path, most).decode()


@contextmanager
def seekable(path: Path) -> Iterator[BinaryIO]:
    """Open a file of any size for random access; a pipe is first read into memory by `read_bytes`.

    Raises
    ------
    OSError
        The file cannot be read.
    """
    with path.open("rb") if path.is_file() else BytesIO(read_bytes(path)) as file:
        yield file


def require_writable(path: Path) -> None:
    """Raise `FileError` if no file can be written at this path."""
    try:
        target, mode = _target(path)
        if (opened := _descriptor(target)) is not None:
            allowed = fcntl(opened, F_GETFL) & os.O_ACCMODE != os.O_RDONLY
        elif mode is not None and not stat.S_ISREG(mode):
            allowed = os.access(target, os.W_OK)
        elif target.parent.is_dir():
            allowed = os.access(target.parent, os.W_OK)
        else:
            raise FileError(f"Cannot write {path}: its folder does not exist.")
    except OSError as error:  # the name is too long
        raise FileError(f"Cannot write {path}: {error.strerror}.") from None
    if not allowed:
        raise FileError(f"Cannot write {path}: no permission.")


def require_folder_above(folder: Path, option: str = "--out") -> None:
    """Raise `FileError` if the parent of an option's new folder does not exist."""
    if not folder.absolute().parent.is_dir():
        raise FileError(f"{option} {folder}: the folder above it does not exist.")


def require_folder(folder: Path, option: str = "--out") -> None:
    """Raise `FileError` unless the path is a folder, or a valid name for a new folder."""
    try:
        if not folder.exists():
            require_folder_above(folder, option)
        elif not folder.is_dir():
            raise FileError(f"{option} {folder}: this is not a folder.")
    except OSError as error:  # the name is too long
        raise FileError(f"{option} {folder}: {error.strerror}.") from None


def make_folder(folder: Path, option: str = "--out") -> None:
    """Create a folder in an existing folder if it is missing; raise `FileError` on failure."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise FileError(f"{option} {folder}: {error.strerror}.") from None


def require_room_beside(path: Path) -> None:
    """Raise `FileError` if no second file can be put next to the path: a device or a pipe."""
    require_writable(path)
    target, mode = _target(path)
    if _is_stream(target, mode):
        raise FileError(f"Cannot write {path}: it is a device or a pipe. Name a regular file.")


def is_aside(path: Path) -> bool:
    """Return whether a name belongs to a temporary file, possibly left by a killed process."""
    return path.name.startswith(ASIDE[0]) and path.name.endswith(ASIDE[1])


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that appears at `path` only when it is complete.

    A device or a pipe receives the whole content at the end.

    Parameters
    ----------
    path : Path
        Final path of the file.

    Raises
    ------
    OutputError
        The file cannot be written completely.
    """
    try:
        target, mode = _target(path)
        with _through(target) if _is_stream(target, mode) else _aside(target) as file:
            yield file
    except OSError as error:
        raise OutputError(f"Cannot write {path}: {error.strerror}.") from None


def write_text(path: Path, text: str) -> None:
    """Write a text file with `whole_file`."""
    with whole_file(path) as file:
        file.write(text.encode(errors="backslashreplace"))


@contextmanager
def _aside(target: Path) -> Iterator[BinaryIO]:
    """Open a temporary file in the folder of `target`, and rename it to `target` at the end."""
    # In a shared folder, another user could occupy a predictable name beforehand, with a link to
    # another file.
    drawn = os.urandom(8).hex()  # unpredictable
    aside = target.with_name(f"{ASIDE[0]}{drawn}{ASIDE[1]}")
    with aside.open("xb") as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            aside.replace(target)
        finally:
            with suppress(OSError):
                aside.unlink(missing_ok=True)


@contextmanager
def _through(target: Path) -> Iterator[BinaryIO]:
    """Open a temporary file; at the end, copy its content to a device or a pipe."""
    from shutil import copyfileobj
    from tempfile import TemporaryFile

    with TemporaryFile(prefix="mpinet-") as kept:
        yield kept
        kept.seek(0)
        opened = _descriptor(target)
        # Write to the descriptor itself: opening a file by its name would write from the beginning.
        with open(target if opened is None else os.dup(opened), "wb") as stream:
            copyfileobj(kept, stream)


def _target(path: Path) -> tuple[Path, int | None]:
    """Resolve symbolic links; return the path and the mode of its file, or None without a file.

    Raises
    ------
    FileError
        The path is a folder, a socket or a disk.
    OSError
        The links form a circle, or the name is too long.
    """
    target = _followed(path)
    try:
        mode = target.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return target, None
    for is_such, reason in REFUSED:
        if is_such(mode):
            raise FileError(f"Cannot write {path}: {reason}.")
    return target, mode


def _followed(path: Path) -> Path:
    """Resolve a path's symbolic links, but stop at the names of this process's open files."""
    # Resolved step by step, because links to this process's open files must stop the walk.
    for _ in range(MOST_LINKS):
        path = Path(os.path.realpath(path.parent), path.name)
        if _descriptor(path) is not None or not path.is_symlink():
            return path
        path = path.parent / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _descriptor(path: Path) -> int | None:
    """Return the open file descriptor of this process that a path denotes, e.g. ``/dev/stdout``."""
    within = re.fullmatch(r"/proc/(\d+)(?:/task/\d+)?/fd", str(path.parent))
    mine = within is not None and int(within[1]) == os.getpid()
    return int(path.name) if mine and path.name.isdecimal() else None


def _is_stream(target: Path, mode: int | None) -> bool:
    """Return whether a file is written in place instead of being replaced."""
    return _descriptor(target) is not None or not (mode is None or stat.S_ISREG(mode))
