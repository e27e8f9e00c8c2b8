"""``mpinet sweep``: many runs of a command, from a file that names the values of its options."""

from __future__ import annotations

import argparse
from pathlib import Path

from mpinet.cli.options import add_checkpoint, add_common
from mpinet.commands.sweep import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """The file, the folder, and who plays what."""
    parser.add_argument(
        "plan",
        metavar="FILE.toml",
        type=Path,
        help="names a command, and a value, a list or a range for each of its options",
    )
    parser.add_argument(
        "--out",
        dest="folder",
        metavar="FOLDER",
        type=Path,
        required=True,
        help="keeps every run at once, and the table at the end; what is there is not run again",
    )
    parser.add_argument(
        "--shard", metavar="K/N", help="run only the K-th of N shares of the points (K = 1..N)"
    )
    parser.add_argument(
        "--together",
        action="store_true",
        help="let all ranks play each point together: for machines too large for one rank "
        "(default: each rank takes points of its own)",
    )
    add_checkpoint(parser, every=False)
    add_common(parser, files=False)
