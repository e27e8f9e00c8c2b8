"""``mpinet neighbors``: the ports of one node."""

from __future__ import annotations

import argparse

from mpinet.cli.options import add_common, add_topology
from mpinet.commands.neighbors import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network and the node."""
    add_topology(parser)
    parser.add_argument("node", metavar="NODE", help="number or address of a node")
    add_common(parser)
