"""``mpinet certify``: check a certificate; no solver is needed, and none is loaded."""

from __future__ import annotations

import argparse
from pathlib import Path

from mpinet.certify.work import EFFORT
from mpinet.cli.options import add_common, seconds
from mpinet.commands.certify import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """The certificate, and the network where it is not one of mpinet's."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a certificate (mpinet optimum)")
    parser.add_argument(
        "--on",
        metavar="TOPO",
        help="the network that it has to be about; needed for a class of one's own, whose code is "
        "run then (default: the one that it names)",
    )
    parser.add_argument(
        "--effort",
        type=seconds,
        metavar="SECONDS",
        default=EFFORT,
        help="work that the check may be, as estimated beforehand: the same on every computer, and "
        f"about so many seconds (default {EFFORT:.0f})",
    )
    add_common(parser)
