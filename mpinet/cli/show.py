"""``mpinet show``: what a network is."""

from __future__ import annotations

import argparse
from pathlib import Path

from mpinet.cli.options import add_checkpoint, add_common, add_mapping, add_memory, add_topology
from mpinet.commands.show import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network, and what to measure."""
    add_topology(parser)
    parser.add_argument(
        "--distances",
        action="store_true",
        help="measure distances by floods from all nodes: each rank makes its share of them on a "
        "machine of its own, and their steps count nowhere",
    )
    parser.add_argument(
        "--edges",
        type=Path,
        metavar="FILE",
        help="write the links to FILE: .graphml, .dot, .anynet (BookSim), .csv, or lines 'u v' "
        "(.txt, .edges)",
    )
    add_mapping(parser)
    add_memory(parser)
    add_checkpoint(parser)
    add_common(parser)
