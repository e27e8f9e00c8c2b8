"""``mpinet ascend`` and ``mpinet descend``: programs over all dimensions."""

from __future__ import annotations

import argparse

from mpinet.cli.options import add_checkpoint, add_common, add_machine, add_topology
from mpinet.commands.ascend import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network, the operator, the algorithm."""
    from mpinet.programs.operators import listed
    from mpinet.programs.schedules import SCHEDULES

    add_topology(parser)
    parser.add_argument(
        "--operator",
        metavar="NAME",
        required=True,
        help=f"what is computed: {', '.join(listed())}; or your own, as path/file.py:Class or "
        "module:Class",
    )
    parser.add_argument(
        "--algorithm",
        metavar="NAME",
        help="how pairs are brought together: the network's own way (default; its name is in the "
        f"result), or one of {', '.join(SCHEDULES)}",
    )
    add_machine(parser, ports="all")
    add_checkpoint(parser)
    add_common(parser)
