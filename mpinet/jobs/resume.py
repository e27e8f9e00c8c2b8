"""``mpinet resume``: continue a run from a checkpoint."""

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

OWN = ("mapping", "memory_limit", "force", "json", "out", "progress", "watchdog", "time_limit")
"""Options that may change when a run is resumed."""


def prepare(options: ResumeOptions) -> Job:
    """Raise an error: Python has no command line to resume."""
    raise UsageError("Python cannot resume a checkpoint: type mpinet resume FOLDER.")


def taken_up(
    options: ResumeOptions, parse: Callable[[Sequence[str]], Options]
) -> tuple[Options, dict[str, Any]]:
    """Return the options of the resumed run and its manifest; enter the run's original folder.

    Parameters
    ----------
    options : ResumeOptions
        Options of ``mpinet resume``.
    parse : callable
        Parses a command line.

    Raises
    ------
    FileError
        There is no such checkpoint, or this version of mpinet cannot resume it.
    UsageError
        The resumed command lacks an option that was given.
    """
    found = resumable(options.folder)
    folder = options.folder.absolute()
    given = values_of(options) | vars(options.line)
    if given["out"] is not None:
        given["out"] = given["out"].absolute()  # relative to the current folder
    # File names in the command line are relative to the run's original folder.
    try:
        os.chdir(found["where"])
    except OSError as error:
        raise FileError(
            f"The checkpoint {folder} needs its folder {found['where']}: {error.strerror}."
        ) from None
    resumed: Options = options
    # These words were valid when the run began. If they are invalid now, the manifest is damaged,
    # and a parser's message would blame the user.
    with suppress(SystemExit), redirect_stderr(StringIO()), redirect_stdout(StringIO()):
        resumed = parse(_with_checkpoint(found["command"], folder))
    if resumed.line.checkpoint is None:
        raise FileError(
            f"The checkpoint {folder} cannot be used: its command writes no checkpoints."
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
    """Return the original command line with ``--checkpoint FOLDER``, if not already typed."""
    saves = any(word.partition("=")[0] == "--checkpoint" for word in words)
    return words if saves else [*words, "--checkpoint", str(folder)]
