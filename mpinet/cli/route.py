"""``mpinet route``: route a traffic pattern."""

from __future__ import annotations

import argparse

from mpinet.cli.options import add_checkpoint, add_common, add_machine, add_topology
from mpinet.commands.route import MAX_METERED
from mpinet.commands.route import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network, the traffic, and how it is routed."""
    from mpinet.programs.traffic import PATTERNS

    add_topology(parser)
    parser.add_argument(
        "--pairs", metavar="PAIRS", default="permutation", help=f"{PATTERNS} (default permutation)"
    )
    parser.add_argument("--routing", metavar="NAME", help="a routing of the network")
    parser.add_argument(
        "--mode",
        choices=("ideal", "queued"),
        default="queued",
        help="queued: the port model holds; ideal: every message hops in every step",
    )
    parser.add_argument(
        "--policy",
        choices=("oldest", "fifo"),
        default="oldest",
        help="which waiting message a channel takes (default oldest)",
    )
    parser.add_argument(
        "--faults", metavar="FAULTS", help="a file, or node:U,link:U-V,..: what is dead"
    )
    parser.add_argument("--paths", action="store_true", help="give the sha256 of all paths, too")
    parser.add_argument("--paths-out", metavar="FILE", help="write what --paths hashes")
    parser.add_argument(
        "--loads",
        action=argparse.BooleanOptionalAction,
        default=None,
        help=f"meter channel loads (default: up to {MAX_METERED} ports)",
    )
    add_machine(parser, ports="all")
    add_checkpoint(parser)
    add_common(parser)
