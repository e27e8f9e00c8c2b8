"""``mpinet compare``: networks side by side."""

from __future__ import annotations

import argparse
from pathlib import Path

from mpinet.cli.options import add_common
from mpinet.commands.compare import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """The networks, what is compared, and how it is printed."""
    parser.add_argument("topologies", nargs="+", metavar="TOPO", help="a network; several of them")
    parser.add_argument(
        "--only",
        metavar="COLUMN,..",
        help="what to compare, such as diameter,bisection (default: all but saturation "
        "and optimum)",
    )
    parser.add_argument(
        "--effort",
        type=float,
        default=0.1,
        metavar="SECONDS",
        help="search for an exact bisection, counted in work, and for the fewest steps of a "
        "broadcast, on the clock (default 0.1)",
    )
    parser.add_argument(
        "--format",
        choices=("table", "csv", "latex"),
        default="table",
        help="how it is printed (default table)",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write that to FILE, too")
    add_common(parser)
