"""``mpinet resume``: go on from a checkpoint."""

from __future__ import annotations

import argparse
import os
from contextlib import redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import Any

from mpinet.cli.commands import parse
from mpinet.cli.options import add_mapping, add_memory, add_progress
from mpinet.errors import FileError, UsageError

OWN = ("mapping", "memory_limit", "force", "progress", "watchdog")
"""Options that a run may go on with, whatever it began with."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The folder, and how ranks host processors from now on."""
    parser.add_argument(
        "folder",
        metavar="FOLDER",
        type=Path,
        help="what --checkpoint was given: the command goes on as it was typed, in the folder that "
        "it was typed in, on the ranks that there are now",
    )
    add_mapping(parser)
    add_memory(parser)
    add_progress(parser.add_argument_group("common options"))
    parser.set_defaults(mapping=None, force=None, json=False, out=None)


def found_in(options: argparse.Namespace) -> tuple[argparse.Namespace, dict[str, Any]]:
    """The options to go on with, and the manifest; this process goes where they were typed.

    Raises
    ------
    FileError
        There is no such checkpoint, or this mpinet cannot go on from it.
    UsageError
        The command has not the option that it is to go on with.
    """
    from mpinet.commands.checkpoints import resumable

    found = resumable(options.folder)
    folder = options.folder.absolute()
    try:
        os.chdir(found["where"])
    except OSError as error:
        raise FileError(
            f"The run of the checkpoint {folder} was started in {found['where']}: {error.strerror}."
        ) from None
    resumed = argparse.Namespace()
    with suppress(SystemExit), redirect_stderr(StringIO()), redirect_stdout(StringIO()):
        resumed = parse([*found["command"], "--checkpoint", str(folder)])
    if getattr(resumed, "checkpoint", None) is None:
        raise FileError(
            f"The checkpoint {folder} cannot be used: its command line has no checkpoints."
        )
    for name in OWN:
        given = getattr(options, name)
        if given is not None and not hasattr(resumed, name):
            option = name.replace("_", "-")
            raise UsageError(f"--{option} does not apply to the {resumed.command} of {folder}.")
        if given is not None:
            setattr(resumed, name, given)
    return resumed, found
