"""``mpinet measure``: one measure of a network, by its name in `mpinet.measure`."""

from __future__ import annotations

import argparse

from mpinet.cli.options import add_common, add_topology
from mpinet.commands.measure import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network, the measure, its arguments."""
    add_topology(parser)
    parser.add_argument(
        "what",
        metavar="WHAT",
        help="diameter, bisection, connectivity, orbits, ..: a function of mpinet.measure",
    )
    parser.add_argument(
        "arguments",
        nargs="*",
        default=(),
        metavar="NAME=VALUE",
        help="its other arguments: node=3, dead=1,2, cut=0-1,2-3",
    )
    add_common(parser)
