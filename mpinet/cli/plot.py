"""``mpinet plot``: curves of results, as papers print them."""

from __future__ import annotations

import argparse
from pathlib import Path

from mpinet.cli.options import add_common
from mpinet.commands.job import Job
from mpinet.commands.plot import prepare as prepared
from mpinet.errors import UsageError


def add_options(parser: argparse.ArgumentParser) -> None:
    """The results, the columns, the picture; a sweep's plan may say all but the first."""
    parser.add_argument(
        "results", metavar="FOLDER|FILE", nargs="+", help="folders of sweeps, .csv or .json files"
    )
    parser.add_argument("--x", metavar="COLUMN", help="along the axis, as in rate")
    parser.add_argument("--y", metavar="COLUMN", help="up, as in latency.mean")
    parser.add_argument(
        "--by",
        "--colour",
        metavar="COLUMN,..",
        help="a curve for each of their values (default: the options in which rows differ that "
        "would be one point, but for the seed)",
    )
    parser.add_argument(
        "--panels", "--facet", metavar="COLUMN", help="a panel for each of its values"
    )
    parser.add_argument("--error", metavar="COLUMN", help="average over it, as over seed")
    parser.add_argument(
        "--bars",
        choices=("confidence", "deviation", "range"),
        help="what bars show: the mean's 95 %% interval by Student's t (default), the standard "
        "deviation, or least and largest",
    )
    parser.add_argument(
        "--where",
        action="append",
        metavar="COLUMN=VALUE",
        help="only rows at which this holds; may be given several times",
    )
    parser.add_argument("--log", metavar="x,y", help="axes that are logarithmic")
    parser.add_argument("--x-label", metavar="TEXT", help="at the axis (default: the column)")
    parser.add_argument("--y-label", metavar="TEXT", help="at the axis (default: the column)")
    parser.add_argument("--width", metavar="INCHES", type=float, help="of the picture (default 5)")
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="the picture: .pdf, .svg or .png"
    )
    add_common(parser)


def prepare(options: argparse.Namespace) -> Job:
    """Ask for a file: in a terminal there is no other place for a picture."""
    job = prepared(options)
    if options.output is None and options.out is None and not options.json:
        raise UsageError("plot: say where the picture goes: -o FILE.pdf (or .svg, .png).")
    return job
