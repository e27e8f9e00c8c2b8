"""The files of a checkpoint: arrays and the manifest, whole on the disk or refused."""

from __future__ import annotations

import fcntl
import io
import json
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

import numpy as np

from mpinet.arrays import Array
from mpinet.errors import FileError

FORMAT = 1
"""The number of this format; a manifest of another one is refused."""

MANIFEST = "manifest.json"

PART = f".{MANIFEST}.part"
"""A manifest that is being written."""

LOCK = "lock"
"""The file that a job locks as long as it uses the folder."""

AT_ONCE = 1 << 24
"""Bytes that are written, and hashed beside, at a time."""


def write_array(path: Path, array: Array) -> dict[str, Any]:
    """Write an array to a file, to the disk itself; the file's name, bytes and sha256."""
    array = np.ascontiguousarray(array)
    head = io.BytesIO()
    np.lib.format.write_array_header_2_0(head, np.lib.format.header_data_from_array_1_0(array))
    digest, size = sha256(head.getvalue()), head.tell() + array.nbytes
    data = array.reshape(-1).view(np.uint8).data if array.nbytes else memoryview(b"")
    with path.open("wb", buffering=0) as file, ThreadPoolExecutor(1) as beside:
        _put(file, memoryview(head.getvalue()))
        for begin in range(0, len(data), AT_ONCE):
            piece = data[begin : begin + AT_ONCE]
            hashed = beside.submit(digest.update, piece)
            _put(file, piece)
            hashed.result()
        os.fsync(file.fileno())
    return {"file": path.name, "bytes": size, "sha256": digest.hexdigest()}


def _put(file: io.FileIO, data: memoryview) -> None:
    """Write all of it."""
    while data:
        data = data[file.write(data) :]


def files_of(part: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The files of a rank's part of a field."""
    return [part[name] for name in ("rows", "keys") if name in part]


def wrong_with(path: Path, file: Mapping[str, Any]) -> str:
    """What is wrong with a file of a checkpoint; nothing, if it is as it was written."""
    digest = sha256()
    try:
        size = path.stat().st_size
        with path.open("rb", buffering=0) as stream:
            while piece := stream.read(AT_ONCE):
                digest.update(piece)
    except OSError as error:
        return f"{path.name}: {error.strerror}"
    if size != file["bytes"]:
        return f"{path.name} has {size} bytes instead of {file['bytes']}"
    return "" if digest.hexdigest() == file["sha256"] else f"{path.name} is damaged"


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write a manifest, with its own sha256, aside; rename it into place, last of all."""
    text = json.dumps(manifest | {"sha256": _digest(manifest)}, indent=1)
    aside = folder / PART
    aside.unlink(missing_ok=True)  # of a job that was killed; never written through a link
    with aside.open("x") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(folder / MANIFEST)
    sync(folder)


def locked(folder: Path) -> IO[str] | None:
    """Keep other jobs from a folder until the file is closed, be it by this process's end.

    Returns
    -------
    file or None
        The file whose lock that is; nothing where the file system knows no locks.

    Raises
    ------
    BlockingIOError
        Another job keeps the folder.
    """
    path = folder / LOCK
    while True:
        file = path.open("a")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise
        except OSError:
            file.close()
            return None
        with suppress(FileNotFoundError):
            if os.path.samestat(path.stat(), os.fstat(file.fileno())):
                return file
        file.close()  # of a job that has just ended, and deleted it


def sync(folder: Path) -> None:
    """Write a folder's list of files to the disk itself."""
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
        There is none, or it is damaged, or of another format.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_bytes())
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
            f"The checkpoint {folder} is of format {manifest.get('format')}; this mpinet knows "
            f"format {FORMAT}."
        )
    return dict(manifest)
