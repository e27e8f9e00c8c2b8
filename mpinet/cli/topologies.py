"""``mpinet topologies``: the networks that can be named."""

from __future__ import annotations

import argparse

from mpinet.cli.options import add_common
from mpinet.commands.topologies import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """Which family, if only one."""
    parser.add_argument("family", nargs="?", metavar="NAME", help="tell all of one family")
    add_common(parser)
