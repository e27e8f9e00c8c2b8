"""``mpinet run``: a program of one's own on every processor."""

from __future__ import annotations

import argparse

from mpinet.cli.options import add_common, add_machine, refuse_checkpoint
from mpinet.commands.run import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """The program, the network, what the program gets."""
    parser.add_argument(
        "program",
        metavar="FILE.py:PROGRAM",
        help="a generator function of a node, such as mpinet.examples.flood:flood",
    )
    parser.add_argument(
        "--on",
        dest="topology",
        metavar="TOPO",
        required=True,
        help="a network, such as torus:8x8x8 (see: mpinet topologies)",
    )
    parser.add_argument(
        "--arg",
        dest="arguments",
        action="append",
        default=[],
        metavar="[NAME=]VALUE",
        help="what the program gets after its node; may be given several times",
    )
    parser.add_argument(
        "--routing", metavar="NAME", help="brings routed messages to their targets; see route"
    )
    add_machine(parser, ports="all", reason="a program may send on several ports at once")
    add_common(parser)
    refuse_checkpoint(parser, "a program of one's own")
