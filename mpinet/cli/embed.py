"""``mpinet embed``: a guest network in a host, and a guest's program emulated on it."""

from __future__ import annotations

import argparse

from mpinet.cli.options import add_checkpoint, add_common, add_machine
from mpinet.commands.embed import IDENTITY
from mpinet.commands.embed import prepare as prepare
from mpinet.numerals import is_whole, quoted


def add_options(parser: argparse.ArgumentParser) -> None:
    """The two networks, the program, the routing."""
    parser.add_argument("guest", metavar="GUEST", help="the network that is embedded")
    parser.add_argument(
        "topology", metavar="HOST", help="the network that it runs on, as in torus:8x8"
    )
    parser.add_argument(
        "--images",
        type=images,
        metavar="U,V,..",
        help="the host processors of guest nodes 0, 1, .., or identity: node x at processor x "
        "(default: identity, but a ring along the host's Hamiltonian cycle where one is known)",
    )
    parser.add_argument(
        "--program",
        choices=("step", "ascend", "descend"),
        default="step",
        help="what is emulated: one step with a message over every guest link, both ways "
        "(default), or ASCEND or DESCEND",
    )
    parser.add_argument(
        "--operator", metavar="NAME", help="what ascend or descend computes (see: mpinet ascend)"
    )
    parser.add_argument("--routing", metavar="NAME", help="a routing of the host")
    add_machine(parser, ports="all")
    add_checkpoint(parser)
    add_common(parser)


def images(text: str) -> list[int] | str:
    """Read numbers joined by commas, or a word."""
    if text == IDENTITY:
        return text
    words = text.split(",")
    if not all(map(is_whole, words)):
        raise argparse.ArgumentTypeError(f"host processors are numbers U,V,.., not {quoted(text)}")
    return [int(word) for word in words]
