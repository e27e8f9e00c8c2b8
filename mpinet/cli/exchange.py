"""``mpinet exchange``: total exchange."""

from __future__ import annotations

import argparse

from mpinet.cli.options import add_checkpoint, add_common, add_machine, add_topology
from mpinet.commands.exchange import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network, the routing, the algorithm."""
    add_topology(parser)
    parser.add_argument("--routing", metavar="NAME", help="a routing of the network")
    parser.add_argument(
        "--algorithm",
        metavar="NAME",
        help="routed (default), or farthest (links): farthest target first, few steps",
    )
    add_machine(parser, ports="one")
    add_checkpoint(parser)
    add_common(parser)
