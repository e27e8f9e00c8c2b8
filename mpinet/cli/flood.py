"""``mpinet flood``: flood the machine from one node."""

from __future__ import annotations

import argparse

from mpinet.cli.options import add_checkpoint, add_common, add_machine, add_topology
from mpinet.commands.flood import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network and the root."""
    add_topology(parser)
    parser.add_argument("--root", metavar="U", default="0", help="where it starts (default 0)")
    add_machine(parser, ports="all")
    add_checkpoint(parser)
    add_common(parser)
