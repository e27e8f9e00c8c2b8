"""The header of a checkpoint, and the conditions under which a run can go on from it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mpinet.base.version import __version__
from mpinet.errors import FileError
from mpinet.experiments.journal import version_of
from mpinet.experiments.plan import files_named
from mpinet.machine.checkpoint import Checkpointer, read_manifest
from mpinet.machine.checkpointfiles import Shape, has_shape
from mpinet.machine.transport import Local

HEADER: Shape = {
    "mpinet": str,
    "sources": str,
    "command": [str],
    "where": lambda value: type(value) is str and "\0" not in value,
    "inputs": dict,
}
"""Fields of a manifest that describe the run."""


def keeper_of(
    folder: Path,
    every: float | None,
    options: Mapping[str, Any],
    typed: Sequence[str],
    transport: Local,
    found: dict[str, Any] | None = None,
) -> Checkpointer:
    """Make the keeper of a run's checkpoints.

    Parameters
    ----------
    folder : Path
        Folder of the checkpoint.
    every : float, optional
        Seconds between two checkpoints.
    options : mapping
        Options of the command, by name.
    typed : sequence of str
        The command line.
    transport : Local
        The ranks.
    found : dict, optional
        The manifest that the run goes on from.
    """
    header = {
        "mpinet": __version__,
        "sources": version_of(),
        "command": list(typed),
        "where": str(Path.cwd()),
        "inputs": inputs_of(options),
    }
    return Checkpointer(folder.absolute(), header, transport, every, found)


def inputs_of(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the sha256 of the files that a command reads."""
    # A run writes these itself, so they may differ between its begin and its resumption.
    return files_named(v for k, v in options.items() if k not in ("out", "checkpoint"))


def resumable(folder: Path) -> dict[str, Any]:
    """Return the manifest in a folder, if this mpinet can go on from it.

    Raises
    ------
    FileError
        There is none, or it is damaged, or another version of mpinet wrote it.
    """
    if not os.path.exists(folder):  # pathlib raises where a name is too long
        raise FileError(f"There is no folder {folder} to go on from.")
    found = read_manifest(folder)
    if "part" in found:
        whole = folder.absolute().parents[1]
        raise FileError(f"{folder} is a part of the checkpoint {whole}: resume that.")
    if not has_shape(found, HEADER):
        raise FileError(f"The checkpoint {folder} cannot be used: it is of no command.")
    # Frames hold the variables of this version's loops: other sources may take them for something
    # else without an error.
    if found["sources"] != version_of():
        raise FileError(
            f"The checkpoint {folder} was written by another version of mpinet ({found['mpinet']}; "
            f"this is {__version__}, or its sources were changed since)."
        )
    return found


def require_inputs(folder: Path, options: Mapping[str, Any], found: dict[str, Any]) -> None:
    """Raise `FileError` unless the command's files are those that the run began with."""
    now, then = inputs_of(options), found["inputs"]
    changed = sorted(name for name in now | then if now.get(name) != then.get(name))
    if changed:
        raise FileError(
            f"The checkpoint {folder} does not belong to {', '.join(changed)}: changed since the "
            "run began."
        )
