"""``mpinet path``: the way of one message."""

from __future__ import annotations

import argparse

from mpinet.cli.options import add_common, add_topology
from mpinet.commands.path import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network, the ends, the routing."""
    add_topology(parser)
    parser.add_argument("source", metavar="SRC", help="number or address of the source")
    parser.add_argument("target", metavar="DST", help="number or address of the target")
    parser.add_argument("--routing", metavar="NAME", help="a routing of the network")
    add_common(parser)
