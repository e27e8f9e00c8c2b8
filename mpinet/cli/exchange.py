"""``mpinet exchange``: total exchange by routing."""

from __future__ import annotations

import argparse

from mpinet.cli.options import add_common, add_machine, add_topology
from mpinet.commands.exchange import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network, the routing."""
    add_topology(parser)
    parser.add_argument("--routing", metavar="NAME", help="a routing of the network")
    add_machine(parser, ports="one")
    add_common(parser)
