"""``mpinet topologies``: the networks that can be named."""

from __future__ import annotations

import argparse

from mpinet.cli.options import add_common
from mpinet.commands.topologies import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """Which family, if only one."""
    parser.add_argument("family", nargs="?", metavar="NAME", help="tell all of one family")
    parser.add_argument(
        "--size",
        metavar="A..B",
        help="measure of every family the network with so many processors whose diameter is least",
    )
    parser.add_argument("--degree", metavar="..K", help="with --size: the largest degree")
    add_common(parser)
