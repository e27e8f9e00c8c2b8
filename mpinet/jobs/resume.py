"""``mpinet resume``: go on from a checkpoint."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import Any

from mpinet.commands import function_of
from mpinet.commands.job import Job
from mpinet.commands.optionrecords import Options, values_of, with_values
from mpinet.commands.resume import ResumeOptions
from mpinet.commands.signature import signature_of
from mpinet.errors import FileError, UsageError
from mpinet.jobs.checkpoints import resumable

OWN = ("mapping", "memory_limit", "force", "json", "out", "progress", "watchdog")
"""Options that a run may go on with, whatever it began with."""


def prepare(options: ResumeOptions) -> Job:
    """Refuse: Python has no command line to go on with."""
    raise UsageError("A checkpoint is of a command line: mpinet resume FOLDER goes on from it.")


def taken_up(
    options: ResumeOptions, parse: Callable[[Sequence[str]], Options]
) -> tuple[Options, dict[str, Any]]:
    """Return the options to go on with, and the manifest; enter the folder where they were typed.

    Parameters
    ----------
    options : ResumeOptions
        Options of ``mpinet resume``.
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
    given = values_of(options) | vars(options.line)
    if given["out"] is not None:
        given["out"] = given["out"].absolute()  # it is typed here, not where the run was started
    # File names in the command line are relative to the folder in which it was typed.
    try:
        os.chdir(found["where"])
    except OSError as error:
        raise FileError(
            f"The run of the checkpoint {folder} was started in {found['where']}: {error.strerror}."
        ) from None
    resumed: Options = options
    # These words were parsed when the run began. If they are wrong now, the manifest is damaged,
    # and a parser's message would blame the user.
    with suppress(SystemExit), redirect_stderr(StringIO()), redirect_stdout(StringIO()):
        resumed = parse(_with_checkpoint(found["command"], folder))
    if resumed.line.checkpoint is None:
        raise FileError(
            f"The checkpoint {folder} cannot be used: its command line has no checkpoints."
        )
    said = signature_of(function_of(resumed.command))
    known = {option.name for option in (*said.options, *said.alone)}
    changed = {name: given[name] for name in OWN if given[name] is not None}
    for name in changed:
        if name not in known:
            option = name.replace("_", "-")
            raise UsageError(f"--{option} does not apply to the {resumed.command} of {folder}.")
    return with_values(resumed, changed | {"checkpoint": folder}), found


def _with_checkpoint(words: list[str], folder: Path) -> list[str]:
    """Return the words of a command line that writes checkpoints, as no option is typed twice."""
    saves = any(word.partition("=")[0] == "--checkpoint" for word in words)
    return words if saves else [*words, "--checkpoint", str(folder)]
