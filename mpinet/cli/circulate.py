"""``mpinet circulate``: data circulation in the subcubes of the low dimensions."""

from __future__ import annotations

import argparse

from mpinet.cli.options import add_checkpoint, add_common, add_machine, add_topology, number
from mpinet.commands.circulate import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network, the subcubes, the algorithm."""
    add_topology(parser)
    parser.add_argument(
        "--dimensions",
        metavar="Q",
        type=number,
        help="circulate in every subcube of the low Q dimensions (default: all)",
    )
    parser.add_argument(
        "--algorithm", metavar="NAME", help="how pairs are brought together; see ascend"
    )
    add_machine(parser, ports="one")
    add_checkpoint(parser)
    add_common(parser)
