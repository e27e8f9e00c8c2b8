"""Files that users name: results are written whole, others' files are read up to a size limit.

A result is written aside and renamed into place, so that what is there is whole. What is no file
stays what it is: devices and pipes are written through, symbolic links lead to their files, and
sockets, disks and folders are refused. Whoever writes what a person named writes it here.
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
"""Prefix and suffix of the names of files that are being written."""

MOST_LINKS = 40
"""Most symbolic links that are followed from one to the next, as in Linux."""

REFUSED = (
    (stat.S_ISDIR, "it is a folder"),
    (stat.S_ISSOCK, "it is a socket"),
    (stat.S_ISBLK, "it is a disk"),
)
"""Tests for kinds of files that are neither replaced nor written through, each with its reason."""


MOST_BYTES = 2**28
"""Largest file that is read as a whole, in bytes."""

AT_ONCE = 2**20
"""Bytes that are read at a time: a source such as ``/dev/zero`` never ends."""


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """Read all of a file, or of a pipe that comes to an end, up to a limit.

    Raises
    ------
    OSError
        It cannot be read, or it has more bytes than `most`; the reason is its ``strerror``. Of what
        is no regular file, at most `MOST_BYTES` are read: its size is not known beforehand.
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
    """Return the sha256 of a file of any size; `OSError` if it cannot be read."""
    found = sha256()
    with path.open("rb", buffering=0) as file:
        while part := file.read(AT_ONCE):
            found.update(part)
    return found.hexdigest()


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """Read a file as `read_bytes` does, as UTF-8; `UnicodeDecodeError` for other bytes."""
    return read_bytes(path, most).decode()


@contextmanager
def seekable(path: Path) -> Iterator[BinaryIO]:
    """Open a file of any size for random access; a pipe is read first, as by `read_bytes`.

    Raises
    ------
    OSError
        It cannot be read.
    """
    with path.open("rb") if path.is_file() else BytesIO(read_bytes(path)) as file:
        yield file


def require_writable(path: Path) -> None:
    """Raise `FileError` if a file cannot be written at this place."""
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
    except OSError as error:  # its name is too long
        raise FileError(f"Cannot write {path}: {error.strerror}.") from None
    if not allowed:
        raise FileError(f"Cannot write {path}: no permission.")


def require_folder_above(folder: Path, option: str = "--out") -> None:
    """Raise `FileError` if an option names a new folder in one that is not there."""
    if not folder.absolute().parent.is_dir():
        raise FileError(f"{option} {folder}: the folder above it does not exist.")


def require_folder(folder: Path, option: str = "--out") -> None:
    """Raise `FileError` unless files can be written here: a folder, or a name for a new one."""
    try:
        if not folder.exists():
            require_folder_above(folder, option)
        elif not folder.is_dir():
            raise FileError(f"{option} {folder}: this is no folder.")
    except OSError as error:  # its name is too long
        raise FileError(f"{option} {folder}: {error.strerror}.") from None


def make_folder(folder: Path, option: str = "--out") -> None:
    """Make a folder that is not there yet, in one that is; raise `FileError` if that fails."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise FileError(f"{option} {folder}: {error.strerror}.") from None


def require_room_beside(path: Path) -> None:
    """Raise `FileError` if this is no file with others beside it, but a device or a pipe."""
    require_writable(path)
    target, mode = _target(path)
    if _is_stream(target, mode):
        raise FileError(f"Cannot write {path}: it is no file that another could be put beside.")


def is_aside(path: Path) -> bool:
    """Tell if a name is that of a file being written, perhaps by a process that was killed."""
    return path.name.startswith(ASIDE[0]) and path.name.endswith(ASIDE[1])


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that appears at `path` only when it is complete.

    A device or a pipe gets all of it at the end.

    Parameters
    ----------
    path : Path
        The name under which it appears.

    Raises
    ------
    OutputError
        It cannot be written, or not all of it.
    """
    try:
        target, mode = _target(path)
        with _through(target) if _is_stream(target, mode) else _aside(target) as file:
            yield file
    except OSError as error:
        raise OutputError(f"Cannot write {path}: {error.strerror}.") from None


def write_text(path: Path, text: str) -> None:
    """Write a whole file of text, as `whole_file`."""
    with whole_file(path) as file:
        file.write(text.encode(errors="backslashreplace"))


@contextmanager
def _aside(target: Path) -> Iterator[BinaryIO]:
    """Open a temporary file beside the one that it becomes."""
    # In a shared folder a name that can be guessed could be taken beforehand, as a link to another
    # file.
    drawn = os.urandom(8).hex()  # nobody can lay in wait at it
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
    """Open a file without a name, whose content goes to a device or a pipe when it is complete."""
    from shutil import copyfileobj
    from tempfile import TemporaryFile

    with TemporaryFile(prefix="mpinet-") as kept:
        yield kept
        kept.seek(0)
        opened = _descriptor(target)
        # The descriptor itself: behind its name a file would be written from the beginning.
        with open(target if opened is None else os.dup(opened), "wb") as stream:
            copyfileobj(kept, stream)


def _target(path: Path) -> tuple[Path, int | None]:
    """Resolve a name's symbolic links; return the path and the mode of its file, None without one.

    Raises
    ------
    FileError
        It is a folder, a socket or a disk.
    OSError
        The links lead in a circle, or the name is too long.
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
    """Resolve a name's symbolic links, but not the names of this process's open files."""
    # Resolved step by step, because links to this process's open files must stop the walk.
    for _ in range(MOST_LINKS):
        path = Path(os.path.realpath(path.parent), path.name)
        if _descriptor(path) is not None or not path.is_symlink():
            return path
        path = path.parent / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _descriptor(path: Path) -> int | None:
    """Return the open file of this process that a name stands for, as ``/dev/stdout`` does."""
    within = re.fullmatch(r"/proc/(\d+)(?:/task/\d+)?/fd", str(path.parent))
    mine = within is not None and int(within[1]) == os.getpid()
    return int(path.name) if mine and path.name.isdecimal() else None


def _is_stream(target: Path, mode: int | None) -> bool:
    """Tell if a file is written through instead of being replaced."""
    return _descriptor(target) is not None or not (mode is None or stat.S_ISREG(mode))
