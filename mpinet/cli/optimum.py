"""``mpinet optimum``: the fewest steps, or links between halves, with a certificate."""

from __future__ import annotations

import argparse
from pathlib import Path

from mpinet.cli.options import add_common, add_topology, number
from mpinet.commands.optimum import COLLECTIVES
from mpinet.commands.optimum import prepare as prepare
from mpinet.commands.widthoptimum import WAYS


def add_options(parser: argparse.ArgumentParser) -> None:
    """The collective, the network, the root, how long, and where the findings go."""
    parser.add_argument(
        "collective",
        nargs="?",
        choices=COLLECTIVES,
        default="broadcast",
        help="whose optimum (default broadcast); bisection: the fewest links between two halves",
    )
    add_topology(parser)
    parser.add_argument(
        "--items", type=number, metavar="M", default=1, help="in a pipeline (default 1)"
    )
    parser.add_argument("--root", metavar="U", default="0", help="where it starts (default 0)")
    parser.add_argument(
        "--ports", choices=("one", "all"), default="one", help="ports a step (default one)"
    )
    parser.add_argument(
        "--limit", type=float, default=60.0, metavar="S", help="seconds to search (default 60)"
    )
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the certificate")
    parser.add_argument(
        "--by",
        choices=WAYS,
        help="the kind of certificate of a bisection width (default: what is found first)",
    )
    parser.add_argument("--schedule", type=Path, metavar="FILE", help="write the schedule (.csv)")
    add_common(parser)
