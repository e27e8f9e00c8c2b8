"""``mpinet resume``: go on from a checkpoint."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from mpinet.cli.options import add_mapping
from mpinet.errors import FileError


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
    parser.set_defaults(mapping=None, json=False, out=None, progress=None, watchdog=None)


def found_in(options: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    """The command line to go on with, and the manifest; this process goes where it was typed.

    Raises
    ------
    FileError
        There is no such checkpoint, or this mpinet cannot go on from it.
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
    words = [*found["command"], "--checkpoint", str(folder)]
    return words + (["--mapping", options.mapping] if options.mapping else []), found
