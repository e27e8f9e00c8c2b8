"""The files of a checkpoint: arrays and the manifest, read back completely or rejected."""

from __future__ import annotations

import errno
import io
import json
import os
import platform
import re
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

import numpy as np

from mpinet.base.arrays import Array
from mpinet.base.files import hash_of_file, read_bytes, read_text
from mpinet.base.launched import batch_run
from mpinet.base.locks import is_at, lock, locked
from mpinet.errors import FileError

FORMAT = 1
"""Version of the file format; manifests of other versions are rejected."""

MANIFEST = "manifest.json"

LOCK = "lock"
"""Name of the file that a job keeps locked while using the folder."""

WRITER = "writer-"
"""Prefix of a job's private folder, where the manifest is written before being renamed into
place.
"""

AT_ONCE = 1 << 24
"""Bytes written at a time, and hashed in a second thread."""


def write_array(path: Path, array: Array) -> dict[str, Any]:
    """Write an array to a file on the disk; return the file's name, bytes and sha256."""
    from concurrent.futures import ThreadPoolExecutor

    array = np.ascontiguousarray(array)
    # The header is written by hand: NumPy's own writer cannot hash while writing.
    head = io.BytesIO()
    np.lib.format.write_array_header_2_0(head, np.lib.format.header_data_from_array_1_0(array))
    digest, size = sha256(head.getvalue()), head.tell() + array.nbytes
    data = array.reshape(-1).view(np.uint8).data if array.nbytes else memoryview(b"")
    with path.open("wb", buffering=0) as file, ThreadPoolExecutor(1) as beside:
        _put(file, memoryview(head.getvalue()))
        # Hashing releases the interpreter: it runs while the same piece is being written.
        for begin in range(0, len(data), AT_ONCE):
            piece = data[begin : begin + AT_ONCE]
            hashed = beside.submit(digest.update, piece)
            _put(file, piece)
            hashed.result()
        os.fsync(file.fileno())
    return {"file": path.name, "bytes": size, "sha256": digest.hexdigest()}


def _put(file: io.FileIO, data: memoryview) -> None:
    """Write all of `data`; a single call of `write` may write only a part."""
    while data:
        data = data[file.write(data) :]


def files_of(parts: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the manifest entries of all files written by a rank for its share of the fields."""
    return [part[name] for part in parts.values() for name in ("rows", "keys") if name in part]


def wrong_with(path: Path, file: Mapping[str, Any]) -> str:
    """Return a description of the damage to a file of a checkpoint, or an empty text."""
    try:
        size, digest = path.stat().st_size, hash_of_file(path)
    except OSError as error:
        return f"{path.name}: {error.strerror}"
    # Truncation is the usual damage. A wrong size helps the user more than a wrong hash.
    if size != file["bytes"]:
        return f"{path.name} has {size} bytes instead of {file['bytes']}"
    return "" if digest == file["sha256"] else f"{path.name} is damaged"


class FolderLock:
    """A job's right to write a checkpoint.

    The right consists of a locked file and a private folder for the job's manifests. The lock may
    be lost unnoticed: a file server releases the locks of an unreachable host, whose last writes
    may arrive an hour later. The next owner of the checkpoint therefore deletes the private folders
    of all previous jobs. A manifest in a deleted folder cannot be renamed, so it cannot become
    current.

    Parameters
    ----------
    folder : Path
        Folder of the checkpoint.
    again : bool
        True if an earlier run of the same batch job loses its right. Use True to resume from the
        state of that run; False to begin anew, where that run may just be deleting the checkpoint.

    Raises
    ------
    BlockingIOError
        Another job uses the checkpoint.
    """

    def __init__(self, folder: Path, again: bool = False):
        self._folder = folder
        self._own = folder / f"{WRITER}{token_hex(8)}"
        self._me = _this_run()
        try:
            self._lock = locked(folder / LOCK)
        except BlockingIOError:
            if not again or not self._is_over(holder(folder)):
                raise
            self._lock = self._taken_over()

    def begin(self) -> bool:
        """Exclude earlier jobs by deleting their folders; return True if there were any.

        Raises
        ------
        BlockingIOError
            Another job has just taken over the checkpoint.
        """
        # The folder is the right to write: renaming a manifest out of a deleted folder fails on any
        # file server.
        self._own.mkdir(exist_ok=True)
        others = [path for path in self._folder.glob(f"{WRITER}*") if path != self._own]
        for path in others:
            _delete(path)
        if self._lock is not None:
            self._sign(self._lock)
            # Another job may have replaced the locked file by its own.
            if not is_at(self._folder / LOCK, self._lock):
                raise BlockingIOError
        return bool(others)

    def write(self, manifest: dict[str, Any]) -> None:
        """Write a manifest with its sha256 into the job's own folder, then rename it into place.

        Raises
        ------
        OSError
            The folder is not writable, or another job has taken over the checkpoint.
        """
        text = json.dumps(manifest | {"sha256": _digest(manifest)}, indent=1)
        aside = self._own / MANIFEST
        # The name may be left over from a failed write on a full disk.
        aside.unlink(missing_ok=True)
        with aside.open("x") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())  # otherwise a crash could leave an empty file of this name
        aside.replace(self._folder / MANIFEST)
        sync(self._folder)

    def end(self) -> bool:
        """Remove the manifest, which prevents a restart; return True if this job owned it."""
        try:
            (self._folder / MANIFEST).replace(self._own / MANIFEST)
        except OSError:
            return False
        return True

    @property
    def is_lost(self) -> bool:
        """True if another job has taken over the checkpoint."""
        return not self._own.is_dir()

    def release(self, delete: bool = False) -> None:
        """Release the checkpoint for other jobs; with `delete`, also remove the lock file."""
        shutil.rmtree(self._own, ignore_errors=True)
        if delete:
            (self._folder / LOCK).unlink(missing_ok=True)
        if self._lock is not None:
            self._lock.close()

    def _is_over(self, other: Mapping[str, Any]) -> bool:
        """Return True if the lock's owner has ended: the batch system has restarted its job."""
        job = self._me["job"]
        # Only a restart of the same batch job proves the end of the earlier run. Host and process
        # id prove nothing on other hosts.
        return bool(job) and other.get("job") == job and other.get("run", 0) < self._me["run"]

    def _taken_over(self) -> IO[str]:
        """Replace the other job's lock file by a locked file of this job; return the open file."""
        self._own.mkdir()
        file = (self._own / LOCK).open("a")
        if not lock(file):
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
        self._sign(file)
        # A locked file replaces the old file in one step; between two steps a third job could take
        # the lock.
        (self._own / LOCK).replace(self._folder / LOCK)
        return file

    def _sign(self, file: IO[str]) -> None:
        """Write the owner's identification into a lock file."""
        file.truncate(0)
        file.write(json.dumps(self._me))
        file.flush()


def _this_run() -> dict[str, Any]:
    """Return the host, process, batch job and run count, which together identify this run."""
    job = os.environ.get("SLURM_JOB_ID", "")
    return {
        "host": platform.node(),
        "process": os.getpid(),
        "job": f"{os.environ.get('SLURM_CLUSTER_NAME', '')} {job}".strip() if job else "",
        "run": batch_run(),
    }


def holder(folder: Path) -> dict[str, Any]:
    """Return the identification of the job that owns a checkpoint; empty if unreadable."""
    kinds = {"host": str, "process": int, "job": str, "run": int}
    try:
        found = json.loads(read_text(folder / LOCK))
        said = {name: kind(found[name]) for name, kind in kinds.items()}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return said if said["host"].isprintable() else {}


def _delete(folder: Path) -> None:
    """Delete a folder in which another job may still be writing; retry for 5 seconds.

    The folder is renamed first. The other job then finds no folder, instead of its own folder with
    missing files.
    """
    gone = folder.with_name(f"{WRITER}{token_hex(8)}")
    with suppress(FileNotFoundError):
        # After the renaming, the other job's writes fail at once, instead of landing in a
        # half-deleted folder.
        folder = folder.rename(gone)
    for tries in range(50, -1, -1):
        try:
            shutil.rmtree(folder)
            return
        except OSError as error:
            if not folder.exists():
                return
            if error.errno not in (errno.ENOENT, errno.ENOTEMPTY, errno.ESTALE) or not tries:
                raise
            time.sleep(0.1)


def sync(folder: Path) -> None:
    """Flush a folder's list of files to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _digest(manifest: dict[str, Any]) -> str:
    return sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read a folder's manifest.

    Raises
    ------
    FileError
        The manifest is missing, damaged, or of another format version.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(read_bytes(path))
        digest = manifest.pop("sha256")
    except OSError as error:
        raise FileError(f"{folder} is no checkpoint: {path.name}: {error.strerror}.") from None
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        raise FileError(
            f"The checkpoint {folder} cannot be used: {path.name} is damaged."
        ) from None
    if digest != _digest(manifest):
        raise FileError(f"The checkpoint {folder} cannot be used: {path.name} is damaged.")
    if manifest.get("format") != FORMAT:
        raise FileError(
            f"The checkpoint {folder} has format {manifest.get('format')}; this mpinet reads "
            f"format {FORMAT}."
        )
    if not has_shape(manifest, SHAPE) or (
        manifest["state"] is not None and len(manifest["parts"]) != manifest["ranks"]
    ):
        raise FileError(f"The checkpoint {folder} cannot be used: {path.name} is damaged.")
    return dict(manifest)


Shape = type | list[Any] | dict[str, Any] | Callable[[Any], bool]
"""Shape of a JSON value: a type; a list of one shape; an object with these keys, and possibly more;
or a predicate.
"""


def has_shape(value: Any, shape: Shape) -> bool:
    """Return True if a JSON value has this shape."""
    if isinstance(shape, type):
        return type(value) is shape
    if isinstance(shape, list):
        return type(value) is list and all(has_shape(each, shape[0]) for each in value)
    if isinstance(shape, dict):
        inside = type(value) is dict and shape.keys() <= value.keys()
        return inside and all(has_shape(value[name], each) for name, each in shape.items())
    return shape(value)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 63


def _is_state(value: Any) -> bool:
    """Return True if `value` is the name of a state's folder, or None (no state yet)."""
    return value is None or (
        type(value) is str and re.fullmatch(r"state-\d{1,18}", value) is not None
    )


def _is_part(value: Any) -> bool:
    """Return True if `value` lists the files or number written by one rank for each field."""
    return type(value) is dict and all(
        type(part) is dict
        and all(name in FIELD and has_shape(each, FIELD[name]) for name, each in part.items())
        for part in value.values()
    )


def _is_name(value: Any) -> bool:
    """Return True if `value` is the name of a file in the checkpoint's own folder."""
    # A manifest is input: a name with a path could make a resumed run read any file.
    return type(value) is str and value.endswith(".npy") and "/" not in value and "\0" not in value


FILE: Shape = {"file": _is_name, "bytes": _is_count, "sha256": str}

FIELD: dict[str, Shape] = {
    "rows": FILE,
    "keys": FILE,
    "number": lambda value: type(value) is int and -(1 << 63) <= value < 1 << 64,
    "from": {"first": _is_count, "count": _is_count},
}

FRAME: Shape = {
    "name": str,
    "ordinal": _is_count,
    "children": _is_count,
    "known": dict,
    "plain": dict,
    "steps": _is_count,
}

SHAPE: Shape = {"state": _is_state, "ranks": _is_count, "frames": [FRAME], "parts": [_is_part]}
"""Shape of the keys common to all manifests; the reader checks the other keys."""
