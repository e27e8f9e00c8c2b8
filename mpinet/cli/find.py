"""``mpinet find``: the best networks for a number of processors and a degree."""

from __future__ import annotations

import argparse

from mpinet.cli.options import add_common, number
from mpinet.commands.find import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """What the networks have to have, and what is minimised."""
    parser.add_argument("--processors", required=True, metavar="A..B", help="how many")
    parser.add_argument("--degree", metavar="..K", help="the largest degree")
    parser.add_argument(
        "--minimise",
        default="diameter,average",
        metavar="WHAT,..",
        help="diameter, average, degree, links, cost (degree * diameter), processors; the most "
        "important one first (default diameter,average)",
    )
    parser.add_argument("--families", metavar="NAME,..", help="families to search (default: all)")
    parser.add_argument(
        "--best", type=number, default=10, metavar="K", help="how many to tell (default 10)"
    )
    add_common(parser)
