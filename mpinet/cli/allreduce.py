"""``mpinet allreduce``: the least, the largest or the sum of everybody's items, at all of them."""

from __future__ import annotations

import argparse

from mpinet.cli.options import add_checkpoint, add_common, add_items, add_machine, add_topology
from mpinet.commands.allreduce import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network, the operator, the algorithm."""
    add_topology(parser)
    parser.add_argument(
        "--operator", choices=("min", "max", "sum"), default="min", help="default min"
    )
    parser.add_argument(
        "--algorithm",
        metavar="NAME",
        help="rarest or trees (all ports), matching or cycle (one port); default: the fewest steps",
    )
    add_items(parser)
    add_machine(parser, ports="one")
    add_checkpoint(parser)
    add_common(parser)
