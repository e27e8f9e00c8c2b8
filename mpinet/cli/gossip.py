"""``mpinet gossip``: all-to-all broadcast."""

from __future__ import annotations

import argparse

from mpinet.cli.options import add_checkpoint, add_common, add_items, add_machine, add_topology
from mpinet.commands.gossip import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network, the algorithm."""
    add_topology(parser)
    parser.add_argument(
        "--algorithm",
        metavar="NAME",
        help="cycle (where the network offers one), tree (links), routed; default: the first of "
        "these; or rarest (links, all ports) or matching (links, one port), which take few steps",
    )
    add_items(parser)
    add_machine(parser, ports="one")
    add_checkpoint(parser)
    add_common(parser)
