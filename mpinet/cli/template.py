"""``mpinet template``: batch scripts and host lists to begin with."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mpinet.errors import UsageError
from mpinet.files import require_writable, write_text
from mpinet.launching.templates import TEMPLATES, template
from mpinet.report.output import Output


def add_options(parser: argparse.ArgumentParser) -> None:
    """Which one, and where to."""
    parser.add_argument("name", choices=TEMPLATES, metavar="NAME", help=", ".join(TEMPLATES))
    parser.add_argument(
        "-o", dest="output", type=Path, metavar="FILE", help="write a new FILE instead of printing"
    )


def act(options: argparse.Namespace) -> int:
    """Print it or write it; a file that is there already may hold somebody's work."""
    text = template(options.name)
    if options.output is None:
        Output(sys.stdout, "the standard output").write(text)
        return 0
    require_writable(options.output)
    if options.output.exists():
        raise UsageError(f"{options.output} is there already: name a new file, or move it away.")
    write_text(options.output, text)
    return 0
