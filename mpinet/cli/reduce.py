"""``mpinet reduce``: the least, the largest or the sum of all processors' items, at one of them."""

from __future__ import annotations

import argparse

from mpinet.cli.options import add_checkpoint, add_common, add_items, add_machine, add_topology
from mpinet.commands.reduce import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network, the operator, the root, the broadcast."""
    from mpinet.programs.reduce import OPERATORS

    add_topology(parser)
    parser.add_argument(
        "--operator",
        choices=tuple(OPERATORS),
        default="min",
        help="what becomes of two items (default min)",
    )
    parser.add_argument("--root", metavar="U", default="0", help="who learns it (default 0)")
    parser.add_argument(
        "--algorithm", metavar="NAME", help="the broadcast that is turned round; see broadcast"
    )
    add_items(parser)
    add_machine(parser, ports="one")
    add_checkpoint(parser)
    add_common(parser)
