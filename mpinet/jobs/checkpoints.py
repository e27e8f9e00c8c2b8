"""The header of a checkpoint, and the conditions for resuming a run."""

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
"""Manifest fields that describe the run."""


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
        Manifest of the checkpoint that the run resumes from.
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
    """Return the SHA-256 of each file that a command reads."""
    # The run itself writes these files, which may change before the run is resumed.
    return files_named(v for k, v in options.items() if k not in ("out", "checkpoint"))


def resumable(folder: Path) -> dict[str, Any]:
    """Return the manifest in a folder, if this version of mpinet can resume the run.

    Raises
    ------
    FileError
        The manifest is missing or damaged, or another version of mpinet wrote it.
    """
    if not os.path.exists(folder):  # pathlib raises on overlong names
        raise FileError(f"There is no checkpoint folder {folder}.")
    found = read_manifest(folder)
    if "part" in found:
        whole = folder.absolute().parents[1]
        raise FileError(f"{folder} is a part of the checkpoint {whole}: resume {whole}.")
    if not has_shape(found, HEADER):
        raise FileError(f"The checkpoint {folder} cannot be used: it names no command.")
    # Frames hold the variables of this version's loops. Changed sources could misread the variables
    # without an error.
    if found["sources"] != version_of():
        raise FileError(
            f"The checkpoint {folder} was written by another version of mpinet "
            f"({found['mpinet']}; this is {__version__}), or the sources have changed."
        )
    return found


def require_inputs(folder: Path, options: Mapping[str, Any], found: dict[str, Any]) -> None:
    """Raise `FileError` if the command's input files have changed since the run began."""
    now, then = inputs_of(options), found["inputs"]
    changed = sorted(name for name in now | then if now.get(name) != then.get(name))
    if changed:
        raise FileError(
            f"The checkpoint {folder} cannot be used: {', '.join(changed)} changed since the run "
            "began."
        )
