"""``mpinet draw``: a picture of a network."""

from __future__ import annotations

import argparse
from pathlib import Path

from mpinet.cli.options import add_common, add_topology
from mpinet.commands.draw import prepare as prepared
from mpinet.commands.job import Job
from mpinet.errors import UsageError
from mpinet.numerals import quoted


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network, the file, and what is shown on the network."""
    add_topology(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="the picture: .svg, .pdf, .png, or .html (a page to move about in)",
    )
    parser.add_argument(
        "--path",
        nargs=2,
        metavar=("SRC", "DST"),
        action="append",
        default=None,
        help="show a route; may be given several times",
    )
    parser.add_argument("--routes", metavar="PATTERN", help="show the routes of a pattern's pairs")
    parser.add_argument(
        "--loads",
        metavar="PATTERN",
        help="colour links by the messages over them when every pair of the pattern (all, "
        "transpose, ..) sends one; metered by the machine",
    )
    parser.add_argument("--routing", metavar="NAME", help="a routing of the network")
    parser.add_argument(
        "--label",
        choices=("none", "number", "address"),
        default="none",
        help="what stands at the nodes (default none)",
    )
    parser.add_argument(
        "--size",
        type=number_of_inches,
        default=6.0,
        metavar="INCHES",
        help="the picture's width (default 6)",
    )
    add_common(parser)


def number_of_inches(text: str) -> float:
    """Read a width."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a width is a number, not {quoted(text)}") from None


def prepare(options: argparse.Namespace) -> Job:
    """Ask for a file: in a terminal there is no other place for a picture."""
    if options.output is None:
        raise UsageError("draw: say where the picture goes: -o FILE.svg (or .pdf, .png, .html).")
    return prepared(options)
