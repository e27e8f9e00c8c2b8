"""``mpinet scatter`` and ``mpinet gather``: from one processor to all, and from all to one."""

from __future__ import annotations

import argparse

from mpinet.cli.options import add_checkpoint, add_common, add_machine, add_topology
from mpinet.commands.scatter import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network, the root, the algorithm."""
    add_topology(parser)
    parser.add_argument("--root", metavar="U", default="0", help="the one processor (default 0)")
    parser.add_argument(
        "--algorithm",
        metavar="NAME",
        help="tree (links), routed, flow (links: the fewest steps); default: the first",
    )
    add_machine(parser, ports="one")
    add_checkpoint(parser)
    add_common(parser)
