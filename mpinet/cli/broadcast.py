"""``mpinet broadcast``: broadcast from one processor."""

from __future__ import annotations

import argparse

from mpinet.cli.options import add_checkpoint, add_common, add_items, add_machine, add_topology
from mpinet.commands.broadcast import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network, the root, the algorithm."""
    add_topology(parser)
    parser.add_argument("--root", metavar="U", default="0", help="where it starts (default 0)")
    parser.add_argument(
        "--algorithm",
        metavar="NAME",
        help="a schedule of the network, 'passes' (a search), 'tree' (links), 'flooding' "
        "(busses), or 'best' (the shortest of all)",
    )
    parser.add_argument("--schedule", action="store_true", help="give the schedule's sha256, too")
    parser.add_argument("--schedule-out", metavar="FILE", help="write what --schedule hashes")
    add_items(parser)
    add_machine(parser, ports="one")
    add_checkpoint(parser)
    add_common(parser)
