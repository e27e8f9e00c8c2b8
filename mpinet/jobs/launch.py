"""``mpinet launch``: run an mpinet command on several ranks of this installation's MPI library."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from mpinet.base.hashseed import settings
from mpinet.base.numerals import whole
from mpinet.commands.launch import LaunchOptions
from mpinet.errors import UsageError
from mpinet.launching.launcher import own_mpinet, own_path, script_words
from mpinet.launching.templates import slurm_job
from mpinet.report.output import Output


def act(options: LaunchOptions) -> int:
    """Start the launcher, or print a batch script; return the exit status."""
    words = options.words
    if words[:1] == ["--slurm"]:
        Output(sys.stdout, "the standard output").write(_slurm_job(words[1:]))
        return 0
    command = script_words("mpinet launch", own_mpinet(), words)
    # The launcher replaces this process, so the batch system's signals reach the launcher directly.
    os.execve(command[0], command, os.environ | {"PATH": own_path()} | settings(words))


def _slurm_job(words: Sequence[str]) -> str:
    """Return the batch script of ``mpinet launch --slurm --nodes H --tasks R COMMAND ..``."""
    counts = {"--nodes": 1, "--tasks": 0}
    while words and words[0] in counts:
        if len(words) < 2:
            raise UsageError(f"{words[0]} needs a number.")
        try:
            counts[words[0]] = whole(words[1])
        except ValueError as error:
            raise UsageError(f"{words[0]}: {error}.") from None
        words = words[2:]
    if min(counts.values()) < 1 or not words or words[0].startswith("-"):
        raise UsageError("A batch script: mpinet launch --slurm [--nodes H] --tasks R COMMAND ..")
    return slurm_job(words, counts["--nodes"], counts["--tasks"])
