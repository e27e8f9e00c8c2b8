"""``mpinet launch``: run an mpinet command on several ranks of this installation's MPI library."""

from __future__ import annotations

import argparse
import os
from argparse import REMAINDER

from mpinet.launching.launcher import own_mpinet, own_path, script_words


def add_options(parser: argparse.ArgumentParser) -> None:
    """All words are for the launch script, which reads its options itself, -h among them."""
    parser.prefix_chars = "\0"  # a character that no word can have: nothing here is an option
    parser.add_argument("words", nargs=REMAINDER)


def act(options: argparse.Namespace) -> int:
    """Become the launch script; it ends with the command's exit status."""
    command = script_words("mpinet launch", own_mpinet(), options.words)
    os.execve(command[0], command, os.environ | {"PATH": own_path()})
