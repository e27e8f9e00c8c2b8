"""``mpinet resume``: go on from a checkpoint."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import Annotated, Any

from mpinet.commands import function_of
from mpinet.commands.checkpoints import resumable
from mpinet.commands.job import Job
from mpinet.commands.optionrecords import Given, line_of, with_values
from mpinet.commands.options import Force, Hosted, MemoryLimit, Resumed
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.commands.signature import Typed, command, signature_of
from mpinet.errors import FileError, UsageError

OWN = ("mapping", "memory_limit", "force", "json", "out", "progress", "watchdog")
"""Options that a run may go on with, whatever it began with."""


@command(Resumed)
def resume(
    folder: Annotated[Path, Typed(metavar="FOLDER")],
    *,
    mapping: Hosted | None = None,
    memory_limit: MemoryLimit = None,
    force: Force | None = None,
) -> Result:
    """Go on with a run from its checkpoint.

    Parameters
    ----------
    folder : path
        Folder of the checkpoint. The command goes on as it was typed, in the folder where it was
        typed, on the ranks that there are now.

    Returns
    -------
    Result
        the document of the command that the checkpoint in FOLDER is of.

    Examples
    --------
    ``mpinet resume saved``

    ``mpinet launch -n 4 resume saved``
    """
    return perform(resume, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Refuse: Python has no command line to go on with."""
    raise UsageError("A checkpoint is of a command line: mpinet resume FOLDER goes on from it.")


def taken_up(
    options: argparse.Namespace, parse: Callable[[Sequence[str]], Given]
) -> tuple[Given, dict[str, Any]]:
    """Return the options to go on with, and the manifest; enter the folder where they were typed.

    Parameters
    ----------
    options : Namespace
        Those of ``mpinet resume``.
    parse : callable
        Reads a command line.

    Raises
    ------
    FileError
        There is no such checkpoint, or this mpinet cannot go on from it.
    UsageError
        The command has not the option that it is to go on with.
    """
    found = resumable(options.folder)
    folder = options.folder.absolute()
    if options.out is not None:
        options.out = options.out.absolute()  # it is typed here, not where the run was started
    try:
        os.chdir(found["where"])
    except OSError as error:
        raise FileError(
            f"The run of the checkpoint {folder} was started in {found['where']}: {error.strerror}."
        ) from None
    resumed: Given = argparse.Namespace()
    with suppress(SystemExit), redirect_stderr(StringIO()), redirect_stdout(StringIO()):
        resumed = parse([*found["command"], "--checkpoint", str(folder)])
    if line_of(resumed).checkpoint is None:
        raise FileError(
            f"The checkpoint {folder} cannot be used: its command line has no checkpoints."
        )
    said = signature_of(function_of(resumed.command))
    known = {option.name for option in (*said.options, *said.alone)}
    for name in OWN:
        given = getattr(options, name)
        if given is not None and name not in known:
            option = name.replace("_", "-")
            raise UsageError(f"--{option} does not apply to the {resumed.command} of {folder}.")
        if given is not None:
            resumed = with_values(resumed, {name: given})
    return resumed, found
