"""``mpinet ascend`` and ``mpinet descend``: programs over all dimensions."""

from __future__ import annotations

import argparse

from mpinet.cli.options import add_common, add_machine, add_topology


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network, the operator, the algorithm."""
    from mpinet.programs.operators import OPERATORS

    add_topology(parser)
    parser.add_argument(
        "--operator",
        metavar="NAME",
        required=True,
        help=f"what is computed: {', '.join(OPERATORS)}",
    )
    parser.add_argument("--algorithm", metavar="NAME", help="how dimensions are carried out")
    add_machine(parser, ports="all")
    add_common(parser)
