"""``mpinet launch``: run an mpinet command on several ranks of this installation's MPI library."""

from __future__ import annotations

import argparse
import os
import sys
from argparse import REMAINDER

from mpinet.cli.options import number
from mpinet.errors import UsageError
from mpinet.launching.launcher import own_mpinet, own_path, script_words
from mpinet.launching.templates import slurm_job
from mpinet.report.output import Output


def add_options(parser: argparse.ArgumentParser) -> None:
    """All words are for the launch script, which reads its options itself, -h among them."""
    parser.prefix_chars = "\0"  # a character that no word can have: nothing here is an option
    parser.add_argument("words", nargs=REMAINDER)


def act(options: argparse.Namespace) -> int:
    """Print a batch script; or become the launch script; it ends with the command's exit status."""
    if options.words[:1] == ["--slurm"]:
        Output(sys.stdout, "the standard output").write(_slurm_job(options.words[1:]))
        return 0
    command = script_words("mpinet launch", own_mpinet(), options.words)
    os.execve(command[0], command, os.environ | {"PATH": own_path()})


def _slurm_job(words: list[str]) -> str:
    """The batch script of ``mpinet launch --slurm --nodes H --tasks R COMMAND ..``."""
    counts = {"--nodes": 1, "--tasks": 0}
    while words and words[0] in counts:
        if len(words) < 2:
            raise UsageError(f"{words[0]} needs a number.")
        try:
            counts[words[0]] = number(words[1])
        except argparse.ArgumentTypeError as error:
            raise UsageError(f"{words[0]}: {error}.") from None
        words = words[2:]
    if min(counts.values()) < 1 or not words or words[0].startswith("-"):
        raise UsageError("A batch script: mpinet launch --slurm [--nodes H] --tasks R COMMAND ..")
    return slurm_job(words, counts["--nodes"], counts["--tasks"])
